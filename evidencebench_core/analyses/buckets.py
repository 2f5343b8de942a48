"""Cutting every paper into the same number of buckets, from its first sentence to its last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, get_args

from evidencebench_core.data.texts import paper_texts
from evidencebench_core.errors import SettingError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.analyses.aspect_table import AspectTable
    from evidencebench_core.data.store import Store

__all__ = [
    "MAX_BUCKETS",
    "STANDS",
    "Measure",
    "Stand",
    "bucket_of_places",
    "checked_buckets",
    "standing",
    "token_counts",
]

Measure = Literal["sentence", "token"]
Stand = Literal["earliest", "latest", "every", "only"]

MAX_BUCKETS: Final = 100

STANDS: Final[Mapping[Stand, str]] = {
    "earliest": "the bucket of the earliest sentence that covers it",
    "latest": "the bucket of the latest sentence that covers it",
    "every": "every bucket with a sentence that covers it",
    "only": "the one bucket that holds all sentences that cover it; others are left out",
}


def checked_buckets(n_buckets: int, measure: str) -> None:
    """Complain unless the number of buckets is 1 to 100 and the measure is known.

    Raises
    ------
    SettingError
    """
    if not 1 <= n_buckets <= MAX_BUCKETS:
        raise SettingError("buckets", f"is {shown(n_buckets)}", f"Give a number from 1 to {MAX_BUCKETS}.")
    if measure not in get_args(Measure):
        raise SettingError("by", f"is {shown(measure)}", f"Choices are: {', '.join(get_args(Measure))}.")


def bucket_of_places(
    table: AspectTable, n_buckets: int, tokens: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The bucket of every sentence of the dataset, 0 to ``n_buckets - 1``.

    Parameters
    ----------
    table : AspectTable
    n_buckets : int
        At least 1. Of a paper with fewer sentences some buckets are empty.
    tokens : array of int, shape (n_places,), optional
        Tokens of every sentence. With them a sentence stands where its middle token stands among the
        tokens of its paper; without them sentence i of n is in bucket ``i * n_buckets // n``.
    """
    import numpy as np

    rows = table.sentence_instance()
    if tokens is None:
        index = np.arange(rows.size) - table.offset[rows]
        return index * n_buckets // table.n_sentences[rows]
    before = np.cumsum(tokens) - tokens
    of_paper = np.bincount(rows, weights=tokens, minlength=len(table.ids))
    middle = before - before[table.offset[rows]] + tokens / 2
    share = middle / np.maximum(of_paper[rows], 1)
    return np.minimum((share * n_buckets).astype(np.int64), n_buckets - 1)


def standing(
    table: AspectTable, bucket: NDArray[np.int64], stand: Stand
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Aspects and the bucket in which they stand, one pair each; ``"every"`` has several an aspect."""
    import numpy as np

    aspects = np.arange(table.instance.size)
    starts = np.searchsorted(table.covering_aspect, aspects)
    ends = np.searchsorted(table.covering_aspect, aspects, side="right") - 1
    if not aspects.size:
        return aspects, aspects
    # Places ascend within an aspect, and so do buckets.
    where = bucket[table.covering_place]
    if stand == "earliest":
        return aspects, where[starts]
    if stand == "latest":
        return aspects, where[ends]
    if stand == "only":
        alone = where[starts] == where[ends]
        return aspects[alone], where[starts][alone]
    n_buckets = int(bucket.max()) + 1
    # Counting is many times quicker than sorting for the different pairs.
    pairs = np.flatnonzero(np.bincount(table.covering_aspect * n_buckets + where))
    return pairs // n_buckets, pairs % n_buckets


def token_counts(store: Store, dataset: str, table: AspectTable) -> NDArray[np.int64]:
    """Tokens of every sentence, by place: runs of characters between white space.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    import numpy as np

    rows = {instance_id: row for row, instance_id in enumerate(table.ids)}
    tokens = np.zeros(int(table.n_sentences.sum()), dtype=np.int64)
    for paper in paper_texts(store, dataset, rows):
        counts = [len(sentence.split()) for sentence in paper.sentences]
        for instance_id in paper.hypotheses:
            start = table.offset[rows[instance_id]]
            tokens[start : start + len(counts)] = counts
    return tokens
