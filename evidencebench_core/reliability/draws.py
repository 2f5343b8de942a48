"""Which other items come into an item's probe: examples, distractors, wrong contexts; seeded, ours and RAmBLA's own.

RAmBLA's are numpy's legacy generator as its code uses it; ours are drawn by each item's id, so that they do not depend
on which other items are asked about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.reliability.items import Item
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.words import quantity

_MOST_EXAMPLES = 8
_TRIES = 64  # draws an item before all others are gone through

# -- as published ---------------------------------------------------------------------------------


def published_shifts(n_items: int, seed: int) -> tuple[int, int]:
    """By how many places, to the front and round the end, the contexts before and after an item's own stand."""
    if n_items < 4:
        raise _too_few(f"has {quantity(n_items, 'item')}", "As published it needs at least 4.")
    first, _, last = np.random.RandomState(seed).choice(np.arange(1, n_items), 3, replace=False).tolist()
    return first, last


def published_shuffle(items: Sequence[Item], seed: int) -> list[Item]:
    """The items whose contexts are shown; it may be an item's own."""
    _check_contexts(items)
    return [items[place] for place in np.random.RandomState(seed).permutation(len(items)).tolist()]


def published_examples(
    tested: Sequence[Item], pool: Sequence[Item], orders: Sequence[str], seed: int
) -> Iterator[list[list[Item]]]:
    """For each order the examples of each tested item; orders with the same counts have the same ones."""
    classes = {
        letter: [item for item in pool if item.answer == answer] for letter, answer in _ANSWERS.items()
    }
    for order in orders:
        rng, examples = np.random.RandomState(seed), []
        for item in tested:
            drawn = {}
            for letter in _ANSWERS:  # a class of which none is wanted uses up numbers too
                others = [one for one in classes[letter] if one.question != item.question]
                n_wanted = order.count(letter)
                _check_examples(item, letter, n_wanted, len(others))
                places = rng.choice(len(others), n_wanted, replace=False).tolist() if others else ()
                drawn[letter] = iter([others[place] for place in places])
            examples.append([next(drawn[letter]) for letter in order])
        yield examples


# -- ours -----------------------------------------------------------------------------------------


def drawn_examples(
    tested: Sequence[Item], pool: Sequence[Item], orders: Sequence[str], seed: int
) -> Iterator[list[list[Item]]]:
    """For each order the examples of each tested item: of a class always the same ones, as many as the order needs.

    None has the item's question, or is of its group.
    """
    questions = {item.id: normal_form(item.question) for item in pool}
    classes = {
        letter: [item for item in pool if item.answer == answer] for letter, answer in _ANSWERS.items()
    }
    drawn = []
    for item in tested:
        rng, question = _rng("few-shot", seed, item), normal_form(item.question)
        of = {}
        for letter, members in classes.items():
            others = [one for one in members if questions[one.id] != question and _is_apart(item, one)]
            of[letter] = rng.sample(others, min(_MOST_EXAMPLES, len(others)))
            _check_examples(item, letter, max(order.count(letter) for order in orders), len(others))
        drawn.append(of)
    for order in orders:
        examples = ({letter: iter(members) for letter, members in of.items()} for of in drawn)
        yield [[next(of[letter]) for letter in order] for of in examples]


def other_items(items: Sequence[Item], n: int, seed: int) -> list[list[Item]]:
    """For each item others with contexts of their own, drawn; the first ones are the same for a larger number."""

    def candidates(item: Item) -> Iterator[Item]:
        rng = _rng("distraction", seed, item)
        tries = (items[rng.randrange(len(items))] for _ in range(_TRIES * (n + 1)))
        return chain(tries, _lazily(lambda: rng.sample(items, len(items))))

    texts = {item.id: normal_form(_shown_text(item)) for item in items}
    return [_different(item, candidates(item), n, texts) for item in items]


def nearest(items: Sequence[Item], n: int, seed: int) -> list[list[Item]]:
    """For each item those with the most similar contexts by BM25, the nearest first; nothing is drawn."""
    from rank_bm25 import BM25Okapi
    from scipy.sparse import csr_array

    del seed
    words = [tokens_of(_shown_text(item), "word-stop") or [""] for item in items]
    index = BM25Okapi(words)
    columns = {word: column for column, word in enumerate(index.idf)}
    shape = len(items), len(columns)
    counts = [
        (row, columns[word], n) for row, found in enumerate(index.doc_freqs) for word, n in found.items()
    ]
    rows, places, numbers = (np.array(column) for column in zip(*counts, strict=True))
    lengths = np.array(index.doc_len)[rows] / index.avgdl
    saturated = numbers * (index.k1 + 1) / (numbers + index.k1 * (1 - index.b + index.b * lengths))
    weights = csr_array((saturated * np.array(list(index.idf.values()))[places], (rows, places)), shape=shape)
    asked = csr_array((numbers, (rows, places)), shape=shape)
    texts = {item.id: normal_form(_shown_text(item)) for item in items}
    found = []
    for row, item in enumerate(items):
        scores = (weights @ asked[[row]].toarray()[0]).ravel()
        ranking = np.argsort(-scores, kind="stable").tolist()
        found.append(_different(item, (items[place] for place in ranking), n, texts))
    return found


def derangement(items: Sequence[Item], seed: int) -> list[Item]:
    """For each item another one, whose context is shown: each once, as far as contexts differ."""
    _check_contexts(items)
    texts = [normal_form(_shown_text(item)) for item in items]
    rng = random.Random(f"unknown {seed}")  # noqa: S311 - a reproducible draw, not a secret
    places = rng.sample(range(len(items)), len(items))

    def fits(item: int, other: int) -> bool:
        return texts[item] != texts[other] and _is_apart(items[item], items[other])

    for item in range(len(items)):
        if fits(item, places[item]):
            continue
        tries = chain((rng.randrange(len(items)) for _ in range(_TRIES)), range(len(items)))
        swap = next((one for one in tries if fits(item, places[one]) and fits(one, places[item])), None)
        if swap is not None:
            places[item], places[swap] = places[swap], places[item]
            continue
        other = next((one for one in range(len(items)) if fits(item, one)), None)
        if other is None:
            raise _too_few(f"has no other context than that of item {shown(items[item].id)}", "Add items.")
        places[item] = other
    return [items[place] for place in places]


def normal_form(text: str) -> str:
    """A text as it is compared with others: in lower case, one blank between words."""
    return " ".join(text.casefold().split())


# -- parts ----------------------------------------------------------------------------------------

_ANSWERS = {"Y": "yes", "N": "no"}


def _rng(what: str, seed: int, item: Item) -> random.Random:
    return random.Random(f"{what} {seed} {item.id}")  # noqa: S311 - a reproducible draw, not a secret


def _shown_text(item: Item) -> str:
    return item.passage or item.text


def _is_apart(item: Item, other: Item) -> bool:
    """Whether an item is not of another's group, such as the same paper."""
    return not item.group or item.group != other.group


def _lazily(make: Callable[[], Sequence[Item]]) -> Iterator[Item]:
    yield from make()


def _different(item: Item, candidates: Iterator[Item], n: int, texts: dict[str, str]) -> list[Item]:
    """The first candidates whose contexts differ from the item's and from each other's."""
    chosen, seen = list[Item](), {texts[item.id]}
    while len(chosen) < n:
        other = next(candidates, None)
        if other is None:
            problem = f"has {quantity(len(chosen), 'context')} other than that of item {shown(item.id)}"
            raise _too_few(problem, f"It needs {n}: add items, or ask for fewer distractors.")
        if texts[other.id] not in seen and _is_apart(item, other):
            chosen.append(other)
            seen.add(texts[other.id])
    return chosen


def _check_contexts(items: Sequence[Item]) -> None:
    if len(items) < 2:
        raise _too_few(f"has {quantity(len(items), 'item')}", "It needs at least 2.")


def _check_examples(item: Item, letter: str, n_wanted: int, n_there: int) -> None:
    if n_there < n_wanted:
        problem = f"has {quantity(n_there, 'example')} with the answer {_ANSWERS[letter]} to show with item"
        remedy = f"An order needs {n_wanted}: add items, or choose orders with fewer."
        raise _too_few(f"{problem} {shown(item.id)}", remedy)


def _too_few(problem: str, remedy: str) -> SettingError:
    return SettingError("the item set", problem, remedy)
