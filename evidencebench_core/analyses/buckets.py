"""Parts of a paper of equal size, the one in which a sentence or an aspect stands, and what stands in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks
from evidencebench_core.data import paper_texts
from evidencebench_core.data.gold import Numbers
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown

Buckets = NDArray[np.uint8]
"""By place: there may be 20 million."""
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
) -> Buckets:
    """The bucket of every place of the table, 0 to ``n_buckets - 1``.

    By sentence, sentence i of n is in bucket ``i * n_buckets // n``: of a paper with fewer sentences some
    are empty. By token, a sentence stands where its middle token stands among those of its paper; tokens
    are runs of characters between white space.
    """
    if not 1 <= n_buckets <= MAX_BUCKETS:
        raise SettingError("buckets", f"is {shown(n_buckets)}", f"Give a number from 1 to {MAX_BUCKETS}.")
    if by not in MEASURES:
        raise SettingError("by", f"is {shown(by)}", f"Choices are: {', '.join(MEASURES)}.")
    if by == "sentence":
        patterns = {
            n: (np.arange(n) * n_buckets // n).astype(np.uint8) for n in np.unique(table.n_sentences).tolist()
        }
        return np.concatenate(
            [np.empty(0, dtype=np.uint8), *(patterns[n] for n in table.n_sentences.tolist())]
        )
    rows = np.repeat(np.arange(len(table.ids)), table.n_sentences)
    numbers = {instance_id: row for row, instance_id in enumerate(table.ids)}
    tokens = np.zeros(rows.size, dtype=np.int64)
    for paper in paper_texts(store, dataset, numbers):
        counts = [len(sentence.split()) for sentence in paper.sentences]
        for instance_id in paper.hypotheses:
            start = table.offset[numbers[instance_id]]
            tokens[start : start + len(counts)] = counts
    before = np.cumsum(tokens) - tokens
    of_paper = np.bincount(rows, weights=tokens, minlength=len(table.ids))
    middle = before - before[table.offset[rows]] + tokens / 2
    share = middle / np.maximum(of_paper[rows], 1)
    return np.minimum(share * n_buckets, n_buckets - 1).astype(np.uint8)


def aspect_buckets(table: AspectTable, bucket: Buckets, stand: Stand) -> tuple[Numbers, Numbers]:
    """Aspects and the bucket in which they stand, one pair each; ``"every"`` has several an aspect."""
    aspects = np.arange(table.instance.size)
    if not aspects.size:
        return aspects, aspects
    if stand == "every":
        n_buckets = int(bucket.max()) + 1
        # Counting is many times quicker than sorting for the different pairs.
        pairs = np.flatnonzero(np.bincount(table.covering_aspect * n_buckets + bucket[table.covering_place]))
        return pairs // n_buckets, pairs % n_buckets
    # Places ascend within an aspect, and so do buckets; each aspect has some.
    ends = np.cumsum(np.bincount(table.covering_aspect, minlength=aspects.size))
    starts = np.concatenate([[0], ends[:-1]])
    first, last = (bucket[table.covering_place[edge]].astype(np.int64) for edge in (starts, ends - 1))
    if stand == "only":
        return aspects[first == last], first[first == last]
    return aspects, first if stand == "earliest" else last


def middle_buckets(n_buckets: int) -> range:
    """Those (from 0) whose centre is in the middle third of the paper; none of one or two."""
    inside = [n for n in range(n_buckets) if n_buckets <= 3 * (n + 0.5) <= 2 * n_buckets]
    return range(inside[0], inside[-1] + 1) if n_buckets > 2 else range(0)


def behind_bucket(
    table: AspectTable,
    bucket: Buckets,
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
        run), ``n_picks`` there, and the first ``sentence`` there that covers one of them, else is a pick. Most
        missed first (without a run: most aspects first), then in the order of the file.
    """
    n = len(table.ids)
    aspect, where = aspect_buckets(table, bucket, stand)
    there = aspect[where == wanted - 1]
    frame = pd.DataFrame({"id": table.ids, "n_aspects": np.bincount(table.instance[there], minlength=n)})
    frame = frame.assign(n_found=np.nan, n_missed=np.nan, n_picks=0)
    covering = table.covering_place[np.isin(table.covering_aspect, there)]
    first = np.full(n, bucket.size)
    for places in (covering,) if picks is None else (covering, picks.place):
        here = places[bucket[places] == wanted - 1]
        unknown = here[first[table.instance_at(here)] == bucket.size]
        np.minimum.at(first, table.instance_at(unknown), unknown)
    frame["sentence"] = first - table.offset
    if picks is not None:
        rows = table.instance_at(picks.place)
        frame["n_found"] = np.bincount(table.instance[there], weights=picks.found[there], minlength=n)
        frame["n_missed"] = frame["n_aspects"] - frame["n_found"]
        frame["n_picks"] = np.bincount(rows[bucket[picks.place] == wanted - 1], minlength=n)
    shown_rows = (frame["n_aspects"] + frame["n_picks"] > 0) & (True if kept is None else kept)
    order = ["n_aspects"] if picks is None else ["n_missed", "n_picks"]
    return frame[shown_rows].sort_values(order, ascending=False, kind="stable", ignore_index=True)
