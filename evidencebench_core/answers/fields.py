"""Values of a line of a file of answers, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from evidencebench_core.errors import DataError, shown

Line = dict[str, Any]
Placed = tuple[str, Line]  # where it stands, for messages, and what stands there

_T = TypeVar("_T")
REMEDY: Final = "The format is in the documentation of evidencebench_core.answers.read."
LONGEST_ID: Final = 200
_NAMES: Final[Mapping[Any, str]] = {str: "text", dict: "an object", list: "a list"}


def value_of(place: str, value: object, kind: type[_T] | tuple[type, ...], name: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        problem = "is missing" if value is None else f"is {shown(value)}, not {name}"
        raise DataError(place, problem, REMEDY)
    return value  # type: ignore[return-value]


def field(place: str, raw: Line, key: str, kind: type[_T]) -> _T:
    return value_of(f"{place}, {key}", raw.get(key), kind, _NAMES[kind])


def text_field(place: str, raw: Line, key: str) -> str:
    return "" if raw.get(key) is None else field(place, raw, key, str)


def list_of(place: str, value: object, kind: Any) -> list[Any]:
    """A list of things of one kind; empty for null."""
    if value is None:
        return []
    name = _NAMES.get(kind, "a text or a number")
    return [
        value_of(f"{place}[{at}]", one, kind, name)
        for at, one in enumerate(value_of(place, value, list, "a list"))
    ]


def id_field(place: str, raw: Line, key: str) -> str:
    value = str(value_of(f"{place}, {key}", raw.get(key), (str, int), "a text")).strip()
    if not 0 < len(value) <= LONGEST_ID:
        raise DataError(f"{place}, {key}", f"is {shown(value)}", f"Give 1 to {LONGEST_ID} characters.")
    return value


def choice(place: str, value: object, forms: Mapping[str, _T]) -> _T:
    """The value that a text stands for, upper and lower case and white space being alike."""
    found = forms.get(" ".join(value.lower().split())) if isinstance(value, str) else None
    if found is None:
        names = dict.fromkeys(one if isinstance(one, str) else form for form, one in forms.items())
        raise DataError(place, f"is {shown(value)}", f"Choices are: {', '.join(names)}.")
    return found


def check_once(place: str, ids: Sequence[str], noun: str) -> None:
    if len(set(ids)) < len(ids):
        repeated = Counter(ids).most_common(1)[0][0]
        raise DataError(place, f"have the {noun} {shown(repeated)} twice", "Give each once.")
