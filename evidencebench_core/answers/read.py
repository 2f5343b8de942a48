"""Files of answers: our JSON Lines, MedAESQA's main and cluster files, and the files of BioACE's two tasks.

Ours has one object a line, told by ``kind`` (a JSON list of the same objects will do), in any order::

    {"kind": "question", "question_id": "q1", "question": "...", "nuggets": ["..."], "reference": "..."}
    {"kind": "document", "document_id": "123", "title": "...", "text": "..."}       or "sentences": ["..."]
    {"kind": "answer", "question_id": "q1", "system": "M1", "answer": "...", "accurate": true, "nuggets": ["..."],
     "sentences": [{"id": "1", "text": "... [123].", "citations": ["123"], "relevance": "required",
                    "assessments": [{"document": "123", "relation": "supporting", "excerpt": "..."}]}]}
    {"kind": "clusters", "question_id": "q1", "setting": "required", "name": "ST", "clusters": {"0": ["M1-1"]}}

An answer needs ``question_id``, ``system`` and ``answer`` (or ``sentences``); all else may be left out, and keys that
are not known are kept. The other files are told by their keys and turned into the same lines.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from evidencebench_core.answers.brackets import Bracket, citations_in, cited_sentences, document_id
from evidencebench_core.answers.model import (
    RELATIONS,
    RELEVANCES,
    SETTINGS,
    Answer,
    AnswerSentence,
    AnswerSet,
    Assessment,
    Clusters,
    Document,
    Question,
    Relation,
    Relevance,
    Setting,
)
from evidencebench_core.data.files import file_content
from evidencebench_core.data.strict_json import json_lines, json_value
from evidencebench_core.errors import DataError, shown

Line = dict[str, Any]
Placed = tuple[str, Line]  # where it stands, for messages, and what stands there

_T = TypeVar("_T")
SAMPLE: Final = Path(__file__).with_name("sample_answers.jsonl")
"""Six invented questions, answered by three systems, with documents and labels."""
_REMEDY: Final = "The format is in the documentation of evidencebench_core.answers.read."
_MOST_BYTES: Final = 512 << 20
_LONGEST_ID: Final = 200
_CLUSTERED: Final = "_answer_sentences_cluster"
_RELATION_FORMS: Final[Mapping[str, Relation]] = {one: one for one in RELATIONS} | {
    "support": "supporting", "supports": "supporting", "supported": "supporting",
    "contradict": "contradicting", "contradicts": "contradicting", "contradicted": "contradicting",
    "not_relevant": "not relevant", "not-relevant": "not relevant", "irrelevant": "not relevant",
    "invalid": "invalid citation",
}  # fmt: skip
_RELEVANCE_FORMS: Final[Mapping[str, Relevance]] = {one: one for one in RELEVANCES}
_SETTING_FORMS: Final[Mapping[str, Setting]] = {one: one for one in SETTINGS} | {
    short.lower(): one for one, short in SETTINGS.items()
}
_ACCURATE: Final = {"yes": True, "no": False}
_EMBEDDINGS: Final = {"sentence_transformers": "ST", "sim_cse": "SimCSE"}  # part of a file's name: short name


def read_answers(paths: Sequence[Path], system: str = "", bracket: Bracket = "before") -> list[Placed]:
    """The lines of files that belong together, checked, with their places; answers split into sentences.

    Parameters
    ----------
    paths : sequence of Path
        Say MedAESQA's main file and its two cluster files.
    system : str
        Whose answers they are, for files that do not say (default: the name of the file).
    bracket : str
        How brackets that stand between sentences are read, see `cited_sentences`.

    Raises
    ------
    DataError
        With file, line, field and value of what is wrong.
    """
    lines = [placed for path in paths for placed in _lines(path, system)]
    lines = [(place, _with_sentences(place, line, bracket)) for place, line in lines]
    answer_set(lines)
    return lines


def answer_set(lines: Iterable[Placed]) -> AnswerSet:
    """The values of lines; `DataError` if two do not go together."""
    questions, documents = dict[str, Question](), dict[str, Document]()
    answers, clusters = dict[tuple[str, str], Answer](), dict[tuple[str, ...], tuple[str, Clusters]]()
    for place, line in lines:
        kind = line.get("kind")
        if kind == "question":
            question = _question(place, line)
            questions[question.id] = _merged(place, questions.get(question.id), question)
        elif kind == "document":
            document = _document(place, line)
            documents[document.id] = _merged(place, documents.get(document.id), document)
        elif kind == "answer":
            answer = _answer(place, line)
            if (answer.question_id, answer.system) in answers:
                problem = (
                    f"is a second answer of {shown(answer.system)} to question {shown(answer.question_id)}"
                )
                raise DataError(place, problem, "Keep one of them.")
            answers[answer.question_id, answer.system] = answer
            questions.setdefault(answer.question_id, Question(answer.question_id))
        elif kind == "clusters":
            one = _clusters(place, line)
            key = (one.question_id, one.setting, one.name)
            if key in clusters:
                raise DataError(place, f"has clusters {shown(key)} a second time", "Keep one of them.")
            clusters[key] = (place, one)
            questions.setdefault(one.question_id, Question(one.question_id))
        else:
            kinds = "question, document, answer, clusters"
            raise DataError(f"{place}, kind", f"is {shown(kind)}", f"Kinds are: {kinds}. {_REMEDY}")
    if answers:
        _check_clustered(answers.values(), clusters.values())
    return AnswerSet(questions, answers, documents, tuple(one for _, one in clusters.values()))


def counts(answers: AnswerSet) -> dict[str, int]:
    """How much of everything there is, by name: what `answers ingest --check` prints."""
    sentences = [sentence for answer in answers.answers.values() for sentence in answer.sentences]
    relevance = Counter[str](sentence.relevance or "not judged" for sentence in sentences)
    assessments = [one for sentence in sentences for one in sentence.assessments]
    relation = Counter(one.relation for one in assessments)
    accurate = Counter(answer.accurate for answer in answers.answers.values())
    cited = {document for sentence in sentences for document in sentence.citations}
    both = sum(
        {"supporting", "contradicting"} <= set(sentence.relations(document))
        for sentence in sentences
        for document in sentence.citations
    )
    return {
        "questions": len(answers.questions),
        "questions with gold nuggets": sum(bool(one.nuggets) for one in answers.questions.values()),
        "systems": len(answers.systems),
        "answers": len(answers.answers),
        "answers judged accurate": accurate[True],
        "answers judged inaccurate": accurate[False],
        "sentences": len(sentences),
        **{f"sentences {label}": relevance[label] for label in (*RELEVANCES, "not judged")},
        "citations": sum(len(sentence.citations) for sentence in sentences),
        "citations both supporting and contradicting": both,
        "assessments": len(assessments),
        **{f"assessments {label}": relation[label] for label in RELATIONS},
        "documents": len(answers.documents),
        "documents cited and not given": len(cited - set(answers.documents)),
        "clusters": sum(len(one.clusters) for one in answers.clusters),
    }


# -- lines of a file ------------------------------------------------------------------------------


def _lines(path: Path, system: str) -> Iterator[Placed]:
    """The objects of a file in our shape, whatever shape it has."""
    content = file_content(path, _MOST_BYTES, _REMEDY)
    first = content.removeprefix(BOM_UTF8).lstrip().partition(b"\n")[0]
    is_object = first.startswith(b"{")
    if is_object and (path.suffix == ".jsonl" or b'"kind"' in first):
        for number, one in json_lines(path, content, _REMEDY):
            place = f"{path}, line {number}"
            _check_text(place, one)
            yield place, _of(place, one, dict, "an object")
        return
    value = json_value(path, _REMEDY, content=content)
    if isinstance(value, list):
        items = [(f"{path}, item {number}", one) for number, one in enumerate(value, start=1)]
    elif isinstance(value, dict):
        items = [(f"{path}, {shown(key)}", one) for key, one in value.items()]
    else:
        raise DataError(str(path), f"holds {shown(value)}, not a list or an object", _REMEDY)
    _check_text(str(path), value)
    if not items:
        raise DataError(str(path), "holds nothing", _REMEDY)
    keys: set[str] = set(items[0][1]) if isinstance(items[0][1], dict) else set()
    if isinstance(value, list):
        for place, item in items:
            yield from _of_list(keys, place, _of(place, item, dict, "an object"), system or path.stem)
        return
    if "kind" in value:
        yield str(path), value
        return
    name = next((short for part, short in _EMBEDDINGS.items() if part in path.stem), path.stem)
    for (place, item), key in zip(items, value, strict=True):
        yield from _of_object(keys, place, key, item, name)


def _check_text(place: str, value: object) -> None:
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise DataError(place, f"cannot be kept: {error}", "Correct or leave out that value.") from error


def _of_list(keys: set[str], place: str, item: Line, system: str) -> Iterator[Placed]:
    if "kind" in keys:
        yield place, item
    elif "machine_generated_answers" in keys:
        yield from _medaesqa(place, item)
    elif "responses" in keys and "metadata" in keys:
        yield from _task_b(place, item, system)
    elif "question" in keys and "answer" in keys:
        yield from _task_a(place, item, system)
    else:
        known = "kind; machine_generated_answers; metadata and responses; question and answer"
        raise DataError(place, f"has the keys {shown(sorted(item))}", f"Known are objects with: {known}.")


def _of_object(keys: set[str], place: str, key: str, item: object, name: str) -> Iterator[Placed]:
    if keys and all(one.endswith(_CLUSTERED) for one in keys):
        for setting, clusters in _of(place, item, dict, "an object").items():
            ids = {
                number: [
                    _get(f"{place}, {setting}[{shown(number)}]", one, "answer_sentence_id", str)
                    for one in _list(f"{place}, {setting}", members, dict)
                ]
                for number, members in _of(f"{place}, {setting}", clusters, dict, "an object").items()
            }
            line = {"kind": "clusters", "question_id": key, "setting": setting.removesuffix(_CLUSTERED)}
            yield place, {**line, "name": name, "clusters": ids}
    elif keys & {"abstract", "title"}:
        raw = _of(place, item, dict, "an object")
        texts = {"text": raw.get("abstract"), "sentences": raw.get("sentences")}
        yield place, {"kind": "document", "document_id": key, **raw, **texts}
    elif isinstance(item, list):
        yield place, {"kind": "question", "question_id": key, "nuggets": item}
    else:
        known = "clusters of answer sentences; documents with title and abstract; lists of gold nuggets"
        raise DataError(place, f"is {shown(item)}", f"Known are objects of: {known}.")


def _medaesqa(place: str, item: Line) -> Iterator[Placed]:
    question = _id(place, item, "question_id")
    extra = {name: value for name, value in item.items() if name != "machine_generated_answers"}
    reference = item.get("expert_curated_answer")
    yield place, {**extra, "kind": "question", "question_id": question, "reference": reference}
    systems = _get(place, item, "machine_generated_answers", dict)
    for system, raw in systems.items():
        where = f"{place}, question {question}, {system}"
        answer = _of(where, raw, dict, "an object")
        verdict = answer.get("is_answer_accurate")
        accurate = None if verdict is None else _choice(f"{where}, is_answer_accurate", verdict, _ACCURATE)
        sentences = [
            _medaesqa_sentence(f"{where}, sentence {number}", one)
            for number, one in enumerate(_list(where, answer.get("answer_sentences"), dict), start=1)
        ]
        line = {"kind": "answer", "question_id": question, "system": system, "accurate": accurate}
        yield where, {**line, "answer": answer.get("answer"), "sentences": sentences}


def _medaesqa_sentence(place: str, raw: Line) -> Line:
    assessments = [
        {
            "document": _id(place, one, "cited_pmid"),
            "relation": one.get("evidence_relation"),
            "excerpt": one.get("evidence_support"),
        }
        for one in _list(f"{place}, citation_assessment", raw.get("citation_assessment"), dict)
    ]
    return {
        "id": raw.get("answer_sentence_id"),
        "text": raw.get("answer_sentence"),
        "relevance": raw.get("answer_sentence_relevance"),
        "citations": list(dict.fromkeys(document_id(one["document"]) for one in assessments)),
        "assessments": assessments,
    }


def _task_b(place: str, item: Line, system: str) -> Iterator[Placed]:
    """BioACE's ``answer_eval`` input; the answer is the whole text, the responses are its sentences."""
    metadata = _get(place, item, "metadata", dict)
    question = _id(place, metadata, "topic_id")
    yield place, {"kind": "question", "question_id": question, "question": metadata.get("question")}
    sentences = [
        {"text": _get(place, one, "text", str)}
        | ({"citations": one["citations"]} if "citations" in one else {})
        for one in _list(f"{place}, responses", item.get("responses"), dict)
    ]
    text = metadata.get("answer") or " ".join(one["text"] for one in sentences)
    line = {"kind": "answer", "question_id": question, "system": metadata.get("run_name") or system}
    yield place, {**line, "answer": text, "sentences": sentences}


def _task_a(place: str, item: Line, system: str) -> Iterator[Placed]:
    """BioACE's ``citation_eval`` input: what a system cites for and against, and labels of it where there are some."""
    text = _get(place, item, "question", str)
    question = next(
        (str(item[key]) for key in ("question_id", "topic_id", "id") if key in item), text.strip()
    )
    yield place, {"kind": "question", "question_id": question[:_LONGEST_ID], "question": text}
    sentences, nuggets = list[Line](), list[str]()
    for one in _list(f"{place}, answer", item.get("answer"), dict):
        cited = [
            str(document)
            for key in ("supported_citations", "contradicted_citations")
            for document in _list(f"{place}, {key}", one.get(key), (str, int))
        ]
        labels = {
            document: label
            for key, found in one.items()
            if key == "labels" or key.endswith("_labels")
            for document, label in _of(f"{place}, {key}", found, dict, "an object").items()
        }
        assessments = [{"document": document, "relation": label} for document, label in labels.items()]
        citations = [*cited, *labels] if cited or labels else []
        nuggets += _list(f"{place}, nuggets_declarative", one.get("nuggets_declarative"), str)
        sentences.append(
            {"text": _get(place, one, "text", str), "citations": citations, "assessments": assessments}
        )
    line: Line = {
        "kind": "answer",
        "question_id": question[:_LONGEST_ID],
        "system": item.get("system") or system,
    }
    line |= {"nuggets": nuggets} if nuggets else {}
    yield place, {**line, "answer": " ".join(one["text"] for one in sentences), "sentences": sentences}


# -- values of a line -----------------------------------------------------------------------------


def _question(place: str, line: Line) -> Question:
    nuggets = line.get("nuggets")
    return Question(
        _id(place, line, "question_id"),
        _text(place, line, "question"),
        None if nuggets is None else tuple(_list(f"{place}, nuggets", nuggets, str)),
        _text(place, line, "reference"),
    )


def _document(place: str, line: Line) -> Document:
    sentences = tuple(_list(f"{place}, sentences", line.get("sentences"), str))
    key = document_id(_id(place, line, "document_id"))
    return Document(key, _text(place, line, "title"), _text(place, line, "text"), sentences)


def _with_sentences(place: str, line: Line, bracket: Bracket) -> Line:
    """The line of an answer with its sentences, split here where the file has none: a later split may be another."""
    if line.get("kind") != "answer" or line.get("sentences") is not None:
        return line
    text = _get(place, line, "answer", str)
    split = [
        {"id": str(number), "text": one.text, "citations": list(one.citations)}
        for number, one in enumerate(cited_sentences(text, bracket), start=1)
    ]
    return {**line, "sentences": split}


def _answer(place: str, line: Line) -> Answer:
    sentences = [
        _sentence(f"{place}, sentences[{number - 1}]", one, str(number))
        for number, one in enumerate(_list(f"{place}, sentences", line.get("sentences"), dict), start=1)
    ]
    _check_once(f"{place}, sentences", [one.id for one in sentences], "sentence id")
    accurate, nuggets = line.get("accurate"), line.get("nuggets")
    if accurate is not None and not isinstance(accurate, bool):
        raise DataError(f"{place}, accurate", f"is {shown(accurate)}", "Give true, false or null.")
    return Answer(
        _id(place, line, "question_id"),
        _id(place, line, "system"),
        _text(place, line, "answer"),
        tuple(sentences),
        accurate,
        None if nuggets is None else tuple(_list(f"{place}, nuggets", nuggets, str)),
    )


def _sentence(place: str, raw: Line, number: str) -> AnswerSentence:
    text = _get(place, raw, "text", str)
    assessments = tuple(
        _assessment(f"{place}.assessments[{at}]", one)
        for at, one in enumerate(_list(f"{place}.assessments", raw.get("assessments"), dict))
    )
    assessed = [one.document for one in assessments]
    if raw.get("citations") is None:
        citations = [*citations_in(text), *assessed]
    else:
        listed = _list(f"{place}.citations", raw["citations"], (str, int))
        citations = [document_id(str(one)) for one in listed]
        if strangers := set(assessed) - set(citations):
            problem = f"are of {shown(min(strangers))}, which the sentence does not cite"
            raise DataError(f"{place}.assessments", problem, "Name it in citations too.")
    relevance = raw.get("relevance")
    return AnswerSentence(
        _id(place, raw, "id") if raw.get("id") is not None else number,
        text,
        tuple(dict.fromkeys(citations)),
        None if relevance is None else _choice(f"{place}.relevance", relevance, _RELEVANCE_FORMS),
        assessments,
    )


def _assessment(place: str, raw: Line) -> Assessment:
    relation = _choice(f"{place}.relation", raw.get("relation"), _RELATION_FORMS)
    return Assessment(document_id(_id(place, raw, "document")), relation, _text(place, raw, "excerpt"))


def _clusters(place: str, line: Line) -> Clusters:
    found = _get(place, line, "clusters", dict)
    members = {
        number: _list(f"{place}, clusters[{shown(number)}]", ids, str) for number, ids in found.items()
    }
    for number, ids in members.items():
        if not ids:
            raise DataError(f"{place}, clusters[{shown(number)}]", "is empty", "Leave it out.")
    _check_once(f"{place}, clusters", [one for ids in members.values() for one in ids], "answer sentence")
    setting = _choice(f"{place}, setting", line.get("setting"), _SETTING_FORMS)
    name = _text(place, line, "name") or "clusters"
    return Clusters(_id(place, line, "question_id"), setting, name, tuple(map(frozenset, members.values())))


def _check_clustered(answers: Iterable[Answer], clusters: Iterable[tuple[str, Clusters]]) -> None:
    known: dict[str, set[str]] = {}
    for answer in answers:
        ids = {f"{answer.system}-{sentence.id}" for sentence in answer.sentences}
        known.setdefault(answer.question_id, set()).update(ids)
    for place, one in clusters:
        for cluster in one.clusters:
            if strangers := cluster - known.get(one.question_id, set()):
                problem = f"name {shown(min(strangers))}, which no answer to question {one.question_id} has"
                raise DataError(f"{place}, clusters", problem, "Give the answers that were clustered.")


def _merged(place: str, before: _T | None, new: _T) -> _T:
    """Two lines about one thing, where each says what the other does not."""
    if before is None:
        return new
    changes = {}
    for name in new.__slots__:  # type: ignore[attr-defined]
        old, value = getattr(before, name), getattr(new, name)
        if value in ("", None, ()):
            continue
        if old not in ("", None, (), value):
            raise DataError(
                f"{place}, {name}", f"is {shown(value)}, and before {shown(old)}", "Keep one of them."
            )
        changes[name] = value
    return replace(before, **changes)  # type: ignore[type-var]


# -- fields ---------------------------------------------------------------------------------------

_NAMES: Final[Mapping[Any, str]] = {str: "text", dict: "an object", list: "a list"}


def _of(place: str, value: object, kind: type[_T] | tuple[type, ...], name: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        problem = "is missing" if value is None else f"is {shown(value)}, not {name}"
        raise DataError(place, problem, _REMEDY)
    return value  # type: ignore[return-value]


def _get(place: str, raw: Line, key: str, kind: type[_T]) -> _T:
    return _of(f"{place}, {key}", raw.get(key), kind, _NAMES[kind])


def _text(place: str, raw: Line, key: str) -> str:
    return "" if raw.get(key) is None else _get(place, raw, key, str)


def _list(place: str, value: object, kind: Any) -> list[Any]:
    """A list of things of one kind; empty for null."""
    if value is None:
        return []
    name = _NAMES.get(kind, "a text or a number")
    return [
        _of(f"{place}[{at}]", one, kind, name) for at, one in enumerate(_of(place, value, list, "a list"))
    ]


def _id(place: str, raw: Line, key: str) -> str:
    value = str(_of(f"{place}, {key}", raw.get(key), (str, int), "a text")).strip()
    if not 0 < len(value) <= _LONGEST_ID:
        raise DataError(f"{place}, {key}", f"is {shown(value)}", f"Give 1 to {_LONGEST_ID} characters.")
    return value


def _choice(place: str, value: object, forms: Mapping[str, _T]) -> _T:
    """What a text stands for, upper and lower case and white space being alike."""
    found = forms.get(" ".join(value.lower().split())) if isinstance(value, str) else None
    if found is None:
        names = dict.fromkeys(one if isinstance(one, str) else form for form, one in forms.items())
        raise DataError(place, f"is {shown(value)}", f"Choices are: {', '.join(names)}.")
    return found


def _check_once(place: str, ids: Sequence[str], noun: str) -> None:
    if len(set(ids)) < len(ids):
        repeated = Counter(ids).most_common(1)[0][0]
        raise DataError(place, f"have the {noun} {shown(repeated)} twice", "Give each once.")
