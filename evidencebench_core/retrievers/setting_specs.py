"""Settings as specifications, until reliability, answers and runs declare theirs as `Settings`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from evidencebench_core.data.strict_json import unique_keys
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.retrievers.base import Setting

_BOOLS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_KINDS: Final = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    dict: 'a JSON object such as {"top_p": 0.9}',
    tuple: "names separated by commas",
}


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting of a retriever.

    Attributes
    ----------
    default : Setting
        Used where nothing is said; if it is ``None``, ``None`` and ``"none"`` are values too.
    kind : type
        ``int``, ``float``, ``bool``, ``str``, ``tuple`` (of texts; written ``a,b``) or ``dict`` (a JSON object,
        kept as its canonical text).
    help : str
        One sentence for a command's help and the app's tooltip.
    choices : tuple of str, optional
        The only values (for a tuple: the only elements).
    minimum, maximum : float, optional
        Bounds of a number, both allowed themselves.
    derived : bool
        Filled in by the retriever itself (the version of a prompt, say), so that a run's settings tell it;
        nobody is asked for it, and labels leave it out.
    optional : bool
        ``None`` and ``"none"`` are values too; always so where ``None`` is the default.
    """

    default: Setting
    kind: type
    help: str
    choices: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    derived: bool = False
    optional: bool = False

    def __post_init__(self) -> None:
        if self.default is None:
            object.__setattr__(self, "optional", True)

    @property
    def is_free(self) -> bool:
        """Whether any text may stand there, the name of a file among them."""
        return self.kind in (str, tuple, dict) and self.choices is None and not self.derived

    def canonical(self, value: object, owner: str, name: str) -> Setting:
        """The value in canonical form: of `kind`, within bounds, ``"1.2"`` read as ``1.2``.

        ``owner`` (``"retriever bm25"``) and ``name`` of the setting are for the message.

        Raises
        ------
        SettingError
            If the value is not of the kind, not among the choices or out of bounds.
        """
        text = value.strip() if isinstance(value, str) else value
        if self.optional and (text is None or (isinstance(text, str) and text.lower() == "none")):
            return None
        plain = _of_kind(self.kind, text)
        low, high = self.minimum, self.maximum
        if plain is None or (
            isinstance(plain, int | float)
            and ((low is not None and plain < low) or (high is not None and plain > high))
        ):
            raise SettingError(owner, f"{name} cannot be {shown(value)}", f"Give {self.allowed()}.")
        for choice in plain if isinstance(plain, tuple) else (plain,):
            if self.choices is not None and choice not in self.choices:
                hint = names_hint(str(choice), self.choices, "Choices")
                raise SettingError(owner, f"{name} cannot be {shown(choice)}", hint)
        return plain

    def allowed(self) -> str:
        """The values that may be given, in words: ``"a number from 0 to 1"``."""
        kind = _KINDS[self.kind]
        match self.minimum, self.maximum:
            case None, None:
                return kind
            case low, None:
                return f"{kind} of {low:g} or more"
            case None, high:
                return f"{kind} of {high:g} or less"
            case low, high:
                return f"{kind} from {low:g} to {high:g}"


def canonical_settings(
    owner: str, specs: Mapping[str, SettingSpec], settings: Mapping[str, object]
) -> dict[str, Setting]:
    """All settings of an owner (``"retriever bm25"``) in the order of its specs, defaults filled in."""
    for name in settings:
        if name not in specs:
            remedy = names_hint(name, specs, "Settings") if specs else "It takes no settings."
            raise SettingError(owner, f"there is no setting {shown(name)}", remedy)
    return {
        name: spec.canonical(settings[name], owner, name) if name in settings else spec.default
        for name, spec in specs.items()
    }


def names_hint(wrong: str, known: Iterable[str], what: str) -> str:
    """``"Did you mean 'k1'? Settings are: k1, b."``, without the question if nothing is near."""
    names = list(known)
    near = did_you_mean(wrong.lower(), names, cutoff=0.5)  # k2 is half of k1
    return f"{near}{what} are: {', '.join(names)}."


def _of_kind(kind: type, value: object) -> Setting:
    """The value as one of the kind; ``None`` if it is nothing of the kind."""
    if kind is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            return None
        return tuple(part.strip() for part in parts if part.strip()) or None
    if kind is str:
        return value if isinstance(value, str) and value else None
    if kind is dict:
        return _json_object(value)
    if kind is bool:
        known = _BOOLS.get(value.lower()) if isinstance(value, str) else value
        return known if isinstance(known, bool) else None
    return _number(kind, value)


def _json_object(value: object) -> str | None:
    """The canonical text of a JSON object: sorted names, no spaces."""
    try:
        given = json.loads(value, object_pairs_hook=unique_keys) if isinstance(value, str) else value
        text = json.dumps(given, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return text if isinstance(given, Mapping) and given else None


def _number(kind: type, value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if kind is int and isinstance(value, float) and value % 1:
        return None
    try:
        number: int | float = kind(value)
    except (ValueError, OverflowError):  # no digits, too many, or beyond all floats
        return None
    return number + kind(0) if kind is int or math.isfinite(number) else None  # -0.0 becomes 0.0
