"""Two answers to one query, sentence by sentence."""

from __future__ import annotations

import pandas as pd

from evidencebench_core.retrievers import Retrieval


def rank_frame(a: Retrieval, b: Retrieval) -> pd.DataFrame:
    """Every sentence that one of two answers to a query picked, with its rank in both.

    Returns
    -------
    DataFrame
        ``sentence`` (index); ``rank_a``, ``rank_b``, from 1 (``<NA>`` where a ranking lacks it); ``picked_a``,
        ``picked_b``; ``differs``: only one picked it. The differences first, of these those whose ranks are
        furthest apart (one that is not ranked counts as ranked behind the last), then by the better rank.
    """
    ranks = [{index: rank for rank, index in enumerate(one.ranking, start=1)} for one in (a, b)]
    sentences = list(dict.fromkeys((*a.selection, *b.selection)))
    frame = pd.DataFrame({"sentence": pd.Series(sentences, dtype=int)})
    for name, answer, rank in zip("ab", (a, b), ranks, strict=True):
        frame[f"rank_{name}"] = pd.array([rank.get(index) for index in sentences], dtype="Int64")
        frame[f"picked_{name}"] = frame["sentence"].isin(answer.selection)
    frame["differs"] = frame["picked_a"] != frame["picked_b"]
    places = pd.DataFrame(
        {n: frame[f"rank_{n}"].fillna(len(r) + 1) for n, r in zip("ab", ranks, strict=True)}
    )
    order = pd.DataFrame(
        {
            "same": ~frame["differs"],
            "apart": -(places["a"] - places["b"]).abs().where(frame["differs"], 0),
            "best": places.min(axis=1),
            "sentence": frame["sentence"],
        }
    )
    return frame.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)
