"""Two runs aspect by aspect: what only one of them found."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.aspect_table import aspect_table, run_picks
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

OUTCOMES: Final = ("only A", "only B", "neither", "both")
_ORDER: Final = {"only A": 0, "only B": 0, "neither": 1, "both": 2}  # in the list of aspects


def disagreements(
    store: Store,
    run_a: str,
    run_b: str,
    task: str | Task = "er@optimal",
    *,
    n_resamples: int = 10_000,
    at_most: int | None = None,
) -> Report:
    """Which aspects A found, B found, both, or neither, over the instances that both have answered.

    ``at_most`` so many aspects of each outcome are listed; all are counted.

    Returns
    -------
    Report
        *counts*, one row an outcome (`OUTCOMES`): ``outcome``, ``n`` aspects, ``share`` of all (0 to 1;
        ``low``, ``high``: 95%, papers being drawn), ``n_instances`` they belong to.

        *aspects*, one row an aspect, the disagreements first, then what neither found; in each outcome the
        instances with the most of it first: ``instance``, ``aspect`` (id), ``label`` (``"A1"`` for the
        instance's first), ``is_result``, ``outcome``, ``n_covering`` sentences that cover it, ``covering``
        (their indices).

        An aspect counts as found where a pick covers it. Of a selection larger than the budget, where
        that is a matter of chance (spec rule 10), it does if the chance is at least one half.
    """
    chosen = task_named(task)
    known = RunStore(store)
    runs_over_one_dataset(store, (run_a, run_b))
    a, b = known.run(run_a), known.run(run_b)
    table = aspect_table(store, a.dataset, chosen)
    in_a, in_b = (run_picks(table, known.packed_selections(run.id, chosen.name)) for run in (a, b))
    answered = in_a.answered & in_b.answered
    kept = answered[table.instance]
    found_a, found_b = in_a.found[kept] >= 0.5, in_b.found[kept] >= 0.5
    outcome = np.select([found_a & ~found_b, found_b & ~found_a, ~found_a], [0, 1, 2], 3)
    rows = [  # in the order of the table
        (
            name,
            aspect.id,
            aspect.label,
            aspect.is_result,
            len(aspect.sentence_indices),
            aspect.sentence_indices,
        )
        for name, evidence in store.evidence_sets(a.dataset, np.array(table.ids, dtype=object)[answered])
        for aspect in evidence.focused(chosen.focus)
        if aspect.sentence_indices
    ]
    aspects = pd.DataFrame(
        rows, columns=["instance", "aspect", "label", "is_result", "n_covering", "covering"]
    )
    aspects.insert(4, "outcome", np.array(OUTCOMES, dtype=object)[outcome])
    numbers, papers = np.unique(table.paper[table.instance[kept]], return_inverse=True)
    tops = np.zeros((numbers.size, len(OUTCOMES)))
    np.add.at(tops, (papers, outcome), 1.0)
    bounds = ratio_intervals(tops, tops.sum(axis=1, keepdims=True), np.random.default_rng(0), n_resamples)
    n, n_instances = tops.sum(axis=0), aspects.groupby("outcome")["instance"].nunique()
    counts = pd.DataFrame(
        {
            "outcome": OUTCOMES,
            "n": n.astype(int),
            "share": n / (n.sum() or np.nan),
            "low": bounds[:, 0],
            "high": bounds[:, 1],
            "n_instances": n_instances.reindex(list(OUTCOMES), fill_value=0).to_numpy(),
        }
    )
    notes = [f"{answered.sum():,} instances that both runs have answered, {len(aspects):,} aspects."]
    if n_unanswered := int((~answered).sum()):
        notes.append(f"Left out because a run has not answered them: {n_unanswered:,}.")
    if table.skipped:
        notes.append(f"Skipped, nothing to cover on this task: {len(table.skipped):,}.")
    if table.n_uncovered:
        notes.append(
            f"{table.n_uncovered:,} aspects that no sentence covers are left out: nobody can find them."
        )
    notes += store.dataset(a.dataset).gold_notes
    tables = {"counts": counts, "aspects": _listed(aspects, at_most)}
    return Report(f"A {a.label}, B {b.label}: {a.dataset}, {chosen.title}", tables, tuple(notes))


def _listed(aspects: pd.DataFrame, at_most: int | None) -> pd.DataFrame:
    """The aspects in their order, so many of each outcome."""
    of_outcome = aspects.groupby(["instance", "outcome"])["aspect"].transform("size")
    order = aspects.assign(order=aspects["outcome"].map(_ORDER), size=-of_outcome)
    frame = order.sort_values(["order", "size"], kind="stable")[aspects.columns]
    if at_most is not None:
        frame = frame[frame.groupby("outcome").cumcount() < at_most]
    return frame.reset_index(drop=True)
