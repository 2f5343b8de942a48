"""Two runs aspect by aspect: what only one of them found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import paper_ids, runs_over_one_dataset
from evidencebench_core.data.model import Aspect
from evidencebench_core.data.store import Store
from evidencebench_core.metrics import expected_recall
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

Outcome = Literal["only A", "only B", "neither", "both"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_COLUMNS: Final = ["instance", "aspect", "label", "is_result", "outcome", "n_covering", "covering"]


def disagreements(
    store: Store,
    run_a: str,
    run_b: str,
    task: str | Task = "er@optimal",
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
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
    chosen = task if isinstance(task, Task) else task_named(task)
    known = RunStore(store)
    runs_over_one_dataset(store, (run_a, run_b))
    a, b = known.run(run_a), known.run(run_b)
    picks_a, picks_b = (known.selections(run.id, chosen.name) for run in (a, b))
    groups: list[_Group] = []
    n_unanswered = n_skipped = n_instances = n_uncovered = 0
    for instance_id, evidence in store.evidence_sets(a.dataset):
        aspects = evidence.focused(chosen.focus)
        if not any(aspect.sentence_indices for aspect in aspects):
            n_skipped += 1
        elif instance_id not in picks_a or instance_id not in picks_b:
            n_unanswered += 1
        else:
            picks = frozenset(picks_a[instance_id]), frozenset(picks_b[instance_id])
            by_outcome = _by_outcome(aspects, *picks, chosen.budget_for(evidence))
            groups += [_Group(outcome, instance_id, n_instances, its) for outcome, its in by_outcome.items()]
            n_instances += 1
            n_uncovered += sum(not aspect.sentence_indices for aspect in aspects)
    counts = _counts(groups, paper_ids(store, a.dataset), n_resamples, seed)
    notes = [f"{n_instances:,} instances that both runs have answered, {int(counts['n'].sum()):,} aspects."]
    if n_unanswered:
        notes.append(f"Left out because a run has not answered them: {n_unanswered:,}.")
    if n_skipped:
        notes.append(f"Skipped, nothing to cover on this task: {n_skipped:,}.")
    if n_uncovered:
        notes.append(f"{n_uncovered:,} aspects that no sentence covers are left out: nobody can find them.")
    tables = {"counts": counts, "aspects": _aspects(groups, at_most)}
    return Report(f"A {a.label}, B {b.label}: {a.dataset}, {chosen.title}", tables, tuple(notes))


class _Group(NamedTuple):
    """The aspects of one outcome in one instance; ``place`` is the instance's in the file."""

    outcome: Outcome
    instance: str
    place: int
    aspects: list[Aspect]


def _by_outcome(
    aspects: Sequence[Aspect], picks_a: frozenset[int], picks_b: frozenset[int], budget: int | None
) -> dict[Outcome, list[Aspect]]:
    groups: dict[Outcome, list[Aspect]] = {}
    for aspect in aspects:
        if aspect.sentence_indices:
            in_a, in_b = (_is_found(aspect.sentence_indices, picks, budget) for picks in (picks_a, picks_b))
            outcome: Outcome = ("both" if in_b else "only A") if in_a else ("only B" if in_b else "neither")
            groups.setdefault(outcome, []).append(aspect)
    return groups


def _is_found(covering: Sequence[int], picks: frozenset[int], budget: int | None) -> bool:
    if budget is None or len(picks) <= budget:
        return not picks.isdisjoint(covering)
    return (expected_recall(sorted(picks), (frozenset(covering),), budget) or 0.0) >= 0.5


def _aspects(groups: Sequence[_Group], at_most: int | None) -> pd.DataFrame:
    """One row an aspect, disagreements first, in each outcome the instances with most of it first."""
    rank = {"only A": 0, "only B": 0, "neither": 1, "both": 2}
    listed: Counter[Outcome] = Counter()
    rows = []
    for group in sorted(groups, key=lambda one: (rank[one.outcome], -len(one.aspects), one.place)):
        for aspect in group.aspects:
            if at_most is None or listed[group.outcome] < at_most:
                listed[group.outcome] += 1
                covering = aspect.sentence_indices
                head = (group.instance, aspect.id, aspect.label, aspect.is_result, group.outcome)
                rows.append((*head, len(covering), covering))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _counts(groups: Sequence[_Group], papers: Mapping[str, str], n_resamples: int, seed: int) -> pd.DataFrame:
    numbers: dict[str, int] = {}
    for group in groups:
        numbers.setdefault(papers[group.instance], len(numbers))
    tops = np.zeros((len(numbers), len(OUTCOMES)))
    for group in groups:
        tops[numbers[papers[group.instance]], OUTCOMES.index(group.outcome)] += len(group.aspects)
    bounds = ratio_intervals(tops, tops.sum(axis=1, keepdims=True), np.random.default_rng(seed), n_resamples)
    n = tops.sum(axis=0)
    return pd.DataFrame(
        {
            "outcome": OUTCOMES,
            "n": n.astype(int),
            "share": n / (n.sum() or np.nan),
            "low": bounds[:, 0],
            "high": bounds[:, 1],
            "n_instances": [sum(group.outcome == outcome for group in groups) for outcome in OUTCOMES],
        }
    )
