"""Settings declared as pydantic models: what a run is known by, what ``--set`` takes and what a form asks."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from evidencebench_core.data.primitives import canonical_text
from evidencebench_core.errors import SettingError, did_you_mean, shown

Setting = str | int | float | bool | None | tuple["Setting", ...]

_WORDS: Final[Mapping[type, str]] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    tuple: "names separated by commas",
    dict: 'a JSON object such as {"top_p": 0.9}',
}


def _json_text(value: object) -> object:
    """The canonical text of a JSON object that is not empty."""
    if value is None:
        return None
    given = json.loads(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not given:
        raise ValueError("a JSON object is expected")
    return canonical_text(given)


JsonText = BeforeValidator(_json_text)
"""For ``Annotated[str | None, JsonText]``: a JSON object, kept as its canonical text."""


class Settings(BaseModel):
    """The settings of something, each with its default, bounds and description.

    Values may be given as text: ``"1.2"``, ``"true"``, ``"a,b"`` for a tuple, ``"none"`` where None is allowed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, allow_inf_nan=False)

    @classmethod
    def read(cls, owner: str, given: Mapping[str, object] | None = None) -> Self:
        """The settings of ``owner`` (``"retriever bm25"``), defaults filled in, or `SettingError`."""
        try:
            return cls.model_validate(dict(given or {}))
        except ValidationError as error:
            raise cls._setting_error(owner, error) from error

    def values(self) -> dict[str, Setting]:
        """Every setting by name, in canonical form, fit for JSON."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, values: Mapping[str, object]) -> dict[str, object]:
        read = dict(values)
        for name, value in values.items():
            if isinstance(value, str) and name in cls.model_fields:
                field = _field(cls, name)
                if field.optional and value.strip().lower() == "none":
                    read[name] = None
                elif field.kind is tuple:
                    read[name] = tuple(part.strip() for part in value.split(",") if part.strip())
        return read

    @classmethod
    def _setting_error(cls, owner: str, error: ValidationError) -> SettingError:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if name not in cls.model_fields:
            known = fields_of(cls)
            remedy = names_hint(name, known, "Settings") if known else "It takes no settings."
            return SettingError(owner, f"has no setting {shown(name)}", remedy)
        field = _field(cls, name)
        remedy = f"Give {field.allowed()}." + (f" {field.help}" if field.kind is tuple else "")
        return SettingError(owner, f"cannot take {shown(first['input'])} for {name}", remedy)


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

    def allowed(self) -> str:
        """The values in words: ``"a number from 0 to 1"``."""
        if self.choices:
            return " or ".join(self.choices)
        words = _WORDS[self.kind]
        if self.minimum is None:
            return words
        most = "or more" if self.maximum is None else f"to {self.maximum:g}"
        return f"{words} {'of' if self.maximum is None else 'from'} {self.minimum:g} {most}"


def fields_of(settings: type[Settings]) -> dict[str, SettingField]:
    """The settings by name, in order, as a form or a help text shows them."""
    return {name: _field(settings, name) for name in settings.model_fields}


def _field(settings: type[Settings], name: str) -> SettingField:
    info = settings.model_fields[name]
    kind: Any = info.annotation
    optional = get_origin(kind) in (Union, UnionType)
    if optional:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    kind = str if choices else dict if JsonText in info.metadata else get_origin(kind) or kind
    bounds: dict[str, Any] = {}
    for limit in info.metadata:
        bounds |= {bound: getattr(limit, bound) for bound in ("ge", "le") if hasattr(limit, bound)}
    least, most = bounds.get("ge"), bounds.get("le")
    return SettingField(name, kind, info.default, info.description or "", choices, least, most, optional)


def names_hint(wrong: str, known: Iterable[str], what: str) -> str:
    """``"Did you mean 'k1'? Settings are: k1, b."``, without the question if nothing is near."""
    names = list(known)
    near = did_you_mean(wrong.lower(), names, cutoff=0.5)  # k2 is half of k1
    return f"{near}{what} are: {', '.join(names)}."


# -- settings of any question to a model ----------------------------------------------------------------

Temperature = Annotated[
    float | None, Field(ge=0, le=2, description="Sent where the server takes it; none: the server's own.")
]
ReasoningEffort = Annotated[
    str | None, Field(description="For thinking models whose server takes it: low, medium, high.")
]
ExtraBody = Annotated[
    str | None,
    JsonText,
    Field(
        description='Further fields of the request as a JSON object: {"top_p": 0.9, "chat_template_kwargs": {...}}.'
    ),
]


class RequestSettings(Settings):
    """Settings of a question to a model, but the model."""

    temperature: Temperature = 0.0
    reasoning_effort: ReasoningEffort = None
    extra_body: ExtraBody = None
    max_tokens: int = Field(4096, ge=1, description="Most tokens of an answer, thoughts included.")


def parameters_of(model: str | None, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request with such settings, but the messages."""
    return {
        "model": model,
        "temperature": request["temperature"],
        "max_tokens": request["max_tokens"],
        "reasoning_effort": request["reasoning_effort"],
        **json.loads(request["extra_body"] or "{}"),
    }
