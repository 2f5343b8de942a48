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


def disagreements(store: Store, run_a: RunLike, run_b: RunLike, task: str | Task = "er@optimal") -> Report:
    """Which aspects A found, B found, both, or neither, over the instances that both have answered.

    Returns
    -------
    Report
        *counts*, one row an outcome (`OUTCOMES`): ``outcome``, ``n`` aspects, ``share`` of all (0 to 1;
        ``low``, ``high``), ``n_instances`` they belong to.

        *aspects*, one row an aspect, the disagreements first, then what neither found; in each outcome the
        instances with the most of it first: ``instance``, ``label`` (``"A1"`` for the instance's first),
        ``is_result``, ``outcome``, ``n_covering`` sentences that cover it, ``covering`` (their indices).

        Of a selection larger than the budget, an aspect counts as found if the chance is at least one half.
    """
    chosen = task_named(task)
    a, b = (RunStore(store).run(run) for run in (run_a, run_b))
    runs_named(store, (a, b))
    of_task = aspects(store, a.dataset, chosen)
    in_a, in_b = picks(store, a, chosen), picks(store, b, chosen)
    both = in_a.answered & in_b.answered
    found_a, found_b = in_a.found >= 0.5, in_b.found >= 0.5
    outcome = np.select([found_a & ~found_b, found_b & ~found_a, ~found_a], OUTCOMES[:3], OUTCOMES[3])
    listed = of_task.frame.assign(
        label="A" + (of_task.frame["number"] + 1).astype(str),
        outcome=outcome.astype(object),
        covering=of_task.pairs.groupby("place")["sentence"].agg(tuple),
    )[both[of_task.frame["row"]]]
    is_outcome = pd.DataFrame({name: listed["outcome"] == name for name in OUTCOMES}, dtype=float)
    estimates = ratios(is_outcome, is_outcome * 0 + 1, listed["paper"])
    counts = pd.DataFrame(
        {
            "outcome": OUTCOMES,
            "n": is_outcome.sum().astype(int).to_numpy(),
            **estimate_columns(estimates, "share"),
            "n_instances": [listed["instance"][listed["outcome"] == name].nunique() for name in OUTCOMES],
        }
    )
    asked = of_task.n_asked > 0
    left_out = {"instances that a run has not answered": int((asked & ~both).sum())} | of_task.left_out
    notes = (
        f"{quantity(int((asked & both).sum()), 'instance')} that both runs have answered, {len(listed):,} aspects.",
        *left_out_notes(left_out),
        *store.dataset(a.dataset).gold_notes,
    )
    of_outcome = listed.groupby(["instance", "outcome"])["label"].transform("size")
    order = listed.assign(order=listed["outcome"].map(_ORDER), size=-of_outcome)
    columns = ["instance", "label", "is_result", "outcome", "n_covering", "covering"]
    ordered = order.sort_values(["order", "size"], kind="stable", ignore_index=True)[columns]
    title = f"A {a.label}, B {b.label}: {a.dataset}, {chosen.title}"
    return Report(title, {"counts": counts, "aspects": ordered}, notes)
