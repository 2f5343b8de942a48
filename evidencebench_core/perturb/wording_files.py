"""Variants files: other wordings of hypotheses on their way in and out.

A file is one JSON object, ``{"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}``;
each instance has at least one of the two keys. Under ``made_by`` it may say of each wording what made it and
who read it, by the wording's name in the store: ``{"negation": {"model": "...", "prompt": "...", "made_at":
"...", "reviewer": "...", "reviewed_at": "...", "edited": true}, "paraphrase:name": {...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evidencebench_core.data.files import whole_file
from evidencebench_core.data.strict_json import json_value
from evidencebench_core.errors import DataError, shown
from evidencebench_core.perturb.wordings import (
    LONGEST_WORDING,
    NEGATION,
    PARAPHRASE,
    MadeBy,
    Wording,
    Wordings,
)

_REMEDY: Final = (
    'A variants file is {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.'
)


def read_wordings(path: Path) -> dict[str, dict[str, Wording]]:
    """The wordings of a variants file, by name, then by instance id.

    Raises
    ------
    DataError
        If the file cannot be read, or anything in it is not as the format says; one line that names it.
    """
    value = json_value(path, _REMEDY)
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object with instances", _REMEDY)
    wordings: dict[str, dict[str, Wording]] = {}
    for instance_id, entry in value.items():
        for name, text in _entry(f"{path}, {shown(instance_id)}", entry):
            made_by = _made_by(entry.get("made_by"), name)
            wordings.setdefault(name, {})[instance_id] = Wording(text, made_by)
    return wordings


def wordings_document(wordings: Wordings) -> dict[str, dict[str, Any]]:
    """The content of a file of these wordings, by instance id; `read_wordings` reads it back."""
    entries: dict[str, dict[str, Any]] = {}
    for name, by_id in wordings.items():
        for instance_id, wording in by_id.items():
            entry = entries.setdefault(instance_id, {})
            if name == NEGATION:
                entry["negation"] = wording.text
            else:
                entry.setdefault("paraphrases", {})[name.removeprefix(PARAPHRASE)] = wording.text
            if wording.made_by:
                entry.setdefault("made_by", {})[name] = wording.made_by.as_dict()
    return dict(sorted(entries.items()))


def write_wordings(path: Path, wordings: Wordings) -> int:
    """Write a variants file, whole or not at all (`SettingError`); returns how many wordings are in it."""
    with whole_file(path) as stream:
        stream.write(json.dumps(wordings_document(wordings), indent=1).encode())
    return sum(map(len, wordings.values()))


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
        yield PARAPHRASE + name, _text(f"{place}, paraphrase {shown(name)}", text)
    if "negation" in entry:
        yield NEGATION, _text(f"{place}, negation", entry["negation"])


def _text(place: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise DataError(place, f"is {shown(text)}, not a text", "Give the hypothesis in other words.")
    if len(text) > LONGEST_WORDING or any("\ud800" <= character <= "\udfff" for character in text):
        problem = f"has {len(text):,} characters, or half of a surrogate pair"
        raise DataError(place, problem, f"Give a text of at most {LONGEST_WORDING:,} characters.")
    return " ".join(text.split())


def _made_by(said: object, name: str) -> MadeBy:
    """The maker of one wording by its entry's ``made_by``.

    The first files of ``make-variants`` named one for the instance: ``{"model": "...", "negation": "prompt"}``.
    """
    if not isinstance(said, dict):
        return MadeBy()
    if isinstance(said.get("model"), str):
        kind = NEGATION if name == NEGATION else PARAPHRASE.rstrip(":")
        return MadeBy.from_dict({"model": said["model"], "prompt": said.get(kind)})
    own = said.get(name)
    return MadeBy.from_dict(own) if isinstance(own, dict) else MadeBy()
