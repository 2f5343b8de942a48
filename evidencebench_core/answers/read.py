"""Files of answers: our JSON Lines, MedAESQA's main and cluster files, and those of TREC BioGen.

Ours has one object a line, told by ``kind`` (a JSON list of the same objects will do), in any order::

    {"kind": "question", "question_id": "q1", "question": "...", "nuggets": ["..."], "reference": "..."}
    {"kind": "document", "document_id": "123", "title": "...", "text": "..."}       or "sentences": ["..."]
    {"kind": "answer", "question_id": "q1", "system": "M1", "answer": "...", "accurate": true,
     "sentences": [{"id": "1", "text": "... [123].", "citations": ["123"], "relevance": "required",
                    "assessments": [{"document": "123", "relation": "supports", "excerpt": "..."}]}]}
    {"kind": "clusters", "question_id": "q1", "setting": "required", "name": "ST", "clusters": {"0": ["M1-1"]}}

An answer needs ``question_id``, ``system`` and ``answer`` (or ``sentences``); all else may be left out. BioGen's are
runs of task A (``answer``: sentences with ``supported_citations``) and B (``responses``), a run a system; gold nuggets,
``{"topic": ["nugget"]}``; and abstracts, ``{"123": {"title": "...", "abstract": "..."}}``.
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
MOST_BYTES: Final = 128 << 20  # of an upload
_REMEDY: Final = "The formats are in docs/answers.md."
_KINDS: Final = {"question": Question, "document": Document, "answer": Answer, "clusters": Clusters}
_CLUSTERED: Final = "_answer_sentences_cluster"
_EMBEDDINGS: Final = {"sentence_transformers": "ST", "sim_cse": "SimCSE"}  # part of a file's name: short name
_MEDAESQA: Final = {
    "expert_curated_answer": "reference", "is_answer_accurate": "accurate", "answer_sentences": "sentences",
    "answer_sentence_id": "id", "answer_sentence": "text", "answer_sentence_relevance": "relevance",
    "citation_assessment": "assessments", "cited_pmid": "document", "evidence_relation": "relation",
    "evidence_support": "excerpt",
}  # fmt: skip
Line = tuple[str, Any]
"""The place of an object, for messages, and the object."""


def read_answers(paths: Sequence[Path]) -> AnswerSet:
    """The answers of files that belong together, say MedAESQA's main file and its two cluster files.

    `DataError` names file, line, field and value of what is wrong.
    """
    return answer_set(line for path in paths for line in _file_lines(Path(path)))


def answer_set(lines: Iterable[Line]) -> AnswerSet:
    """The answers in lines of our format; `DataError` if one is wrong, or contradicts another."""
    rows: dict[str, dict[Any, Any]] = {kind: {} for kind in _KINDS}
    for place, line in lines:
        if not isinstance(line, Mapping):
            raise DataError(place, f"is {shown(line)}, not an object", _REMEDY)
        kind = line.get("kind")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise DataError(
                f"{place}, kind", f"is {shown(kind)}", f"Kinds are: {', '.join(_KINDS)}. {_REMEDY}"
            )
        row = _row_of(place, _KINDS[kind], line)
        key = _key(row)
        if kind == "question" and key in rows[kind]:  # its text here, its nuggets there
            known = rows[kind][key].model_dump(exclude_defaults=True)
            row = row.model_copy(
                update={name: value for name, value in known.items() if not getattr(row, name)}
            )
            if all(getattr(row, name) == value for name, value in known.items()):
                rows[kind][key] = row
        if rows[kind].setdefault(key, row) != row:
            raise DataError(place, f"is a second {kind} {shown(key)}", "Keep one of them.")
        if kind in ("answer", "clusters"):
            rows["question"].setdefault(row.question_id, Question(question_id=row.question_id))
    return AnswerSet(
        questions=tuple(rows["question"].values()),
        answers=tuple(rows["answer"].values()),
        documents=tuple(rows["document"].values()),
        clusters=tuple(rows["clusters"].values()),
    )


def _key(row: Any) -> Any:
    if isinstance(row, Answer):
        return row.question_id, row.system
    if isinstance(row, Clusters):
        return row.question_id, row.setting, row.name
    return row.document_id if isinstance(row, Document) else row.question_id


def _row_of(place: str, kind: Any, line: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ").replace("Input", "it")
        problem = "is missing" if first["type"] == "missing" else f"is {shown(first['input'])}: {message}"
        raise DataError(f"{place}, {field}".rstrip(", "), problem, _REMEDY) from error


def counts(answers: AnswerSet) -> dict[str, int]:
    """Counts of questions, systems, answers and so on, by name."""
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


def _file_lines(path: Path) -> Iterator[Line]:
    """The objects of a file of any of these formats, in our format."""
    content = file_content(path, MOST_BYTES, _REMEDY)
    if path.suffix in (".jsonl", ".ndjson"):
        items = [(f"{path}, line {n}", item) for n, item in json_lines(path, content, _REMEDY)]
    else:
        value = json_value(path, _REMEDY, content)
        values = value if isinstance(value, list) else [value]
        items = [(f"{path}, item {n}", item) for n, item in enumerate(values, start=1)]
    for place, item in items:
        if not isinstance(item, dict) or "kind" in item:
            yield place, item
        elif "machine_generated_answers" in item:
            yield from _medaesqa_lines(place, item)
        elif {"responses", "answer"} & item.keys():
            yield from _biogen_lines(place, item, path.stem)
        else:
            for key, part in item.items():
                yield from _keyed_lines(path, key, part)


def _keyed_lines(path: Path, key: str, item: Any) -> Iterator[Line]:
    """An entry of a file that is an object by question or document: clusters, gold nuggets, abstracts."""
    place = f"{path}, {key}"
    if isinstance(item, list):
        yield place, {"kind": "question", "question_id": key, "nuggets": item}
    elif isinstance(item, dict) and "abstract" in item:
        document = {"kind": "document", "document_id": key}
        yield place, {**document, "title": item.get("title"), "text": item["abstract"]}
    elif isinstance(item, dict) and item and all(str(name).endswith(_CLUSTERED) for name in item):
        yield from _cluster_lines(path, key, item)
    else:
        raise DataError(place, f"holds {shown(item)}, no answers", _REMEDY)


def _biogen_lines(place: str, item: Mapping[str, Any], stem: str) -> Iterator[Line]:
    """A topic of a run; in task A, the contradicting citations make a system of their own."""
    about = item.get("metadata") or item.get("meta_data") or {}
    text = about.get("question") or item.get("question")
    question = about.get("topic_id") or about.get("qa_id") or str(text)[:200]
    system = about.get("run_id") or stem
    yield place, {"kind": "question", "question_id": question, "question": text}
    answer = {"kind": "answer", "question_id": question}
    parts = item.get("responses", item.get("answer"))
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        yield place, {**answer, "system": system, "answer": parts}
        return
    of_task = "supported_citations" if any("supported_citations" in part for part in parts) else "citations"
    names = {of_task: system, "contradicted_citations": f"{system} (contradicting)"}
    for name, of_system in names.items():
        if name == of_task or any(part.get(name) for part in parts):
            sentences = [_biogen_sentence(part, name) for part in parts]
            yield place, {**answer, "system": of_system, "sentences": sentences}


def _biogen_sentence(part: Mapping[str, Any], name: str) -> dict[str, Any]:
    cited, labels = part.get(name), part.get(f"{name}_labels") or {}
    assessments = [{"document": document, "relation": label} for document, label in labels.items()]
    known = [*(cited or []), *labels] if cited is not None or labels else None
    return {"text": part.get("text"), "citations": known, "assessments": assessments}


def _cluster_lines(path: Path, question: str, item: Mapping[str, Any]) -> Iterator[Line]:
    name = next((short for part, short in _EMBEDDINGS.items() if part in path.name), "clusters")
    for setting, clusters in item.items():
        place = f"{path}, {question}, {setting}"
        try:
            ids = {
                number: [member["answer_sentence_id"] for member in members]
                for number, members in clusters.items()
            }
        except (AttributeError, KeyError, TypeError):
            ids = {}
        if not ids:
            raise DataError(place, "holds no clusters of answer sentences", _REMEDY)
        line = {"kind": "clusters", "question_id": question, "setting": setting.removesuffix(_CLUSTERED)}
        yield place, {**line, "name": name, "clusters": ids}


def _medaesqa_lines(place: str, item: Mapping[str, Any]) -> Iterator[Line]:
    question = {**_with_our_keys(item), "kind": "question"}
    systems = question.pop("machine_generated_answers")
    yield place, question
    for system, raw in systems.items() if isinstance(systems, dict) else ():
        verdict = str(raw.get("accurate") or "").strip().lower()
        for sentence in raw.get("sentences") or ():
            sentence["citations"] = [given.get("document") for given in sentence.get("assessments") or ()]
        answer = {"kind": "answer", "question_id": question.get("question_id"), "system": system}
        accurate = {"yes": True, "no": False, "": None}.get(verdict, verdict)
        yield f"{place}, {system}", {**raw, **answer, "accurate": accurate}


def _with_our_keys(value: Any) -> Any:
    """The value with our keys in place of MedAESQA's."""
    if isinstance(value, list):
        return [_with_our_keys(item) for item in value]
    if isinstance(value, dict):
        return {_MEDAESQA.get(key, key): _with_our_keys(item) for key, item in value.items()}
    return value
