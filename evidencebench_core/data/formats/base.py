"""What the parsers share: the file at hand, and checks whose errors name the place, what is there and what to write."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evidencebench_core.data.files import vocabulary
from evidencebench_core.data.model import Instance, paper_key
from evidencebench_core.data.sections import section_titles
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import InstanceError, shown
from evidencebench_core.words import enumerated

Text = Annotated[str, Field(pattern=r"\S")]
Id = Annotated[Text, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
Pool = Annotated[list[str], Field(min_length=1, max_length=5_000)]

_Checked = TypeVar("_Checked", bound="Checked")
_TAGS: Final = frozenset({"bool", "list[bool]", "[key]"})  # of pydantic's places


class Checked(BaseModel):
    """A record of a file; unknown keys are allowed."""

    model_config = ConfigDict(strict=True)


@dataclass(frozen=True, slots=True)
class Source:
    """A file to parse."""

    file: DatasetFile
    name: str  # of the dataset: the beginning of ids where the file has none
    corpus: Path | None = None  # the file of papers that belongs to it, for the formats that have one
    left_out: Counter[str] = field(default_factory=Counter)  # records that make no instance, by reason


def checked(model: type[_Checked], value: object, place: str) -> _Checked:
    """The validated record; `InstanceError` names all keys that are missing, else the first wrong value."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        missing = [str(fault["loc"][-1]) for fault in faults if fault["type"] == "missing"]
        if missing:
            within = "".join(f", {part}" for part in faults[0]["loc"][:-1])
            required = enumerated([name for name, info in model.model_fields.items() if info.is_required()])
            remedy = "Add it." if within else f"Every record has {required}."
            raise InstanceError(f"{place}{within}", f"has no {enumerated(missing)}", remedy) from None
        fault = faults[0]
        parts = [
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"] if part not in _TAGS
        ]
        path = "".join(parts).removeprefix(".")
        wanted = vocabulary("errors.toml")["pydantic"].get(fault["type"], "what the format says")
        where = f"{place}, {path}" if path else place
        raise InstanceError(
            where, f"is {shown(fault['input'])}", f"Give {wanted}.".format_map(fault.get("ctx", {}))
        ) from None


def built_instance(place: str, **fields: Any) -> Instance:
    """An instance with these fields; those that are ``None`` are derived from its paper."""
    sentences = tuple(fields["sentences"])
    types = tuple(fields["sentence_types"] or ["normal_paragraph"] * len(sentences))
    check_length(f"{place}, sentence_types", types, len(sentences), "sentence")
    sections = tuple(fields["sections"] or section_titles(sentences, types))
    check_length(f"{place}, sections", sections, len(sentences), "sentence")
    key = fields["paper_id"] or paper_key(sentences, types)
    paper = {"sentences": sentences, "sentence_types": types, "sections": sections, "paper_id": key}
    return Instance(**fields | paper)


def check_indices(place: str, indices: Sequence[int], n_sentences: int) -> None:
    """`InstanceError` if a sentence index is outside the paper or repeated."""
    for index in indices:
        if not 0 <= index < n_sentences:
            problem = f"holds sentence index {index}"
            raise InstanceError(place, problem, f"Indices run from 0 to {n_sentences - 1}.")
    check_unique(place, indices)


def check_unique(place: str, values: Sequence[object]) -> None:
    if len(set(values)) < len(values):
        raise InstanceError(place, f"has an entry twice: {shown(values)}", "List each once.")


def check_length(place: str, values: Sequence[object], n_expected: int, noun: str) -> None:
    if len(values) != n_expected:
        problem = f"has {len(values)} entries for {n_expected} {noun}s"
        raise InstanceError(place, problem, f"Give one for each {noun}.")
