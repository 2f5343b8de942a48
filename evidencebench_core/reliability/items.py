"""Item sets: questions with context and gold label, kept in the store under a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.dataclasses import dataclass as validated

from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown

Label = Literal["yes", "no", "maybe"]
Kind = Literal["questions", "pairs"]
_SIMILAR: Final = {"1": "yes", "true": "yes", "0": "no", "false": "no"}


def _gold_label(value: object) -> object:
    text = "" if value is None else str(value).strip().casefold()
    return _SIMILAR.get(text, text) or None


def _text_tuple(value: object) -> object:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    return (value,) if isinstance(value, str) else value


Text = Annotated[str, Field(pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_text_tuple)]


@validated(frozen=True, config=ConfigDict(coerce_numbers_to_str=True))
class Item:
    """A question with its context and gold label, or a pair of statements."""

    id: Annotated[Text, StringConstraints(strip_whitespace=True)]  # unique in its set
    question: Text  # of a pair: the first statement
    context: Texts = ()  # its paragraphs
    answer: Annotated[Label | None, BeforeValidator(_gold_label)] = (
        None  # of a pair: whether its statements are alike
    )
    long_answer: Texts = ()  # the reference, then further ones; of a pair: the second statement
    group: Annotated[str, BeforeValidator(lambda value: str(value or "").strip())] = ""
    """What items are clustered by, such as a paper; empty: each item stands for itself."""
    wordings: Mapping[str, str] = field(default_factory=dict)  # "paraphrase:lexical", and the text "negation"

    @property
    def text(self) -> str:
        """The whole context."""
        return "\n\n".join(self.context)


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
    """An item set that is not stored yet; `DataError` if it has no items, or two with one id."""
    place = f"item set {shown(name)}"
    if not items:
        raise DataError(place, "has no items", "Give it at least one.")
    (item_id, n), *_ = Counter(item.id for item in items).most_common(1)
    if n > 1:
        raise DataError(place, f"has the id {shown(item_id)} more than once", "Give every item its own id.")
    return ItemSet(name, digest([kind, [_item_values(item) for item in items]]), tuple(items), kind)


def _item_values(item: Item) -> dict[str, Any]:
    return {name: value for name, value in asdict(item).items() if value}


def add_items(
    store: Store, name: str, items: Sequence[Item], kind: Kind = "questions", source: str = ""
) -> ItemSetInfo:
    """Store items under a name; if the store has the same items under any name, that set is returned."""
    added = new_item_set(name, items, kind)
    values = {"kind": kind, "source": source, "n_items": len(items)}
    return ITEM_SETS.add(store, name, added.sha256, [_item_values(item) for item in items], values)


def item_set(store: Store, name: str) -> ItemSet:
    """The item set of this name; `UnknownNameError` if there is none."""
    info = ITEM_SETS.named(store, name)
    items = tuple(Item(**values) for values in ITEM_SETS.body(store, info))
    return ItemSet(info.name, info.sha256, items, info.kind)
