"""Triplets: a hypothesis, a sentence of its paper that covers an aspect, and one that covers none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.base import query_of

Negatives = Literal["random", "bm25", "dense"]
NEGATIVES: Final[tuple[Negatives, ...]] = get_args(Negatives)
_HARD: Final = 20  # hard negatives are drawn from so many of the retriever's best that cover nothing


class Triplet(NamedTuple):
    """One example to learn from."""

    anchor: str
    positive: str
    negative: str


def triplets_of(
    instances: Iterable[Instance],
    counts: Sequence[int],
    focus: Focus,
    negatives: Negatives,
    rng: np.random.Generator,
) -> Iterator[Triplet]:
    """So many triplets of each instance (``counts``), drawn with replacement.

    An aspect is drawn first, then one of its sentences, so that an aspect that half the paper covers does
    not outweigh the others. Instances without an aspect of the focus, or of which every sentence covers
    one, give none. Negatives are any sentences that cover nothing, or one of the 20 of them that the
    retriever ranks highest.
    """
    for instance, count in zip(instances, counts, strict=True):
        covers = [sorted(sentences) for sentences in instance.evidence.covers(focus) if sentences]
        covering = {sentence for sentences in covers for sentence in sentences}
        others = _negatives(instance, covering, focus, negatives) if covers and count else []
        if not others:
            continue
        for _ in range(count):
            aspect = covers[rng.integers(len(covers))]
            yield Triplet(
                instance.hypothesis,
                instance.sentences[aspect[rng.integers(len(aspect))]],
                instance.sentences[others[rng.integers(len(others))]],
            )


def _negatives(instance: Instance, covering: set[int], focus: Focus, negatives: Negatives) -> list[int]:
    texts = {instance.sentences[index] for index in covering}  # the same words elsewhere are no negative
    fit = [index for index, text in enumerate(instance.sentences) if text.strip() and text not in texts]
    if negatives == "random":
        return fit
    ranking = make_retriever(negatives).retrieve(query_of(instance, focus, None)).ranking
    allowed = set(fit)
    return [index for index in ranking if index in allowed][:_HARD]
