"""Item sets: questions with context and gold label, kept in the store under a name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from evidencebench_core.llm.request import json_bytes

Label = Literal["yes", "no", "maybe"]
Kind = Literal["questions", "evidence", "pairs"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


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


def new_item_set(name: str, items: Sequence[Item], kind: Kind = "questions", source: str = "") -> ItemSet:
    """An item set that is not in a store yet."""
    content = json_bytes([kind, [item.as_dict() for item in items]])
    return ItemSet(name, hashlib.sha256(content).hexdigest(), tuple(items), kind, source)
