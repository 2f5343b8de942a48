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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from evidencebench_core.answers.brackets import Bracket, citations_in, cited_sentences, document_id
from evidencebench_core.answers.fields import (
    REMEDY,
    Line,
    Placed,
    check_once,
    choice,
    field,
    id_field,
    list_of,
    text_field,
)
from evidencebench_core.answers.files import lines_of
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
from evidencebench_core.errors import DataError, shown

_T = TypeVar("_T")
SAMPLE: Final = Path(__file__).with_name("sample_answers.jsonl")
"""Six invented questions, answered by three systems, with documents and labels."""
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
    lines = [placed for path in paths for placed in lines_of(path, system)]
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
            questions[question.id] = _union(place, questions.get(question.id), question)
        elif kind == "document":
            document = _document(place, line)
            documents[document.id] = _union(place, documents.get(document.id), document)
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
            raise DataError(f"{place}, kind", f"is {shown(kind)}", f"Kinds are: {kinds}. {REMEDY}")
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


def _question(place: str, line: Line) -> Question:
    nuggets = line.get("nuggets")
    return Question(
        id_field(place, line, "question_id"),
        text_field(place, line, "question"),
        None if nuggets is None else tuple(list_of(f"{place}, nuggets", nuggets, str)),
        text_field(place, line, "reference"),
    )


def _document(place: str, line: Line) -> Document:
    sentences = tuple(list_of(f"{place}, sentences", line.get("sentences"), str))
    key = document_id(id_field(place, line, "document_id"))
    return Document(key, text_field(place, line, "title"), text_field(place, line, "text"), sentences)


def _with_sentences(place: str, line: Line, bracket: Bracket) -> Line:
    """The line of an answer with its sentences, split here where the file has none: a later split may be another."""
    if line.get("kind") != "answer" or line.get("sentences") is not None:
        return line
    text = field(place, line, "answer", str)
    split = [
        {"id": str(number), "text": one.text, "citations": list(one.citations)}
        for number, one in enumerate(cited_sentences(text, bracket), start=1)
    ]
    return {**line, "sentences": split}


def _answer(place: str, line: Line) -> Answer:
    sentences = [
        _sentence(f"{place}, sentences[{number - 1}]", one, str(number))
        for number, one in enumerate(list_of(f"{place}, sentences", line.get("sentences"), dict), start=1)
    ]
    check_once(f"{place}, sentences", [one.id for one in sentences], "sentence id")
    accurate, nuggets = line.get("accurate"), line.get("nuggets")
    if accurate is not None and not isinstance(accurate, bool):
        raise DataError(f"{place}, accurate", f"is {shown(accurate)}", "Give true, false or null.")
    return Answer(
        id_field(place, line, "question_id"),
        id_field(place, line, "system"),
        text_field(place, line, "answer"),
        tuple(sentences),
        accurate,
        None if nuggets is None else tuple(list_of(f"{place}, nuggets", nuggets, str)),
    )


def _sentence(place: str, raw: Line, number: str) -> AnswerSentence:
    text = field(place, raw, "text", str)
    assessments = tuple(
        _assessment(f"{place}.assessments[{at}]", one)
        for at, one in enumerate(list_of(f"{place}.assessments", raw.get("assessments"), dict))
    )
    assessed = [one.document for one in assessments]
    if raw.get("citations") is None:
        citations = [*citations_in(text), *assessed]
    else:
        listed = list_of(f"{place}.citations", raw["citations"], (str, int))
        citations = [document_id(str(one)) for one in listed]
        if strangers := set(assessed) - set(citations):
            problem = f"are of {shown(min(strangers))}, which the sentence does not cite"
            raise DataError(f"{place}.assessments", problem, "Name it in citations too.")
    relevance = raw.get("relevance")
    return AnswerSentence(
        id_field(place, raw, "id") if raw.get("id") is not None else number,
        text,
        tuple(dict.fromkeys(citations)),
        None if relevance is None else choice(f"{place}.relevance", relevance, _RELEVANCE_FORMS),
        assessments,
    )


def _assessment(place: str, raw: Line) -> Assessment:
    relation = choice(f"{place}.relation", raw.get("relation"), _RELATION_FORMS)
    return Assessment(
        document_id(id_field(place, raw, "document")), relation, text_field(place, raw, "excerpt")
    )


def _clusters(place: str, line: Line) -> Clusters:
    found = field(place, line, "clusters", dict)
    members = {
        number: list_of(f"{place}, clusters[{shown(number)}]", ids, str) for number, ids in found.items()
    }
    for number, ids in members.items():
        if not ids:
            raise DataError(f"{place}, clusters[{shown(number)}]", "is empty", "Leave it out.")
    check_once(f"{place}, clusters", [one for ids in members.values() for one in ids], "answer sentence")
    setting = choice(f"{place}, setting", line.get("setting"), _SETTING_FORMS)
    name = text_field(place, line, "name") or "clusters"
    return Clusters(
        id_field(place, line, "question_id"), setting, name, tuple(map(frozenset, members.values()))
    )


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


def _union(place: str, before: _T | None, new: _T) -> _T:
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
