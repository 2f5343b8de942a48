"""Every paper cut into the same number of buckets, from its first sentence to its last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks
from evidencebench_core.data import paper_texts
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown

Stand = Literal["earliest", "latest", "every", "only"]

MAX_BUCKETS: Final = 100
MEASURES: Final = ("sentence", "token")
STANDS: Final[Mapping[Stand, str]] = {
    "earliest": "the bucket of the earliest sentence that covers it",
    "latest": "the bucket of the latest sentence that covers it",
    "every": "every bucket with a sentence that covers it",
    "only": "the one bucket that holds all sentences that cover it; others are left out",
}


def buckets_of(
    store: Store, dataset: str, table: AspectTable, n_buckets: int, by: str = "sentence"
) -> NDArray[np.int64]:
    """The bucket of every place of the table, 0 to ``n_buckets - 1``.

    By sentence, sentence i of n is in bucket ``i * n_buckets // n``: of a paper with fewer sentences some
    are empty. By token, a sentence stands where its middle token stands among those of its paper; tokens
    are runs of characters between white space.
    """
    if not 1 <= n_buckets <= MAX_BUCKETS:
        raise SettingError("buckets", f"is {shown(n_buckets)}", f"Give a number from 1 to {MAX_BUCKETS}.")
    if by not in MEASURES:
        raise SettingError("by", f"is {shown(by)}", f"Choices are: {', '.join(MEASURES)}.")
    rows = table.sentence_instance()
    if by == "sentence":
        return (np.arange(rows.size) - table.offset[rows]) * n_buckets // table.n_sentences[rows]
    tokens = _token_counts(store, dataset, table)
    before = np.cumsum(tokens) - tokens
    of_paper = np.bincount(rows, weights=tokens, minlength=len(table.ids))
    middle = before - before[table.offset[rows]] + tokens / 2
    share = middle / np.maximum(of_paper[rows], 1)
    return np.minimum((share * n_buckets).astype(np.int64), n_buckets - 1)


def _token_counts(store: Store, dataset: str, table: AspectTable) -> NDArray[np.int64]:
    rows = {instance_id: row for row, instance_id in enumerate(table.ids)}
    tokens = np.zeros(int(table.n_sentences.sum()), dtype=np.int64)
    for paper in paper_texts(store, dataset, rows):
        counts = [len(sentence.split()) for sentence in paper.sentences]
        for instance_id in paper.hypotheses:
            start = table.offset[rows[instance_id]]
            tokens[start : start + len(counts)] = counts
    return tokens


def standing(
    table: AspectTable, bucket: NDArray[np.int64], stand: Stand
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Aspects and the bucket in which they stand, one pair each; ``"every"`` has several an aspect."""
    aspects = np.arange(table.instance.size)
    if not aspects.size:
        return aspects, aspects
    where = bucket[table.covering_place]  # places ascend within an aspect, and so do buckets
    first = where[np.searchsorted(table.covering_aspect, aspects)]
    last = where[np.searchsorted(table.covering_aspect, aspects, side="right") - 1]
    if stand == "every":
        n_buckets = int(bucket.max()) + 1
        # Counting is many times quicker than sorting for the different pairs.
        pairs = np.flatnonzero(np.bincount(table.covering_aspect * n_buckets + where))
        return pairs // n_buckets, pairs % n_buckets
    if stand == "only":
        return aspects[first == last], first[first == last]
    return aspects, first if stand == "earliest" else last


def behind_bucket(
    table: AspectTable,
    bucket: NDArray[np.int64],
    wanted: int,
    stand: Stand,
    picks: RunPicks | None = None,
    kept: NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """The instances behind a mark: those with an aspect that stands in a bucket (from 1), or a pick there.

    ``kept``, of shape (n,), says which instances count.

    Returns
    -------
    DataFrame
        ``id``, ``n_aspects`` that stand there, ``n_found`` of them and ``n_missed`` (NaN without picks of a
        run), ``n_picks`` there. Most missed first (without a run: most aspects first), then in the order of the
        file.
    """
    n = len(table.ids)
    aspect, where = standing(table, bucket, stand)
    there = aspect[where == wanted - 1]
    n_aspects = np.bincount(table.instance[there], minlength=n)
    n_found = np.full(n, np.nan)
    n_picks = np.zeros(n, dtype=np.int64)
    if picks is not None:
        n_found = np.bincount(table.instance[there], weights=picks.found[there], minlength=n)
        rows = table.sentence_instance()[picks.place]
        n_picks = np.bincount(rows[bucket[picks.place] == wanted - 1], minlength=n)
    frame = pd.DataFrame(
        {
            "id": table.ids,
            "n_aspects": n_aspects,
            "n_found": n_found,
            "n_missed": n_aspects - n_found,
            "n_picks": n_picks,
        }
    )
    shown_rows = (n_aspects + n_picks > 0) & (True if kept is None else kept)
    order = ["n_aspects"] if picks is None else ["n_missed", "n_picks"]
    return frame[shown_rows].sort_values(order, ascending=False, kind="stable", ignore_index=True)
