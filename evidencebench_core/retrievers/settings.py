"""What a retriever can be told, and how a value becomes the one canonical form of itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NoReturn

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers.base import Setting

__all__ = ["SettingSpec", "coerced", "names_hint"]

_BOOLS: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_KINDS: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting of a retriever.

    Attributes
    ----------
    default : Setting
        Used where nothing is said; if it is ``None``, ``None`` and ``"none"`` are values too.
    kind : type
        ``int``, ``float``, ``bool``, ``str`` or ``tuple`` (of texts; written ``a,b``).
    help : str
        One sentence for a command's help and the app's tooltip.
    choices : tuple of str, optional
        The only values (for a tuple: the only elements).
    minimum, maximum : float, optional
        Bounds of a number, both allowed themselves.
    derived : bool
        Filled in by the retriever itself (the version of a prompt, say), so that a run's settings tell it;
        nobody is asked for it, and labels leave it out.
    """

    default: Setting
    kind: type
    help: str
    choices: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    derived: bool = False

    def coerced(self, value: object, owner: str, name: str) -> Setting:
        """The value in canonical form: of `kind`, within bounds, ``"1.2"`` read as ``1.2``.

        Parameters
        ----------
        value : object
            A Python value, or text as in ``--set name=value``.
        owner, name : str
            Retriever and setting, for the message.

        Raises
        ------
        SettingError
            If the value is not of the kind, not among the choices or out of bounds.
        """
        text = value.strip() if isinstance(value, str) else value
        if self.default is None and (text is None or (isinstance(text, str) and text.lower() == "none")):
            return None
        plain = self._plain(text)
        if plain is None:
            self._refuse(owner, name, value, f"Give {self.allowed()}.")
        if isinstance(plain, int | float) and not isinstance(plain, bool) and not self._in_bounds(plain):
            self._refuse(owner, name, value, f"Give {self.allowed()}.")
        if self.choices is not None:
            for chosen in plain if isinstance(plain, tuple) else (plain,):
                if chosen not in self.choices:
                    self._refuse(owner, name, chosen, names_hint(str(chosen), self.choices, "Choices"))
        return plain

    def allowed(self) -> str:
        """What may be given, in words: ``"a number from 0 to 1"``."""
        if self.kind is tuple:
            return "names separated by commas"
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

    def _plain(self, value: object) -> Setting:
        """The value as `kind`, or ``None`` if it is nothing of the kind."""
        if self.kind is bool:
            return _bool_of(value)
        if self.kind is int:
            return _int_of(value)
        if self.kind is float:
            return _float_of(value)
        if self.kind is tuple:
            return _names_of(value)
        return value if isinstance(value, str) and value else None

    def _in_bounds(self, number: float) -> bool:
        return (self.minimum is None or number >= self.minimum) and (
            self.maximum is None or number <= self.maximum
        )

    def _refuse(self, owner: str, name: str, value: object, remedy: str) -> NoReturn:
        raise SettingError(f"retriever {owner}", f"{name} cannot be {shown(value)}", remedy)


def coerced(
    owner: str, specs: Mapping[str, SettingSpec], settings: Mapping[str, object]
) -> dict[str, Setting]:
    """All settings of a retriever in the order of its specs, defaults filled in.

    Raises
    ------
    SettingError
        For a setting that the retriever does not have, or a value that it cannot take.
    """
    for name in settings:
        if name not in specs:
            remedy = names_hint(name, specs, "Settings") if specs else "It takes no settings."
            raise SettingError(f"retriever {owner}", f"there is no setting {shown(name)}", remedy)
    return {
        name: spec.coerced(settings[name], owner, name) if name in settings else spec.default
        for name, spec in specs.items()
    }


def names_hint(wrong: str, known: Iterable[str], what: str) -> str:
    """``"Did you mean k1? Settings are: k1, b."``, without the question if nothing is near."""
    names = list(known)
    near = get_close_matches(wrong.lower(), names, n=1, cutoff=0.5)  # k2 is half of k1
    question = f"Did you mean {near[0]}? " if near else ""
    return f"{question}{what} are: {', '.join(names)}."


def _bool_of(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    text = value.lower() if isinstance(value, str) else None
    return None if text is None else _BOOLS.get(text)


def _int_of(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if not isinstance(value, int | str):
        return None
    try:
        return int(value)
    except ValueError:  # not digits, or thousands of them
        return None


def _float_of(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number + 0.0 if math.isfinite(number) else None  # -0.0 becomes 0.0


def _names_of(value: object) -> tuple[str, ...] | None:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        return None
    names = tuple(part.strip() for part in parts if part.strip())
    return names or None
