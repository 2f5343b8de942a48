"""Two runs aspect by aspect: what only one of them found."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import aspects, estimate_columns, left_out_notes, picks, runs_named
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunLike, RunStore
from evidencebench_core.stats import ratios
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import quantity

OUTCOMES: Final = ("only A", "only B", "neither", "both")
_ORDER: Final = {"only A": 0, "only B": 0, "neither": 1, "both": 2}  # in the list of aspects


def disagreements(
    store: Store,
    run_a: RunLike,
    run_b: RunLike,
    task: str | Task = "er@optimal",
    *,
    at_most: int | None = None,
) -> Report:
    """Which aspects A found, B found, both, or neither, over the instances that both have answered.

    ``at_most`` so many aspects of each outcome are listed; all are counted.

    Returns
    -------
    Report
        *counts*, one row an outcome (`OUTCOMES`): ``outcome``, ``n`` aspects, ``share`` of all (0 to 1;
        ``low``, ``high``), ``n_instances`` they belong to.

        *aspects*, one row an aspect, the disagreements first, then what neither found; in each outcome the
        instances with the most of it first: ``instance``, ``aspect`` (id), ``label`` (``"A1"`` for the
        instance's first), ``is_result``, ``outcome``, ``n_covering`` sentences that cover it,
        ``covering`` (their indices).

        Of a selection larger than the budget, an aspect counts as found if the chance is at least one half.
    """
    chosen = task_named(task)
    a, b = (RunStore(store).run(run) for run in (run_a, run_b))
    runs_named(store, (a, b))
    of_task = aspects(store, a.dataset, chosen)
    in_a, in_b = picks(store, a, chosen), picks(store, b, chosen)
    both = in_a.answered & in_b.answered
    kept = both[of_task.frame["row"]]
    found_a, found_b = in_a.found[kept] >= 0.5, in_b.found[kept] >= 0.5
    outcome = np.select([found_a & ~found_b, found_b & ~found_a, ~found_a], [0, 1, 2], 3)
    frame = of_task.frame[kept]
    names = np.array(OUTCOMES, dtype=object)[outcome]
    labels = [f"A{number + 1}" for number in frame["number"]]
    covering = of_task.pairs.groupby("place")["sentence"].agg(tuple)
    listed = frame[["instance", "aspect", "is_result", "n_covering"]].assign(
        label=labels, outcome=names, covering=covering.loc[frame.index].to_numpy()
    )
    tops = np.eye(len(OUTCOMES))[outcome].reshape(-1, len(OUTCOMES))
    estimates = ratios(tops, np.ones_like(tops), pd.factorize(frame["paper"], sort=True)[0])
    n_instances = listed.groupby("outcome")["instance"].nunique()
    counts = pd.DataFrame(
        {
            "outcome": OUTCOMES,
            "n": tops.sum(axis=0).astype(int),
            **estimate_columns(estimates, "share"),
            "n_instances": n_instances.reindex(list(OUTCOMES), fill_value=0).to_numpy(),
        }
    )
    asked = of_task.n_asked > 0
    left_out = {"instances that a run has not answered": int((asked & ~both).sum())} | of_task.left_out
    notes = (
        f"{quantity(int((asked & both).sum()), 'instance')} that both runs have answered, {len(listed):,} aspects.",
        *left_out_notes(left_out),
        *store.dataset(a.dataset).gold_notes,
    )
    tables = {"counts": counts, "aspects": _listed(listed, at_most)}
    return Report(f"A {a.label}, B {b.label}: {a.dataset}, {chosen.title}", tables, notes)


def _listed(listed: pd.DataFrame, at_most: int | None) -> pd.DataFrame:
    """The aspects in their order, so many of each outcome."""
    of_outcome = listed.groupby(["instance", "outcome"])["aspect"].transform("size")
    order = listed.assign(order=listed["outcome"].map(_ORDER), size=-of_outcome)
    columns = ["instance", "aspect", "label", "is_result", "outcome", "n_covering", "covering"]
    frame = order.sort_values(["order", "size"], kind="stable")[columns]
    if at_most is not None:
        frame = frame[frame.groupby("outcome").cumcount() < at_most]
    return frame.reset_index(drop=True)
