"""A table of one's own: hypothesis, sentences and evidence, as JSON, JSON lines or CSV.

``evidence`` says which sentences cover which study aspect. An entry is an aspect: a list of sentences, any of which
covers it, or one sentence. A sentence is given by its index, from 0, or by a quote of it. Only where ``aspects`` has
one text for several plain entries are they one aspect, covered by any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from evidencebench_core.data.formats.base import (
    Checked,
    Pool,
    Source,
    Text,
    check_indices,
    check_length,
    checked,
)
from evidencebench_core.data.model import Aspect, Instance, SentenceType, evidence_set, paper_key
from evidencebench_core.data.quotes import QuoteFinder
from evidencebench_core.data.sections import class_of_heading, section_titles
from evidencebench_core.data.sentences import sentences_of
from evidencebench_core.errors import InstanceError, shown

_LISTS: Final = ("sentences", "evidence", "sections", "sentence_types", "aspects", "is_result")
_OBJECTS: Final = ("paraphrases", "construction")


class SimpleRecord(Checked):
    hypothesis: Text
    evidence: Annotated[list[Any], Field(min_length=1, max_length=1_000)]
    sentences: Pool | None = None
    text: Text | None = None
    id: Text | int | None = None
    paper_id: Text | int | None = None
    sections: list[str] | None = None
    sentence_types: list[SentenceType] | None = None
    aspects: list[Text] | None = None
    is_result: bool | list[bool] = False
    paraphrases: dict[Text, Text] | None = None
    negation: Text | None = None
    construction: dict[str, Any] | None = None


def instances(source: Source) -> Iterator[Instance]:
    """The instances of a file; one without an id is called by the dataset's name and its number, from 1."""
    for number, (place, key, value) in enumerate(source.file.records(), start=1):
        raw = _from_cells(value, place) if source.file.is_table and isinstance(value, dict) else value
        yield simple_instance(raw, place, key or f"{source.name}-{number}")


def simple_instance(raw: Any, place: str, default_id: str) -> Instance:
    """The instance of a record; other keys than `SimpleRecord` has are kept. `InstanceError` names a fault."""
    record = checked(SimpleRecord, raw, place)
    instance_id = default_id if record.id is None else str(record.id)
    if (record.sentences is None) == (record.text is None):
        problem = "has no sentences and no text" if record.text is None else "has both sentences and text"
        raise InstanceError(place, problem, "Give the paper as a list of sentences, or as a text to split.")
    paragraphs = (record.text or "").splitlines()
    sentences = record.sentences or [part for text in paragraphs for part in sentences_of(text)]
    types = record.sentence_types or _types(sentences, record.sections)
    check_length(f"{place}, sentence_types", types, len(sentences), "sentence")
    sections = record.sections or section_titles(sentences, types)
    check_length(f"{place}, sections", sections, len(sentences), "sentence")
    extra = {name: value for name, value in raw.items() if name not in SimpleRecord.model_fields}
    return Instance(
        id=instance_id,
        hypothesis=record.hypothesis,
        paper_id=paper_key(sentences, types) if record.paper_id is None else str(record.paper_id),
        sentences=tuple(sentences),
        sentence_types=tuple(types),
        sections=tuple(sections),
        evidence=evidence_set(len(sentences), _aspects(record, place, instance_id, sentences)),
        paraphrases=MappingProxyType(record.paraphrases or {}),
        negation=record.negation,
        construction=MappingProxyType(record.construction or {}),
        kept=MappingProxyType(extra),
    )


def _types(sentences: Sequence[str], sections: Sequence[str] | None) -> list[SentenceType]:
    """What sections tell: a sentence that is its section's name is a heading, and an abstract says so."""
    types: list[SentenceType] = ["normal_paragraph"] * len(sentences)
    for index, (sentence, section) in enumerate(zip(sentences, sections or (), strict=False)):
        if sentence.strip() == section.strip():
            types[index] = "section_name"
        elif class_of_heading(section) == "abstract":
            types[index] = "abstract"
    return types


def _aspects(record: SimpleRecord, place: str, instance_id: str, sentences: Sequence[str]) -> list[Aspect]:
    entries, texts, is_result = record.evidence, record.aspects, record.is_result
    if texts is not None and len(texts) == 1 and not isinstance(entries[0], list):
        entries = [entries]
    texts = texts or [""] * len(entries)
    is_result = is_result if isinstance(is_result, list) else [is_result] * len(entries)
    check_length(f"{place}, aspects", texts, len(entries), "aspect")
    check_length(f"{place}, is_result", is_result, len(entries), "aspect")
    aspects = []
    for number, entry in enumerate(entries):
        indices = _indices(entry, f"{place}, evidence[{number}]", sentences)
        aspect_id, label = f"{instance_id}_aspect_{number}", f"A{number + 1}"
        aspects.append(Aspect(aspect_id, indices, is_result[number], label, texts[number] or None))
    return aspects


def _indices(entry: object, place: str, sentences: Sequence[str]) -> tuple[int, ...]:
    """The sentences of an entry of ``evidence``, ascending."""
    indices: set[int] = set()
    for item in entry if isinstance(entry, list) else [entry]:
        if isinstance(item, str) and item.strip():
            quoted = QuoteFinder(sentences).find(item)
            if not quoted:
                problem = f"quotes {shown(item)}, which is not in the paper"
                raise InstanceError(place, problem, "Quote it word for word.")
            indices.update(quoted)
        elif type(item) is int:
            check_indices(place, [item], len(sentences))
            indices.add(item)
        else:
            raise InstanceError(
                place, f"is {shown(item)}", "Give the index of a sentence, from 0, or a quote."
            )
    if not indices:
        raise InstanceError(place, "is empty", "Give the sentences that cover the aspect, or leave it out.")
    return tuple(sorted(indices))


def _from_cells(row: Mapping[str, str], place: str) -> dict[str, Any]:
    """A row of a table: a list is JSON, or has | between its entries."""
    values: dict[str, Any] = dict(row)
    for name in (*_LISTS, *_OBJECTS):
        cell = row.get(name, "").strip()
        try:
            if cell.startswith(("[", "{")):
                values[name] = orjson.loads(cell)
            elif cell and name in _LISTS:
                values[name] = [_cell_value(part.strip(), name) for part in cell.split("|")]
        except orjson.JSONDecodeError as error:
            remedy = "Write JSON, or put | between the entries."
            raise InstanceError(
                f"{place}, {name}", f"is {shown(cell)}, not JSON ({error})", remedy
            ) from error
    return values


def _cell_value(text: str, name: str) -> object:
    if name == "evidence" and text.isdecimal():
        return int(text)
    return text.lower() == "true" if name == "is_result" and text.lower() in ("true", "false") else text
