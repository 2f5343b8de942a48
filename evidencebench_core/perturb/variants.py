"""Other wordings of hypotheses: read from a file, kept in the store, merged with those the data brings.

A file is one JSON object, ``{"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}``;
each instance has at least one of the two keys, and may say under ``made_by`` what made them. In the store
a wording is named ``"negation"`` or ``"paraphrase:name"``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn

from evidencebench_core.data.packing import unpacked_rest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown

__all__ = ["NEGATION", "PARAPHRASE", "hypothesis_variants", "keep_variants", "variants_from"]

NEGATION: Final = "negation"
PARAPHRASE: Final = "paraphrase:"

_MAX_CHARS = 5000
_REMEDY = 'A variants file is {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.'

Wordings = dict[str, dict[str, str]]  # by the variant's name, by instance id


def variants_from(path: Path) -> Wordings:
    """The wordings of a variants file: by name of the variant, then by instance id.

    Raises
    ------
    DataError
        If the file cannot be read, or anything in it is not as the format says; one line that names it.
    """
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
        value = json.loads(text, object_pairs_hook=unrepeated, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(str(path), f"is not JSON: {error}", _REMEDY) from error
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object with instances", _REMEDY)
    wordings: Wordings = {}
    for instance_id, entry in value.items():
        for name, wording in _entry(f"{path}, {shown(instance_id)}", entry):
            wordings.setdefault(name, {})[instance_id] = wording
    return wordings


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
    if len(text) > _MAX_CHARS or any("\ud800" <= character <= "\udfff" for character in text):
        problem = f"has {len(text):,} characters, or half of a surrogate pair"
        raise DataError(place, problem, f"Give a text of at most {_MAX_CHARS:,} characters.")
    return " ".join(text.split())


def keep_variants(store: Store, dataset: str, wordings: Mapping[str, Mapping[str, str]], source: str) -> int:
    """Keep wordings beside a dataset, all or none; one of the same name gives way. Returns how many.

    Raises
    ------
    DataError
        If they are for an instance that the dataset does not have.
    UnknownNameError
        If there is no such dataset.
    """
    info, known = store.dataset(dataset), set(store.ids(dataset))
    strangers = sorted({one for texts in wordings.values() for one in texts} - known)
    if strangers:
        raise DataError(
            source,
            f"is about {len(strangers):,} instances that dataset {shown(dataset)} does not have, such as"
            f" {shown(strangers[0])}",
            "Name the dataset that these variants belong to, or leave those instances out.",
        )
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    rows = [
        (info.id, instance_id, name, text, source, moment)
        for name, texts in wordings.items()
        for instance_id, text in texts.items()
    ]
    with store.write() as db:
        db.executemany(
            "INSERT INTO hypothesis_variants (dataset_id, instance_id, name, text, source, added_at)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (dataset_id, name, instance_id) DO UPDATE SET"
            " text = excluded.text, source = excluded.source, added_at = excluded.added_at",
            rows,
        )
    return len(rows)


def hypothesis_variants(store: Store, dataset: str) -> Wordings:
    """Every wording there is for a dataset, by name of the variant and then by instance id.

    Those that came with the data, and over them those that were added. The negation comes last.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(dataset)
    wordings: Wordings = {}
    with store.read() as db:
        bodies = db.execute(
            "SELECT i.instance_id, b.body FROM instances AS i JOIN bodies AS b ON b.instance = i.id"
            " WHERE i.dataset_id = ? ORDER BY i.position",
            (info.id,),
        )
        for instance_id, body in bodies:
            raw = unpacked_rest(body)
            for name, text in (raw.get("hypothesis_paraphrases") or {}).items():
                wordings.setdefault(PARAPHRASE + name, {})[instance_id] = text
            if raw.get("hypothesis_negation"):
                wordings.setdefault(NEGATION, {})[instance_id] = raw["hypothesis_negation"]
        added = db.execute(
            "SELECT name, instance_id, text FROM hypothesis_variants WHERE dataset_id = ?"
            " ORDER BY name, instance_id",
            (info.id,),
        )
        for name, instance_id, text in added:
            wordings.setdefault(name, {})[instance_id] = text
    return {name: wordings[name] for name in sorted(wordings, key=lambda name: (name == NEGATION, name))}
