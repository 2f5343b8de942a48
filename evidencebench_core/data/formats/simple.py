"""A user's own table: hypothesis, sentences and evidence, as JSON, JSON lines or CSV.

An entry of ``evidence`` is a study aspect: a list of sentences, any of which covers it, or one sentence; a sentence is
its index, from 0, or a quote. Only where ``aspects`` has one text for plain entries are they one aspect together.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from evidencebench_core.data.formats import base
from evidencebench_core.data.model import Aspect, Instance, SentenceType, evidence_set
from evidencebench_core.data.quotes import QuoteFinder
from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.data.sentences import sentences_of
from evidencebench_core.errors import InstanceError, shown

_LISTS: Final = frozenset({"sentences", "evidence", "sections", "sentence_types", "aspects", "is_result"})
_OBJECTS: Final = frozenset({"paraphrases", "construction"})


class SimpleRecord(base.Checked):
    hypothesis: base.Text
    evidence: Annotated[list[Any], Field(min_length=1, max_length=1_000)]
    sentences: base.Pool | None = None
    text: base.Text | None = None
    id: base.Id | None = None
    paper_id: base.Id | None = None
    sections: list[str] | None = None
    sentence_types: list[SentenceType] | None = None
    aspects: list[base.Text] | None = None
    is_result: bool | list[bool] = False
    paraphrases: dict[base.Text, base.Text] | None = None
    negation: base.Text | None = None
    construction: dict[str, Any] | None = None


def instances(source: base.Source) -> Iterator[Instance]:
    """The instances of a file; one without an id is called by the dataset's name and its number, from 1."""
    for number, (place, key, value) in enumerate(source.file.records(), start=1):
        raw = _from_cells(value, place) if source.file.is_table and isinstance(value, dict) else value
        yield simple_instance(raw, place, key or f"{source.name}-{number}")


def simple_instance(raw: Any, place: str, default_id: str) -> Instance:
    """The instance of a record; other keys than `SimpleRecord` has are kept. `InstanceError` names a fault."""
    record = base.checked(SimpleRecord, raw, place)
    if (record.sentences is None) == (record.text is None):
        problem = "has no sentences and no text" if record.text is None else "has both sentences and text"
        raise InstanceError(place, problem, "Give the paper as a list of sentences, or as a text to split.")
    sentences = record.sentences or []
    for paragraph in (record.text or "").splitlines():
        sentences += sentences_of(paragraph)
    instance_id = record.id or default_id
    return base.built_instance(
        place,
        sentences=sentences,
        sentence_types=record.sentence_types or _types(sentences, record.sections),
        sections=record.sections,
        paper_id=record.paper_id,
        id=instance_id,
        hypothesis=record.hypothesis,
        evidence=evidence_set(len(sentences), _aspects(record, place, instance_id, sentences)),
        paraphrases=record.paraphrases or {},
        negation=record.negation,
        construction=record.construction or {},
        kept={name: value for name, value in raw.items() if name not in SimpleRecord.model_fields},
    )


def _types(sentences: Sequence[str], sections: Sequence[str] | None) -> list[SentenceType]:
    """Types as the sections imply them: a sentence equal to its section's name is a heading."""
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
    base.check_length(f"{place}, aspects", texts, len(entries), "aspect")
    base.check_length(f"{place}, is_result", is_result, len(entries), "aspect")
    aspects = []
    for number, entry in enumerate(entries):
        indices = _indices(entry, f"{place}, evidence[{number}]", sentences)
        aspect_id, label = f"{instance_id}_aspect_{number}", f"A{number + 1}"
        aspects.append(Aspect(aspect_id, indices, is_result[number], label, texts[number] or None))
    return aspects


def _indices(entry: object, place: str, sentences: Sequence[str]) -> tuple[int, ...]:
    indices: set[int] = set()
    for item in entry if isinstance(entry, list) else [entry]:
        if type(item) is int:
            base.check_indices(place, [item], len(sentences))
            indices.add(item)
        elif isinstance(item, str) and (quoted := QuoteFinder(sentences).find(item)):
            indices.update(quoted)
        else:
            is_quote = isinstance(item, str)
            problem = f"quotes {shown(item)}, which is not in the paper" if is_quote else f"is {shown(item)}"
            raise InstanceError(
                place, problem, "Give the index of a sentence, from 0, or quote it word for word."
            )
    if not indices:
        raise InstanceError(place, "is empty", "Give the sentences that cover the aspect, or leave it out.")
    return tuple(sorted(indices))


def _from_cells(row: Mapping[str, str], place: str) -> dict[str, Any]:
    """A row of a table: a list is JSON, or has | between its entries."""
    values: dict[str, Any] = dict(row)
    for name in _LISTS.union(_OBJECTS).intersection(row):
        cell = row[name].strip()
        if not cell.startswith(("[", "{")):
            if name in _LISTS:
                values[name] = [_cell_value(part.strip(), name) for part in cell.split("|")]
            continue
        try:
            values[name] = orjson.loads(cell)
        except orjson.JSONDecodeError as error:
            problem = f"is {shown(cell)}, not JSON ({error})"
            remedy = "Write JSON, or put | between the entries."
            raise InstanceError(f"{place}, {name}", problem, remedy) from error
    return values


def _cell_value(text: str, name: str) -> object:
    if name == "evidence" and text.isdecimal():
        return int(text)
    return {"true": True, "false": False}.get(text.lower(), text) if name == "is_result" else text
