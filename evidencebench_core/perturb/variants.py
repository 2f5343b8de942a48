"""Other wordings of hypotheses, kept in the store and merged with those the data brings.

In the store a wording is named ``"negation"`` or ``"paraphrase:name"``. Files: `variants_file`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from evidencebench_core.data.packing import unpacked_rest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown
from evidencebench_core.perturb.made_by import MadeBy
from evidencebench_core.perturb.variants_file import NEGATION, PARAPHRASE, Wordings

__all__ = [
    "KEEP_VARIANT",
    "Origin",
    "checked_instances",
    "hypothesis_variants",
    "keep_variants",
    "kept_variants",
    "variant_origins",
]

KEEP_VARIANT: Final = (
    "INSERT INTO hypothesis_variants (dataset_id, instance_id, name, text, source, added_at, made_by)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dataset_id, name, instance_id) DO UPDATE SET"
    " text = excluded.text, source = excluded.source, added_at = excluded.added_at,"
    " made_by = excluded.made_by"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a wording that did not come with the data is from.

    Attributes
    ----------
    source : str
        The file, or how it came otherwise.
    added_at : str
        ISO 8601, UTC.
    made_by : MadeBy
    """

    source: str
    added_at: str
    made_by: MadeBy

    def __str__(self) -> str:
        return str(self.made_by) if self.made_by else self.source


def keep_variants(
    store: Store,
    dataset: str,
    wordings: Mapping[str, Mapping[str, str]],
    source: str,
    made_by: Mapping[str, Mapping[str, MadeBy]] | None = None,
) -> int:
    """Keep wordings beside a dataset, all or none; one of the same name gives way. Returns how many.

    Parameters
    ----------
    wordings, made_by : mapping
        By name of the variant, then by instance id; ``made_by`` for as many as it is known of.
    source : str
        The file that they are from.

    Raises
    ------
    DataError
        If they are for an instance that the dataset does not have.
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(dataset)
    checked_instances(store, dataset, wordings, source)
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    origins = made_by or {}
    rows = [
        (info.id, instance_id, name, text, source, moment, _json(origins.get(name, {}).get(instance_id)))
        for name, texts in wordings.items()
        for instance_id, text in texts.items()
    ]
    with store.write() as db:
        db.executemany(KEEP_VARIANT, rows)
    return len(rows)


def checked_instances(
    store: Store, dataset: str, wordings: Mapping[str, Mapping[str, str]], source: str
) -> tuple[str, ...]:
    """The instances that wordings are for, sorted.

    Raises
    ------
    DataError
        If the dataset does not have one of them.
    """
    wanted = {one for texts in wordings.values() for one in texts}
    strangers = sorted(wanted - set(store.ids(dataset)))
    if strangers:
        raise DataError(
            source,
            f"is about {len(strangers):,} instances that dataset {shown(dataset)} does not have, such as"
            f" {shown(strangers[0])}",
            "Name the dataset that these variants belong to, or leave those instances out.",
        )
    return tuple(sorted(wanted))


def hypothesis_variants(store: Store, dataset: str) -> Wordings:
    """Every wording there is for a dataset, by name of the variant and then by instance id.

    Those that came with the data, and over them those that were added. The negation comes last. Drafts that
    nobody has accepted yet are not among them.

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
    for name, texts in kept_variants(store, dataset).items():
        wordings.setdefault(name, {}).update(texts)
    return {name: wordings[name] for name in sorted(wordings, key=lambda name: (name == NEGATION, name))}


def kept_variants(store: Store, dataset: str) -> Wordings:
    """Those wordings alone that were added: from files, and drafts that were accepted.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    wordings: Wordings = {}
    with store.read() as db:
        added = db.execute(
            "SELECT name, instance_id, text FROM hypothesis_variants WHERE dataset_id = ?"
            " ORDER BY name, instance_id",
            (store.dataset(dataset).id,),
        )
        for name, instance_id, text in added:
            wordings.setdefault(name, {})[instance_id] = text
    return wordings


def variant_origins(store: Store, dataset: str) -> dict[str, dict[str, Origin]]:
    """Where the added wordings are from, by name of the variant and then by instance id.

    Those that came with the data are not in it.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    origins: dict[str, dict[str, Origin]] = {}
    with store.read() as db:
        rows = db.execute(
            "SELECT name, instance_id, source, added_at, made_by FROM hypothesis_variants"
            " WHERE dataset_id = ? ORDER BY name, instance_id",
            (store.dataset(dataset).id,),
        )
        for name, instance_id, source, added_at, made_by in rows:
            origin = Origin(source, added_at, MadeBy.from_json(made_by))
            origins.setdefault(name, {})[instance_id] = origin
    return origins


def _json(made_by: MadeBy | None) -> str:
    return made_by.as_json() if made_by else ""
