"""Files of answers: our JSON Lines, and MedAESQA's main and cluster files.

Ours has one object a line, told by ``kind`` (a JSON list of the same objects will do), in any order::

    {"kind": "question", "question_id": "q1", "question": "...", "nuggets": ["..."], "reference": "..."}
    {"kind": "document", "document_id": "123", "title": "...", "text": "..."}       or "sentences": ["..."]
    {"kind": "answer", "question_id": "q1", "system": "M1", "answer": "...", "accurate": true,
     "sentences": [{"id": "1", "text": "... [123].", "citations": ["123"], "relevance": "required",
                    "assessments": [{"document": "123", "relation": "supporting", "excerpt": "..."}]}]}
    {"kind": "clusters", "question_id": "q1", "setting": "required", "name": "ST", "clusters": {"0": ["M1-1"]}}

An answer needs ``question_id``, ``system`` and ``answer`` (or ``sentences``); all else may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evidencebench_core.answers.model import Answer, AnswerSet, Clusters, Document, Question
from evidencebench_core.data.files import file_content, json_lines, json_value
from evidencebench_core.errors import DataError, shown

SAMPLE: Final = Path(__file__).with_name("sample_answers.jsonl")
"""Six invented questions, answered by three systems, with documents and labels."""
MOST_BYTES: Final = 128 << 20
_REMEDY: Final = "The format is in the documentation of evidencebench_core.answers.read."
_KINDS: Final = {"question": Question, "document": Document, "answer": Answer, "clusters": Clusters}
_CLUSTERED: Final = "_answer_sentences_cluster"
_EMBEDDINGS: Final = {"sentence_transformers": "ST", "sim_cse": "SimCSE"}  # part of a file's name: short name
Line = tuple[str, Any]
"""Where an object stands, for messages, and the object."""


def read_answers(paths: Sequence[Path]) -> AnswerSet:
    """The answers of files that belong together, say MedAESQA's main file and its two cluster files.

    `DataError` names file, line, field and value of what is wrong.
    """
    return answer_set(line for path in paths for line in _lines(Path(path)))


def answer_set(lines: Iterable[Line]) -> AnswerSet:
    """The answers of lines in our shape; `DataError` if one is wrong, or two do not go together."""
    rows: dict[str, dict[Any, Any]] = {kind: {} for kind in _KINDS}
    for place, line in lines:
        if not isinstance(line, Mapping):
            raise DataError(place, f"is {shown(line)}, not an object", _REMEDY)
        kind = line.get("kind")
        if kind not in _KINDS:
            raise DataError(
                f"{place}, kind", f"is {shown(kind)}", f"Kinds are: {', '.join(_KINDS)}. {_REMEDY}"
            )
        row = _validated(place, _KINDS[kind], line)
        key = _key(row)
        if rows[kind].setdefault(key, row) != row:
            raise DataError(place, f"is a second {kind} {shown(key)}", "Keep one of them.")
        if kind in ("answer", "clusters"):
            rows["question"].setdefault(row.question_id, Question(question_id=row.question_id))
    answers = AnswerSet(
        questions=tuple(rows["question"].values()),
        answers=tuple(rows["answer"].values()),
        documents=tuple(rows["document"].values()),
        clusters=tuple(rows["clusters"].values()),
    )
    _check_clusters(answers)
    return answers


def _key(row: Any) -> Any:
    if isinstance(row, Answer):
        return row.question_id, row.system
    if isinstance(row, Clusters):
        return row.question_id, row.setting, row.name
    return row.document_id if isinstance(row, Document) else row.question_id


def _validated(place: str, kind: Any, line: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        problem = f"is {shown(first['input'])}: {first['msg'].removeprefix('Value error, ')}"
        raise DataError(f"{place}, {field}".rstrip(", "), problem, _REMEDY) from error


def _check_clusters(answers: AnswerSet) -> None:
    """Every clustered sentence is one of an answer, where there are answers."""
    known = {
        (answer.question_id, f"{answer.system}-{sentence.id}")
        for answer in answers.answers
        for sentence in answer.sentences
    }
    for clustering in answers.clusters:
        members = [member for cluster in clustering.clusters.values() for member in cluster]
        strangers = [member for member in members if (clustering.question_id, member) not in known]
        if answers.answers and strangers:
            problem = f"name {shown(strangers[0])}, which no answer to question {clustering.question_id} has"
            raise DataError("clusters", problem, "Give the answers that were clustered.")


def counts(answers: AnswerSet) -> dict[str, int]:
    """How much of everything there is, by name."""
    sentences = [sentence for answer in answers.answers for sentence in answer.sentences]
    cited = {document for sentence in sentences for document in sentence.citations}
    return {
        "questions": len(answers.questions),
        "systems": len(answers.systems),
        "answers": len(answers.answers),
        "sentences": len(sentences),
        "sentences with a label": sum(sentence.relevance is not None for sentence in sentences),
        "citations": sum(len(sentence.citations) for sentence in sentences),
        "assessments": sum(len(sentence.assessments) for sentence in sentences),
        "documents": len(answers.documents),
        "documents cited and not given": len(cited - set(answers.document)),
        "clusters": sum(len(clustering.clusters) for clustering in answers.clusters),
    }


# -- formats --------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[Line]:
    """The objects of a file in our shape, whatever shape it has."""
    if path.suffix == ".jsonl":
        for number, line in json_lines(path, file_content(path, MOST_BYTES, _REMEDY), _REMEDY):
            yield f"{path}, line {number}", line
        return
    value = json_value(path, _REMEDY)
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            place = f"{path}, item {number}"
            if isinstance(item, dict) and "machine_generated_answers" in item:
                yield from _medaesqa(place, item)
            else:
                yield place, item
    elif isinstance(value, dict) and all(_is_clustered(item) for item in value.values()):
        for key, item in value.items():
            yield from _clusters(path, key, item)
    else:
        raise DataError(str(path), f"holds {shown(value)}, not a list of answers", _REMEDY)


def _is_clustered(item: object) -> bool:
    return isinstance(item, dict) and bool(item) and all(str(key).endswith(_CLUSTERED) for key in item)


def _clusters(path: Path, question: str, item: Mapping[str, Any]) -> Iterator[Line]:
    name = next((short for part, short in _EMBEDDINGS.items() if part in path.name), "clusters")
    for setting, clusters in item.items():
        place = f"{path}, {question}, {setting}"
        try:
            ids = {
                number: [member["answer_sentence_id"] for member in members]
                for number, members in clusters.items()
            }
        except (AttributeError, KeyError, TypeError) as error:
            raise DataError(place, "holds no clusters of answer sentences", _REMEDY) from error
        line = {"kind": "clusters", "question_id": question, "setting": setting.removesuffix(_CLUSTERED)}
        yield place, {**line, "name": name, "clusters": ids}


def _medaesqa(place: str, item: Mapping[str, Any]) -> Iterator[Line]:
    question = item.get("question_id")
    reference = item.get("expert_curated_answer")
    yield place, {**item, "kind": "question", "reference": reference}
    systems = item["machine_generated_answers"]
    for system, raw in systems.items() if isinstance(systems, dict) else ():
        where = f"{place}, question {question}, {system}"
        verdict = str(raw.get("is_answer_accurate") or "").strip().lower()
        yield (
            where,
            {
                "kind": "answer",
                "question_id": question,
                "system": system,
                "answer": raw.get("answer"),
                "accurate": {"yes": True, "no": False, "": None}.get(verdict, verdict),
                "sentences": [_medaesqa_sentence(part) for part in raw.get("answer_sentences") or []],
            },
        )


def _medaesqa_sentence(raw: Mapping[str, Any]) -> dict[str, Any]:
    assessments = [
        {
            "document": given.get("cited_pmid"),
            "relation": given.get("evidence_relation"),
            "excerpt": given.get("evidence_support"),
        }
        for given in raw.get("citation_assessment") or []
    ]
    return {
        "id": raw.get("answer_sentence_id"),
        "text": raw.get("answer_sentence"),
        "relevance": raw.get("answer_sentence_relevance"),
        "citations": [given["document"] for given in assessments],
        "assessments": assessments,
    }
