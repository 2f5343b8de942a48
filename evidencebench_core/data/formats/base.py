"""What the parsers share: the file at hand, and checks whose errors name the place, what is there and what to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import InstanceError, shown
from evidencebench_core.words import enumerated

Text = Annotated[str, Field(pattern=r"\S")]
Pool = Annotated[list[str], Field(min_length=1, max_length=5_000)]

_TAGS: Final = frozenset(
    {"str", "int", "bool", "list[bool]", "constrained-str", "[key]"}
)  # of pydantic's places
_WANTED: Final = {  # by pydantic's type of error
    "string_type": "a text",
    "string_pattern_mismatch": "a text that is not blank",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "literal_error": "one of {expected}",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "greater_than_equal": "a number of at least {ge}",
}


class Checked(BaseModel):
    """A record of a file; keys that it does not know are no error."""

    model_config = ConfigDict(strict=True)


_Checked = TypeVar("_Checked", bound=Checked)


@dataclass(frozen=True, slots=True)
class Source:
    """A file to parse."""

    file: DatasetFile
    name: str  # of the dataset: the beginning of ids where the file has none
    corpus: Path | None = None  # the file of papers that belongs to it, for the formats that have one
    left_out: Counter[str] = field(default_factory=Counter)  # records that make no instance, by reason


def checked(model: type[_Checked], value: object, place: str) -> _Checked:
    """The record, of the types that its format says; `InstanceError` names all that it lacks, else its first fault."""
    try:
        record = model.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        missing = [str(fault["loc"][-1]) for fault in faults if fault["type"] == "missing"]
        if missing:
            within = "".join(f", {part}" for part in faults[0]["loc"][:-1])
            near = _near_misses(value, model)
            required = enumerated([name for name, info in model.model_fields.items() if info.is_required()])
            remedy = f"{near}Every record has {required}." if not within else "Add it."
            raise InstanceError(f"{place}{within}", f"has no {enumerated(missing)}", remedy) from None
        fault = faults[0]
        parts = [
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"] if part not in _TAGS
        ]
        path = "".join(parts).removeprefix(".")
        wanted = _WANTED.get(fault["type"], "what the format says").format_map(fault.get("ctx", {}))
        where = f"{place}, {path}" if path else place
        raise InstanceError(where, f"is {shown(fault['input'])}", f"Give {wanted}.") from None
    if near := _near_misses(value, model):
        raise InstanceError(place, "has a key that the format does not know", f"{near}Rename it.")
    return record


def _near_misses(value: object, model: type[Checked]) -> str:
    """``"Did you mean 'paper_id' by 'papr_id'? "`` for keys beyond the format's that are close to one it lacks."""
    keys = value.keys() if isinstance(value, dict) else set[str]()
    absent = tuple(name for name in model.model_fields if name not in keys)
    near = [(key, _nearest(key, absent)) for key in keys if key not in model.model_fields]
    return "".join(f"Did you mean {shown(name)} by {shown(key)}? " for key, name in near if name)


@cache
def _nearest(key: str, names: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(key, names, 1, 0.85)), "")


def check_indices(place: str, indices: Sequence[int], n_sentences: int) -> None:
    """`InstanceError` where sentence indices are not in the paper, or there twice."""
    for index in indices:
        if not 0 <= index < n_sentences:
            problem = f"holds sentence index {index}"
            raise InstanceError(place, problem, f"Indices run from 0 to {n_sentences - 1}.")
    if len(set(indices)) < len(indices):
        raise InstanceError(place, f"has an entry twice: {shown(indices)}", "List each once.")


def check_length(place: str, values: Sequence[object], n_expected: int, noun: str) -> None:
    if len(values) != n_expected:
        problem = f"has {len(values)} entries for {n_expected} {noun}s"
        raise InstanceError(place, problem, f"Give one for each {noun}.")
