"""Item sets: questions with context and gold label, kept in the store under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown

Label = Literal["yes", "no", "maybe"]
Kind = Literal["questions", "pairs"]


@dataclass(frozen=True, slots=True)
class Item:
    """A question with its context and gold label, or a pair of statements."""

    id: str  # unique in its set
    question: str  # of a pair: the first statement
    context: tuple[str, ...] = ()  # its parts
    answer: Label | None = None  # of a pair: whether its statements are alike
    long_answer: tuple[str, ...] = ()  # the reference, then further ones; of a pair: the second statement
    group: str = ""  # what items are clustered by, such as a paper; empty: each item stands for itself
    wordings: Mapping[str, str] = field(default_factory=dict)  # "paraphrase:lexical", and the text "negation"

    @property
    def text(self) -> str:
        """The whole context."""
        return "\n\n".join(self.context)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Item:
        lists = {name: tuple(values.get(name, ())) for name in ("context", "long_answer")}
        return cls(**{**values, **lists})


@dataclass(frozen=True, slots=True)
class ItemSetInfo:
    """An item set without its items; ``sha256`` is of the content, which is what runs are about."""

    name: str
    sha256: str
    kind: Kind
    source: str
    n_items: int
    added_at: str  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items under a name."""

    name: str
    sha256: str
    items: tuple[Item, ...]
    kind: Kind = "questions"

    def __hash__(self) -> int:
        return hash(self.sha256)


ITEM_SETS: Final = NamedSets(
    "item_sets",
    "item set",
    ("name", "sha256", "kind", "source", "n_items", "added_at"),
    ItemSetInfo,
    "There is none yet: ingest a file of items first.",
)


def new_item_set(name: str, items: Sequence[Item], kind: Kind = "questions") -> ItemSet:
    """An item set that is not in a store yet; `DataError` if it has no items, or two of one id."""
    place = f"item set {shown(name)}"
    if not items:
        raise DataError(place, "has no items", "Give it at least one.")
    seen = set[str]()
    for item in items:
        if item.id in seen:
            problem = f"has the id {shown(item.id)} more than once"
            raise DataError(place, problem, "Give every item its own id.")
        seen.add(item.id)
    return ItemSet(name, digest([kind, [_plain(item) for item in items]]), tuple(items), kind)


def _plain(item: Item) -> dict[str, Any]:
    return {name: value for name, value in asdict(item).items() if value}


def add_items(
    store: Store, name: str, items: Sequence[Item], kind: Kind = "questions", source: str = ""
) -> ItemSetInfo:
    """Keep items under a name; where the store has the same items, maybe under another name, that set."""
    added = new_item_set(name, items, kind)
    values = {"kind": kind, "source": source, "n_items": len(items)}
    return ITEM_SETS.add(store, name, added.sha256, [_plain(item) for item in items], values)


def item_sets(store: Store) -> tuple[ItemSetInfo, ...]:
    """All item sets, in the order in which they came."""
    return ITEM_SETS.all(store)


def item_set(store: Store, name: str) -> ItemSet:
    """An item set of the store; `UnknownNameError` where there is none of that name."""
    info = ITEM_SETS.named(store, name)
    items = tuple(Item.from_dict(values) for values in ITEM_SETS.body(store, info))
    return ItemSet(info.name, info.sha256, items, info.kind)


def delete_item_set(store: Store, name: str) -> None:
    """Delete an item set with its runs; stored answers of language models stay, and are found again."""
    with store.write() as db:
        sha256 = ITEM_SETS.named(store, name).sha256
        db.execute("DELETE FROM runs WHERE subject = ?", (sha256,))
        db.execute("DELETE FROM item_sets WHERE sha256 = ?", (sha256,))
