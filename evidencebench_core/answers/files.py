"""The lines of a file of answers, in our shape: ours, MedAESQA's, or of BioACE's two tasks."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from evidencebench_core.answers.brackets import document_id
from evidencebench_core.answers.fields import (
    LONGEST_ID,
    REMEDY,
    Line,
    Placed,
    choice,
    field,
    id_field,
    list_of,
    value_of,
)
from evidencebench_core.data.files import file_content
from evidencebench_core.data.strict_json import json_lines, json_value
from evidencebench_core.errors import DataError, shown

_MOST_BYTES: Final = 512 << 20
_CLUSTERED: Final = "_answer_sentences_cluster"
_ACCURATE: Final = {"yes": True, "no": False}
_EMBEDDINGS: Final = {"sentence_transformers": "ST", "sim_cse": "SimCSE"}  # part of a file's name: short name


def lines_of(path: Path, system: str) -> Iterator[Placed]:
    """The objects of a file in our shape, whatever shape it has."""
    content = file_content(path, _MOST_BYTES, REMEDY)
    first = content.removeprefix(BOM_UTF8).lstrip().partition(b"\n")[0]
    is_object = first.startswith(b"{")
    if is_object and (path.suffix == ".jsonl" or b'"kind"' in first):
        for number, one in json_lines(path, content, REMEDY):
            place = f"{path}, line {number}"
            _check_text(place, one)
            yield place, value_of(place, one, dict, "an object")
        return
    value = json_value(path, REMEDY, content=content)
    if isinstance(value, list):
        items = [(f"{path}, item {number}", one) for number, one in enumerate(value, start=1)]
    elif isinstance(value, dict):
        items = [(f"{path}, {shown(key)}", one) for key, one in value.items()]
    else:
        raise DataError(str(path), f"holds {shown(value)}, not a list or an object", REMEDY)
    _check_text(str(path), value)
    if not items:
        raise DataError(str(path), "holds nothing", REMEDY)
    keys: set[str] = set(items[0][1]) if isinstance(items[0][1], dict) else set()
    if isinstance(value, list):
        for place, item in items:
            yield from _of_list(keys, place, value_of(place, item, dict, "an object"), system or path.stem)
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
        for setting, clusters in value_of(place, item, dict, "an object").items():
            ids = {
                number: [
                    field(f"{place}, {setting}[{shown(number)}]", one, "answer_sentence_id", str)
                    for one in list_of(f"{place}, {setting}", members, dict)
                ]
                for number, members in value_of(f"{place}, {setting}", clusters, dict, "an object").items()
            }
            line = {"kind": "clusters", "question_id": key, "setting": setting.removesuffix(_CLUSTERED)}
            yield place, {**line, "name": name, "clusters": ids}
    elif keys & {"abstract", "title"}:
        raw = value_of(place, item, dict, "an object")
        texts = {"text": raw.get("abstract"), "sentences": raw.get("sentences")}
        yield place, {"kind": "document", "document_id": key, **raw, **texts}
    elif isinstance(item, list):
        yield place, {"kind": "question", "question_id": key, "nuggets": item}
    else:
        known = "clusters of answer sentences; documents with title and abstract; lists of gold nuggets"
        raise DataError(place, f"is {shown(item)}", f"Known are objects of: {known}.")


def _medaesqa(place: str, item: Line) -> Iterator[Placed]:
    question = id_field(place, item, "question_id")
    extra = {name: value for name, value in item.items() if name != "machine_generated_answers"}
    reference = item.get("expert_curated_answer")
    yield place, {**extra, "kind": "question", "question_id": question, "reference": reference}
    systems = field(place, item, "machine_generated_answers", dict)
    for system, raw in systems.items():
        where = f"{place}, question {question}, {system}"
        answer = value_of(where, raw, dict, "an object")
        verdict = answer.get("is_answer_accurate")
        accurate = None if verdict is None else choice(f"{where}, is_answer_accurate", verdict, _ACCURATE)
        sentences = [
            _medaesqa_sentence(f"{where}, sentence {number}", one)
            for number, one in enumerate(list_of(where, answer.get("answer_sentences"), dict), start=1)
        ]
        line = {"kind": "answer", "question_id": question, "system": system, "accurate": accurate}
        yield where, {**line, "answer": answer.get("answer"), "sentences": sentences}


def _medaesqa_sentence(place: str, raw: Line) -> Line:
    assessments = [
        {
            "document": id_field(place, one, "cited_pmid"),
            "relation": one.get("evidence_relation"),
            "excerpt": one.get("evidence_support"),
        }
        for one in list_of(f"{place}, citation_assessment", raw.get("citation_assessment"), dict)
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
    metadata = field(place, item, "metadata", dict)
    question = id_field(place, metadata, "topic_id")
    yield place, {"kind": "question", "question_id": question, "question": metadata.get("question")}
    sentences = [
        {"text": field(place, one, "text", str)}
        | ({"citations": one["citations"]} if "citations" in one else {})
        for one in list_of(f"{place}, responses", item.get("responses"), dict)
    ]
    text = metadata.get("answer") or " ".join(one["text"] for one in sentences)
    line = {"kind": "answer", "question_id": question, "system": metadata.get("run_name") or system}
    yield place, {**line, "answer": text, "sentences": sentences}


def _task_a(place: str, item: Line, system: str) -> Iterator[Placed]:
    """BioACE's ``citation_eval`` input: what a system cites for and against, and labels of it where there are some."""
    text = field(place, item, "question", str)
    question = next(
        (str(item[key]) for key in ("question_id", "topic_id", "id") if key in item), text.strip()
    )
    yield place, {"kind": "question", "question_id": question[:LONGEST_ID], "question": text}
    sentences, nuggets = list[Line](), list[str]()
    for one in list_of(f"{place}, answer", item.get("answer"), dict):
        cited = [
            str(document)
            for key in ("supported_citations", "contradicted_citations")
            for document in list_of(f"{place}, {key}", one.get(key), (str, int))
        ]
        labels = {
            document: label
            for key, found in one.items()
            if key == "labels" or key.endswith("_labels")
            for document, label in value_of(f"{place}, {key}", found, dict, "an object").items()
        }
        assessments = [{"document": document, "relation": label} for document, label in labels.items()]
        citations = [*cited, *labels] if cited or labels else []
        nuggets += list_of(f"{place}, nuggets_declarative", one.get("nuggets_declarative"), str)
        sentences.append(
            {"text": field(place, one, "text", str), "citations": citations, "assessments": assessments}
        )
    line: Line = {
        "kind": "answer",
        "question_id": question[:LONGEST_ID],
        "system": item.get("system") or system,
    }
    line |= {"nuggets": nuggets} if nuggets else {}
    yield place, {**line, "answer": " ".join(one["text"] for one in sentences), "sentences": sentences}
