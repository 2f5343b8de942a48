"""Variants files: other wordings of hypotheses on their way in and out.

A file is one JSON object, ``{"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}``;
each instance has at least one of the two keys. Under ``made_by`` it may say of each wording what made it and
who read it, by the wording's name in the store: ``{"negation": {"model": "...", "prompt": "...", "made_at":
"...", "reviewer": "...", "reviewed_at": "...", "edited": true}, "paraphrase:name": {...}}``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.perturb.made_by import MadeBy

__all__ = [
    "LONGEST_WORDING",
    "NEGATION",
    "PARAPHRASE",
    "VariantsFile",
    "Wordings",
    "variants_document",
    "variants_file",
    "variants_from",
    "write_variants",
]

NEGATION: Final = "negation"
PARAPHRASE: Final = "paraphrase:"
LONGEST_WORDING: Final = 5_000  # characters

_REMEDY = 'A variants file is {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.'

Wordings = dict[str, dict[str, str]]
"""By the variant's name, by instance id."""


@dataclass(frozen=True, slots=True)
class VariantsFile:
    """What a file says.

    Attributes
    ----------
    wordings : mapping
        By name of the variant, then by instance id.
    made_by : mapping
        The same keys, for those wordings of which the file says who made them.
    """

    wordings: Wordings
    made_by: dict[str, dict[str, MadeBy]] = field(default_factory=dict)

    @property
    def n_unreviewed(self) -> int:
        """Wordings that a model made and nobody has accepted."""
        return sum(one.needs_review for origins in self.made_by.values() for one in origins.values())


def variants_from(path: Path) -> Wordings:
    """The wordings of a variants file: by name of the variant, then by instance id.

    Raises
    ------
    DataError
        As `variants_file`.
    """
    return variants_file(path).wordings


def variants_file(path: Path) -> VariantsFile:
    """A variants file with what it says of the origin of its wordings.

    Raises
    ------
    DataError
        If the file cannot be read, or anything in it is not as the format says; one line that names it.
    """
    value = _loaded(path)
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object with instances", _REMEDY)
    wordings: Wordings = {}
    made_by: dict[str, dict[str, MadeBy]] = {}
    for instance_id, entry in value.items():
        for name, wording in _entry(f"{path}, {shown(instance_id)}", entry):
            wordings.setdefault(name, {})[instance_id] = wording
            if origin := _origin(entry.get("made_by"), name):
                made_by.setdefault(name, {})[instance_id] = origin
    return VariantsFile(wordings, made_by)


def variants_document(
    wordings: Mapping[str, Mapping[str, str]], made_by: Mapping[str, Mapping[str, MadeBy]] | None = None
) -> dict[str, dict[str, Any]]:
    """What a file holds for these wordings, by instance id; `variants_file` reads it back.

    Parameters
    ----------
    wordings, made_by : mapping
        By name of the variant, then by instance id.
    """
    entries: dict[str, dict[str, Any]] = {}
    for name, texts in wordings.items():
        for instance_id, text in texts.items():
            entry = entries.setdefault(instance_id, {})
            if name == NEGATION:
                entry["negation"] = text
            else:
                entry.setdefault("paraphrases", {})[name.removeprefix(PARAPHRASE)] = text
            origin = ((made_by or {}).get(name) or {}).get(instance_id)
            if origin:
                entry.setdefault("made_by", {})[name] = origin.as_dict()
    return dict(sorted(entries.items()))


def write_variants(path: Path, entries: Mapping[str, object]) -> None:
    """Write a variants file, whole or not at all.

    Raises
    ------
    SettingError
        If it cannot be written.
    """
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(entries, stream, indent=1, ensure_ascii=True)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise SettingError(
            str(path), f"cannot be written: {error.strerror or error}", "Name another file."
        ) from error


def _loaded(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _REMEDY) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise DataError(str(path), problem, "Name a file that can be read.") from error

    def unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DataError(str(path), f"has the key {shown(key)} more than once", "Keep one of them.")
            seen.add(key)
        return dict(pairs)

    def no_number(name: str) -> NoReturn:
        raise DataError(str(path), f"holds {name}, which is not JSON", _REMEDY)

    try:
        value: object = json.loads(text, object_pairs_hook=unrepeated, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(str(path), f"is not JSON: {error}", _REMEDY) from error
    return value


def _entry(place: str, entry: object) -> Iterator[tuple[str, str]]:
    if not isinstance(entry, dict) or not entry:
        raise DataError(place, f"is {shown(entry)}, not an object with paraphrases or a negation", _REMEDY)
    for key in entry:
        if key not in {"paraphrases", "negation", "made_by"}:
            raise DataError(place, f"has the key {shown(key)}", _REMEDY)
    paraphrases = entry.get("paraphrases", {})
    if not isinstance(paraphrases, dict):
        raise DataError(f"{place}, paraphrases", f"is {shown(paraphrases)}, not an object", _REMEDY)
    for name, text in paraphrases.items():
        if not name.strip() or not name.isprintable():
            raise DataError(f"{place}, paraphrases", f"has the name {shown(name)}", "Give it a name.")
        yield PARAPHRASE + name, _wording(f"{place}, paraphrase {shown(name)}", text)
    if "negation" in entry:
        yield NEGATION, _wording(f"{place}, negation", entry["negation"])


def _wording(place: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise DataError(place, f"is {shown(text)}, not a text", "Give the hypothesis in other words.")
    if len(text) > LONGEST_WORDING or any("\ud800" <= character <= "\udfff" for character in text):
        problem = f"has {len(text):,} characters, or half of a surrogate pair"
        raise DataError(place, problem, f"Give a text of at most {LONGEST_WORDING:,} characters.")
    return " ".join(text.split())


def _origin(said: object, name: str) -> MadeBy:
    """What an entry's ``made_by`` says of one wording.

    The first files of ``make-variants`` said it of the instance: ``{"model": "...", "negation": "prompt"}``.
    """
    if not isinstance(said, dict):
        return MadeBy()
    if isinstance(said.get("model"), str):
        kind = NEGATION if name == NEGATION else PARAPHRASE.rstrip(":")
        return MadeBy.from_dict({"model": said["model"], "prompt": said.get(kind)})
    own = said.get(name)
    return MadeBy.from_dict(own) if isinstance(own, dict) else MadeBy()
