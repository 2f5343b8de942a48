"""Which other items come into an item's question: examples, distractors, wrong contexts.

Drawn by each item's id, so that they do not depend on which other items are asked about.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.reliability.items import Item
from evidencebench_core.runs.chat import normal_form
from evidencebench_core.words import quantity

ANSWERS = {"Y": "yes", "N": "no"}
MOST_EXAMPLES = 8
_TRIES = 64  # random draws before all items are gone through


def balanced_items(items: Sequence[Item]) -> list[Item]:
    """The first items of each class, as many as the smaller one has: all yes, then all no."""
    classes = [[item for item in items if item.answer == answer] for answer in ("yes", "no")]
    size = min(len(members) for members in classes)
    return classes[0][:size] + classes[1][:size]


def drawn_examples(items: Sequence[Item], orders: Sequence[str], seed: int) -> list[dict[str, list[Item]]]:
    """For each item the examples with the answers Y and N, as many as an order needs, always the same ones first.

    None has the item's question, or is of its group.
    """
    classes = {
        letter: [item for item in items if item.answer == answer] for letter, answer in ANSWERS.items()
    }
    questions = {item.id: normal_form(item.question) for item in items}
    drawn = []
    for item in items:
        rng = _rng("few-shot", seed, item)
        examples = {}
        for letter, members in classes.items():
            others = [
                other
                for other in members
                if questions[other.id] != questions[item.id] and _is_apart(item, other)
            ]
            examples[letter] = rng.sample(others, min(MOST_EXAMPLES, len(others)))
            most = max(order.count(letter) for order in orders)
            if len(others) < most:
                problem = f"has {quantity(len(others), 'example')} with the answer {ANSWERS[letter]} to show with item"
                remedy = f"An order needs {most}: add items, or choose orders with fewer."
                raise SettingError("the item set", f"{problem} {shown(item.id)}", remedy)
        drawn.append(examples)
    return drawn


def drawn_others(items: Sequence[Item], n: int, seed: int, purpose: str) -> list[list[Item]]:
    """For each item others with contexts of their own; the first ones are the same for a larger number."""
    texts = {item.id: normal_form(item.text) for item in items}
    drawn = []
    for item in items:
        chosen, seen = list[Item](), {texts[item.id]}
        for other in _candidates(items, n, _rng(purpose, seed, item)):
            if len(chosen) == n:
                break
            if texts[other.id] not in seen and _is_apart(item, other):
                chosen.append(other)
                seen.add(texts[other.id])
        if len(chosen) < n:
            problem = f"has {quantity(len(chosen), 'context')} other than that of item {shown(item.id)}"
            remedy = f"It needs {n}: add items, or ask for fewer."
            raise SettingError("the item set", problem, remedy)
        drawn.append(chosen)
    return drawn


def _candidates(items: Sequence[Item], n: int, rng: random.Random) -> Iterator[Item]:
    for _ in range(_TRIES * (n + 1)):
        yield items[rng.randrange(len(items))]
    yield from rng.sample(items, len(items))


def _rng(purpose: str, seed: int, item: Item) -> random.Random:
    return random.Random(f"{purpose} {seed} {item.id}")  # noqa: S311 - a reproducible draw, not a secret


def _is_apart(item: Item, other: Item) -> bool:
    """Whether an item is not of another's group, such as the same paper."""
    return not item.group or item.group != other.group
