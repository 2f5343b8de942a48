"""How far the rankings of two systems diverge, instance by instance, and sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import systems_of_runs
from evidencebench_core.data.store import Store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import DECIMALS, overlap, rank_biased_overlap
from evidencebench_core.tasks import Task, task_named

P = 0.9
"""Persistence of the rank-biased overlap: the first ten ranks carry 86% of the weight."""


def divergence(store: Store, run_a: str, run_b: str, task: str | Task = "er@optimal") -> Report:
    """How far two runs over one dataset diverge on each instance that both are scored on.

    Returns
    -------
    Report
        One table, *instances*, those that diverge most first, then in the order of the file: ``id``;
        ``divergence``, 1 - rank-biased overlap of the two top Ks with p = 0.9, from 0 (the same order) to 1
        (nothing in common), NaN where a run ranked nothing; ``overlap``, share of the longer selection that
        the other has too, 0 to 1; ``recall_a``, ``recall_b``, 0 to 1, and their ``difference``. K is the
        longer selection's length.

    Notes
    -----
    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28 (2010).
    """
    chosen = task_named(task)
    infos = runs_named(store, (run_a, run_b))
    if len(infos) == 1:  # a run diverges from itself nowhere
        infos *= 2
    both = systems_of_runs(store, infos, chosen)
    likeness = {
        name: (_divergence(a, b), overlap(a.selection, b.selection))
        for name, a, b in _answers(store, infos[0].id, infos[1].id, chosen.name)
    }
    frame = pd.DataFrame({"id": both.ids})
    pairs = [likeness[name] for name in both.ids]
    frame[["divergence", "overlap"]] = pd.DataFrame(pairs, columns=["divergence", "overlap"], dtype=float)
    frame = frame.assign(recall_a=both.values[0], recall_b=both.values[1])
    frame["difference"] = frame["recall_a"] - frame["recall_b"]
    frame = frame.sort_values("divergence", ascending=False, kind="stable", ignore_index=True)
    title = f"Divergence of {infos[0].label} and {infos[1].label}: {both.where}, {chosen.title}"
    return Report(title, {"instances": frame}, both.notes)


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


def _divergence(a: Retrieval, b: Retrieval) -> float | None:
    depth = max(len(a.selection), len(b.selection))
    alike = rank_biased_overlap(a.ranking, b.ranking, depth, P)
    return None if alike is None else round(1.0 - alike, DECIMALS) + 0.0  # no -0.0


def _answers(store: Store, a: str, b: str, task: str) -> Iterator[tuple[str, Retrieval, Retrieval]]:
    """The instances that both runs have answered, with their answers; both come by instance id."""
    others = RunStore(store).retrievals(b, task)
    other = next(others, None)
    for name, answer in RunStore(store).retrievals(a, task):
        while other is not None and other[0] < name:
            other = next(others, None)
        if other is not None and other[0] == name:
            yield name, answer, other[1]
