"""Other wordings of hypotheses: who made each, and those beside a dataset, from its data and added since.

A wording is named ``"negation"`` or ``"paraphrase:name"``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Final

from evidencebench_core.data.packing import unpacked_rest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown

NEGATION: Final = "negation"
PARAPHRASE: Final = "paraphrase:"
LONGEST_WORDING: Final = 5_000  # characters
SET_WORDING: Final = (
    "INSERT INTO hypothesis_variants (dataset_id, instance_id, name, text, source, added_at, made_by)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dataset_id, name, instance_id) DO UPDATE SET"
    " text = excluded.text, source = excluded.source, added_at = excluded.added_at,"
    " made_by = excluded.made_by"
)
_LONGEST_FIELD: Final = 500


@dataclass(frozen=True, slots=True)
class MadeBy:
    """Who made a wording and who read it since; empty where it is not known."""

    model: str = ""  # as the server calls it
    prompt: str = ""  # name and version: "negation 1-3fa9c2d1"
    made_at: str = ""  # ISO 8601, UTC
    reviewer: str = (
        ""  # who accepted it; a wording with a model and without a reviewer was read by nobody yet
    )
    reviewed_at: str = ""
    edited: bool = False  # whether the reviewer changed the model's words
    checked_by: str = ""  # another model that has found no fault

    def __bool__(self) -> bool:
        return bool(self.model or self.prompt or self.reviewer)

    @property
    def needs_review(self) -> bool:
        """Whether a model made it and nobody has accepted it."""
        return bool(self.model) and not self.reviewer

    def as_dict(self) -> dict[str, str | bool]:
        """JSON-able values of what is known."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> MadeBy:
        """The inverse of `as_dict`; anything else in the mapping is ignored."""
        names = [field.name for field in fields(cls) if field.name != "edited"]
        texts = {name: text[:_LONGEST_FIELD] for name in names if isinstance(text := values.get(name), str)}
        return cls(**texts, edited=values.get("edited") is True)

    def as_json(self) -> str:
        """As the store has it; ``""`` if nothing is known."""
        return json.dumps(self.as_dict()) if self else ""

    @classmethod
    def from_json(cls, text: str) -> MadeBy:
        return cls.from_dict(json.loads(text)) if text else cls()

    def __str__(self) -> str:
        """``"gpt-x, negation 1-3fa9c2d1, 2026-01-31; accepted and edited by Ana, 2026-02-01"``."""
        checked = f"checked by {self.checked_by}" if self.checked_by else ""
        made = ", ".join(filter(None, (self.model, self.prompt, self.made_at[:10], checked)))
        if not self.reviewer:
            return f"{made}; not reviewed" if self.model else made
        how = "accepted and edited" if self.edited else "accepted"
        read = ", ".join(filter(None, (f"{how} by {self.reviewer}", self.reviewed_at[:10])))
        return "; ".join(filter(None, (made, read)))


UNKNOWN: Final = MadeBy()


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording that did not come with the data."""

    text: str
    made_by: MadeBy = UNKNOWN
    source: str = ""  # the file, or how it came otherwise; empty before it is added

    @property
    def origin(self) -> str:
        """Who made it, else where it is from."""
        return str(self.made_by) if self.made_by else self.source


Wordings = Mapping[str, Mapping[str, Wording]]
"""By the wording's name, by instance id."""


def wording_problem(original: str, text: str, mark: str = "HYPOTHESIS") -> str:
    """The objection to a text as another wording, whoever wrote it; empty if there is none.

    A model's answer has it behind the ``mark``.
    """
    if not text:
        return f"the answer has no line {mark}:"
    if len(text) > max(LONGEST_WORDING, 3 * len(original)):
        return f"the wording has {len(text):,} characters"
    if not text.replace("\n", "").isprintable():
        return "the wording has characters that cannot be printed"
    if " ".join(text.split()).casefold().rstrip(".") == " ".join(original.split()).casefold().rstrip("."):
        return "the wording is the original"
    return ""


def add_wordings(store: Store, dataset: str, wordings: Wordings, source: str) -> int:
    """Keep wordings beside a dataset, all or none; one of the same name gives way. Returns how many.

    Raises
    ------
    DataError
        If they are for an instance that the dataset does not have; `source`, their file, is named.
    UnknownNameError
        If there is no such dataset.
    """
    check_instances(store, dataset, wordings, source)
    key, moment = store.dataset(dataset).id, datetime.now(UTC).isoformat(timespec="milliseconds")
    rows = [
        (key, instance_id, name, wording.text, source, moment, wording.made_by.as_json())
        for name, by_id in wordings.items()
        for instance_id, wording in by_id.items()
    ]
    with store.write() as db:
        db.executemany(SET_WORDING, rows)
    return len(rows)


def check_instances(store: Store, dataset: str, wordings: Wordings, source: str) -> None:
    """Raise `DataError` if wordings are for an instance that the dataset does not have."""
    strangers = sorted({one for by_id in wordings.values() for one in by_id} - set(store.ids(dataset)))
    if strangers:
        problem = (
            f"is about {len(strangers):,} instances that dataset {shown(dataset)} does not have, such as"
        )
        remedy = "Name the dataset that these variants belong to, or leave those instances out."
        raise DataError(source, f"{problem} {shown(strangers[0])}", remedy)


def hypothesis_variants(store: Store, dataset: str) -> dict[str, dict[str, str]]:
    """Every text there is for a dataset, by the wording's name and then by instance id.

    Those that came with the data, and over them those that were added. The negation comes last. Drafts that
    nobody has accepted yet are not among them.
    """
    texts: dict[str, dict[str, str]] = {}
    with store.read() as db:
        bodies = db.execute(
            "SELECT i.instance_id, b.body FROM instances AS i JOIN bodies AS b ON b.instance = i.id"
            " WHERE i.dataset_id = ? ORDER BY i.position",
            (store.dataset(dataset).id,),
        )
        for instance_id, body in bodies:
            raw = unpacked_rest(body)
            for name, text in (raw.get("hypothesis_paraphrases") or {}).items():
                texts.setdefault(PARAPHRASE + name, {})[instance_id] = text
            if raw.get("hypothesis_negation"):
                texts.setdefault(NEGATION, {})[instance_id] = raw["hypothesis_negation"]
    for name, by_id in added_wordings(store, dataset).items():
        texts.setdefault(name, {}).update({one: wording.text for one, wording in by_id.items()})
    return {name: texts[name] for name in sorted(texts, key=lambda name: (name == NEGATION, name))}


def added_wordings(store: Store, dataset: str) -> dict[str, dict[str, Wording]]:
    """Those wordings alone that were added, from files or as accepted drafts, by name and instance id."""
    wordings: dict[str, dict[str, Wording]] = {}
    with store.read() as db:
        rows = db.execute(
            "SELECT name, instance_id, text, made_by, source FROM hypothesis_variants"
            " WHERE dataset_id = ? ORDER BY name, instance_id",
            (store.dataset(dataset).id,),
        )
        for name, instance_id, text, made_by, source in rows:
            wordings.setdefault(name, {})[instance_id] = Wording(text, MadeBy.from_json(made_by), source)
    return wordings
