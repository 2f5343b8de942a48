"""Settings declared as pydantic models: what a run is known by, what ``--set`` takes and what a form asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from evidencebench_core.data.records import canonical_text
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.retrievers.base import Setting


def Derived(description: str) -> Any:  # noqa: N802 - reads like `Field`
    """A setting that is filled in by the retriever itself, so that a run's settings tell it; nobody is asked."""
    return Field(default=None, description=description, json_schema_extra={"derived": True})


def _json_text(value: object) -> object:
    """The canonical text of a JSON object that is not empty."""
    if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
        return None
    given = json.loads(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not given:
        raise ValueError("a JSON object is expected")
    try:
        return canonical_text(given)
    except TypeError as error:
        raise ValueError("holds what is no JSON") from error


JsonText = BeforeValidator(_json_text)
"""For ``Annotated[str | None, JsonText]``: a JSON object, kept as its canonical text."""


class Settings(BaseModel):
    """The settings of something, each with its default, bounds and description.

    Values may be given as text: ``"1.2"``, ``"true"``, ``"a,b"`` for a tuple, ``"none"`` where None is allowed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, values: Mapping[str, object]) -> dict[str, object]:
        read = dict(values)
        for name, value in values.items():
            if isinstance(value, str) and name in cls.model_fields:
                field = field_of(cls, name)
                if field.optional and value.strip().lower() == "none":
                    read[name] = None
                elif field.kind is tuple:
                    read[name] = tuple(part.strip() for part in value.split(",") if part.strip())
        return read

    @classmethod
    def read(cls, owner: str, given: Mapping[str, object] | None = None) -> Self:
        """The settings of ``owner`` (``"retriever bm25"``), defaults filled in, or `SettingError`."""
        try:
            return cls.model_validate(dict(given or {}))
        except ValidationError as error:
            raise cls._error(owner, error) from error

    def values(self) -> dict[str, Setting]:
        """Every setting by name, in canonical form, fit for JSON."""
        return dict(self)

    @classmethod
    def _error(cls, owner: str, error: ValidationError) -> SettingError:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            known = cls.model_fields
            remedy = names_hint(name, known, "Settings") if known else "It takes no settings."
            return SettingError(owner, f"there is no setting {shown(name)}", remedy)
        if name not in cls.model_fields:
            problem = str(first["msg"]).removeprefix("Value error, ")
            return SettingError(owner, problem, "Change the settings.")
        field = field_of(cls, name)
        remedy = f"Give {field.allowed()}." + (f" {field.help}" if field.kind is tuple else "")
        return SettingError(owner, f"{name} cannot be {shown(first['input'])}", remedy)


_WORDS: Final[Mapping[type, str]] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    tuple: "names separated by commas",
    dict: 'a JSON object such as {"top_p": 0.9}',
}


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting as a form or a help text shows it."""

    name: str
    kind: type  # int, float, bool, str, tuple (of str) or dict (a JSON object, kept as its text)
    default: Setting
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    optional: bool = False  # None is a value, too
    derived: bool = False  # filled in by the retriever itself

    @property
    def is_free(self) -> bool:
        """Whether any text may stand there, the name of a file among them."""
        return self.kind in (str, tuple, dict) and not self.choices and not self.derived

    def allowed(self) -> str:
        """The values in words: ``"a number from 0 to 1"``."""
        if self.choices:
            return " or ".join(self.choices)
        words = _WORDS[self.kind]
        if self.minimum is not None and self.maximum is not None:
            return f"{words} from {self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"{words} of {self.minimum:g} or more"
        return words


def fields_of(settings: type[Settings]) -> dict[str, SettingField]:
    """The settings that a model declares, by name, in order."""
    return {name: field_of(settings, name) for name in settings.model_fields}


def field_of(settings: type[Settings], name: str) -> SettingField:
    info = settings.model_fields[name]
    kind, choices, optional = _type_of(info.annotation)
    if JsonText in info.metadata:
        kind = dict
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    least, most, derived = _bound(info, "ge"), _bound(info, "le"), bool(extra.get("derived"))
    description = info.description or ""
    return SettingField(name, kind, info.default, description, choices, least, most, optional, derived)


def names_hint(wrong: str, known: Iterable[str], what: str) -> str:
    """``"Did you mean 'k1'? Settings are: k1, b."``, without the question if nothing is near."""
    names = list(known)
    near = did_you_mean(wrong.lower(), names, cutoff=0.5)  # k2 is half of k1
    return f"{near}{what} are: {', '.join(names)}."


def _bound(info: FieldInfo, name: str) -> float | None:
    return next((getattr(limit, name) for limit in info.metadata if hasattr(limit, name)), None)


def _type_of(annotation: Any) -> tuple[type, tuple[str, ...], bool]:
    """Kind, choices and whether None is allowed."""
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = (part for part in get_args(annotation) if part is not NoneType)
        kind, choices, _ = _type_of(inner)
        return kind, choices, True
    if get_origin(annotation) is Literal:
        return str, get_args(annotation), False
    return get_origin(annotation) or annotation, (), False
