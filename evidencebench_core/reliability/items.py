"""Item sets: questions with context and gold label, kept in the store under a name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import orjson

from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.removal import counted
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown
from evidencebench_core.perturb.wordings import UNKNOWN, MadeBy

Label = Literal["yes", "no", "maybe"]
Kind = Literal["questions", "evidence", "pairs"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_DEPENDENTS: Final = {
    "run": "chat_runs WHERE subject = :sha256",
    "judge's run": "chat_runs WHERE subject IN (SELECT id FROM chat_runs WHERE subject = :sha256)",
    "draft": "item_drafts WHERE item_set_id = (SELECT id FROM item_sets WHERE sha256 = :sha256)",
}


@dataclass(frozen=True, slots=True)
class Item:
    """A question with its context and gold label.

    Attributes
    ----------
    id : str
        Unique in its set.
    question : str
        Of a pair of statements: the first. Of evidence: the hypothesis.
    context : tuple of str
        Its parts, joined by a blank line where they are shown (`text`). Of evidence: the sentence.
    answer : "yes", "no", "maybe" or None
        Of a pair: whether its statements are alike. Of evidence: whether the sentence covers a study aspect.
    long_answer : tuple of str
        The reference, then further ones. Of a pair: the second statement.
    group : str
        What items are clustered by, such as a paper; ``""``: each item stands for itself.
    passage : str
        Of evidence: the sentence between its two neighbours; else empty.
    neighbour_covers : bool
        Of evidence: whether one of those neighbours covers a study aspect.
    annotators : mapping of str to Label
        Labels by others than the gold's own author, by name; maybe none.
    wordings : mapping of str to str
        Other wordings that came with the data, by name: ``"paraphrase:lexical"``, ``"negation"``.
    """

    id: str
    question: str
    context: tuple[str, ...] = ()
    answer: Label | None = None
    long_answer: tuple[str, ...] = ()
    group: str = ""
    passage: str = ""
    neighbour_covers: bool = False
    annotators: Mapping[str, Label] = field(default_factory=lambda: MappingProxyType({}))
    wordings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def text(self) -> str:
        """The whole context."""
        return "\n\n".join(self.context)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values of what is not empty."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {name: dict(one) if isinstance(one, Mapping) else one for name, one in values.items()}
        return {name: list(one) if isinstance(one, tuple) else one for name, one in plain.items() if one}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Item:
        """The inverse of `as_dict`."""
        lists = {name: tuple(values.get(name, ())) for name in ("context", "long_answer")}
        return cls(**{**values, **lists})


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items under a name.

    Attributes
    ----------
    sha256 : str
        Of the content: what runs are about, whatever the set is called.
    kind : {"questions", "evidence", "pairs"}
        ``evidence``: made of a dataset (`from_evidencebench`); ``pairs``: statements to measure judges on.
    source : str
        The file, dataset or person it came from.
    """

    name: str
    sha256: str
    items: tuple[Item, ...]
    kind: Kind = "questions"
    source: str = ""
    added_at: str = ""  # ISO 8601, UTC; empty before it is in a store

    def __hash__(self) -> int:
        return hash(self.sha256)


@dataclass(frozen=True, slots=True)
class ItemSetInfo:
    """An item set without its items."""

    name: str
    sha256: str
    kind: Kind
    source: str
    n_items: int
    added_at: str


@dataclass(frozen=True, slots=True)
class ItemWording:
    """Another wording of an item: of its question (``"paraphrase:..."``), or its context turned round (``"negation"``).

    Of evidence both are of the hypothesis.
    """

    name: str
    text: str
    made_by: MadeBy = UNKNOWN
    reviewed: bool = True


ItemWordings = Mapping[str, tuple[ItemWording, ...]]
"""By item id."""


def new_item_set(name: str, items: Sequence[Item], kind: Kind = "questions", source: str = "") -> ItemSet:
    """An item set that is not in a store yet.

    `DataError` if there are no items, two have one id, or a text holds half of a surrogate pair.
    """
    place = f"item set {shown(name)}"
    if not items:
        raise DataError(place, "has no items", "Give it at least one.")
    seen = set[str]()
    for item in items:
        if item.id in seen:
            raise DataError(
                place, f"has the id {shown(item.id)} more than once", "Give every item its own id."
            )
        seen.add(item.id)
    try:
        content = orjson.dumps([kind, [item.as_dict() for item in items]], option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise DataError(
            place, f"has a text that cannot be stored ({error})", "Write it as valid UTF-8."
        ) from error
    return ItemSet(name, hashlib.sha256(content).hexdigest(), tuple(items), kind, source)


# -- in the store -------------------------------------------------------------------------------

ITEM_SETS: Final = NamedSets(
    "item_sets",
    "item set",
    ("name", "sha256", "kind", "source", "n_items", "added_at"),
    ItemSetInfo,
    "There is none yet: ingest a file of items first.",
)


def add_items(
    store: Store, name: str, items: Sequence[Item], kind: Kind = "questions", source: str = ""
) -> ItemSetInfo:
    """Keep items under a name; where the store has the same items, maybe under another name, that set.

    Raises what `new_item_set` does, and `StoreError` if the name is blank, too long or taken by other items.
    """
    added = new_item_set(name, items, kind, source)
    values = {"kind": kind, "source": source, "n_items": len(items)}
    return ITEM_SETS.add(store, name, added.sha256, [item.as_dict() for item in items], values)


def item_sets(store: Store) -> tuple[ItemSetInfo, ...]:
    """All item sets, in the order in which they came."""
    return ITEM_SETS.all(store)


def item_set_info(store: Store, name: str) -> ItemSetInfo:
    """An item set without its items; `UnknownNameError` where there is none of that name."""
    return ITEM_SETS.named(store, name)


def item_set(store: Store, name: str) -> ItemSet:
    """An item set of the store; `UnknownNameError` where there is none of that name."""
    info = ITEM_SETS.named(store, name)
    items = tuple([Item.from_dict(one) for one in ITEM_SETS.body(store, info)])
    return ItemSet(info.name, info.sha256, items, info.kind, info.source, info.added_at)


def rename_item_set(store: Store, name: str, new: str) -> ItemSetInfo:
    """Give an item set another name, which must be free; its runs stay with it."""
    return ITEM_SETS.rename(store, name, new)


def item_set_dependents(store: Store, name: str) -> dict[str, int]:
    """How many runs and drafts go with an item set, by noun; without zeros."""
    with store.read() as db:
        return counted(db, _DEPENDENTS, {"sha256": item_set_info(store, name).sha256})


def delete_item_set(store: Store, name: str) -> None:
    """Delete an item set with its drafts and runs; stored answers of language models stay, and are found again."""
    from evidencebench_core.runs.chat_runs import (
        delete_runs_about,
    )  # brings numpy, which a list of tasks needs not

    with store.write() as db:
        sha256 = item_set_info(store, name).sha256
        delete_runs_about(db, sha256)
        db.execute("DELETE FROM item_sets WHERE sha256 = ?", (sha256,))
