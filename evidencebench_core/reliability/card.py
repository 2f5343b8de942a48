"""Runs in the store -> scores, and the card of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evidencebench_core.data.store import Store
from evidencebench_core.reliability.items import ITEM_SETS
from evidencebench_core.reliability.runs import (
    ReliabilityRun,
    items_of,
    judge_runs,
    reliability_run,
    reliability_runs,
    run_probes,
)
from evidencebench_core.reliability.score import TaskScore, task_score
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import holm


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A model on the tasks of an item set, in the order of `RELIABILITY_TASKS`; p-values corrected for all rows."""

    items: str
    model: str
    scores: tuple[TaskScore, ...]
    p_holm: tuple[float | None, ...]

    def frame(self) -> pd.DataFrame:
        """One row a test, shares 0 to 1, with its sentence for readers who are no researchers."""
        rows = [score_record(score, p) for score, p in zip(self.scores, self.p_holm, strict=True)]
        return pd.DataFrame(rows)


def score_record(score: TaskScore, p_holm: float | None = None) -> dict[str, Any]:
    """The figures of a score, JSON-able."""
    against = score.baseline
    best = max(score.constants, key=score.constants.__getitem__, default="")
    return {
        "task": score.task.name,
        "number": score.task.number,
        "title": score.task.title,
        "model": score.run.model,
        "items": score.items,
        "settings": score.run.label,
        "run": score.run.id,
        "figure": score.task.figure,
        "value": score.value.value,
        "low": score.value.low,
        "high": score.value.high,
        "n": score.value.n,
        "n_left_out": sum(score.left_out.values()),
        "null_rate": None if score.answers.empty else score.null_rate,
        "constant": best,
        "constant_value": score.constants.get(best),
        "difference": against.difference.value if against else None,
        "difference_low": against.difference.low if against else None,
        "difference_high": against.difference.high if against else None,
        "p": against.p if against else None,
        "p_holm": p_holm,
        "judge": score.judge,
        "in_words": in_words(score),
    }


def model_card(store: Store, items: str, model: str) -> Card:
    """Every task that a model was asked of an item set, once for each of the settings it was asked with."""
    runs = [run for run in reliability_runs(store, items) if run.model == model]
    scores = tuple(run_score(store, run.id) for run in shown_runs(runs))
    p_values = holm([score.baseline.p if score.baseline else None for score in scores])
    return Card(ITEM_SETS.named(store, items).name, model, scores, p_values)


def shown_runs(runs: Sequence[ReliabilityRun]) -> list[ReliabilityRun]:
    """Of each task, model and settings the run with the most answers, the latest of equals, in the order of tasks."""
    best: dict[tuple[str, ...], ReliabilityRun] = {}
    for run in sorted(runs, key=lambda run: (run.n_answered, run.created_at)):
        best[run.task.name, run.model, run.label] = run
    places = list(RELIABILITY_TASKS)
    return sorted(best.values(), key=lambda run: (places.index(run.task.name), run.model, run.label))


def run_score(store: Store, run_id: str, judge_run: str | None = None) -> TaskScore:
    """The score of a run beside the baseline of the same model and items.

    Free texts are read by ``judge_run``, else by the judge that has read the most of them. The id of a judge's run
    gives the score of the run it judged, by it.
    """
    run = reliability_run(store, run_id)
    if run.judged:
        return run_score(store, run.judged, run.id)
    judges = [
        judge for judge in judge_runs(store, run.id) if judge.n_answered and judge_run in (None, judge.id)
    ]
    judge = max(judges, key=lambda judge: (judge.n_answered, judge.created_at), default=None)
    baseline, results = _baseline_of(store, run), RunStore(store)
    return task_score(
        run,
        items_of(store, run),
        run_probes(store, run),
        results.results(run.id),
        results.results(judge.id) if judge else None,
        run_score(store, baseline.id) if baseline else None,
        judge.model if judge else "",
    )


def _baseline_of(store: Store, run: ReliabilityRun) -> ReliabilityRun | None:
    """The baseline of the same model over the same items, asked in the same way if there is one."""
    if run.task.name == "baseline":
        return None
    runs = reliability_runs(store, items_of(store, run).name)
    answered = [other for other in runs if other.model == run.model and other.n_answered]
    baselines = [other for other in answered if other.task.name == "baseline"]
    return max(baselines, key=lambda other: (other.request == run.request, other.n_answered), default=None)


# -- plain words ------------------------------------------------------------------------------------


def in_words(score: TaskScore) -> str:
    """What a test found, in counts, for readers who are no researchers."""
    top = score.headline
    if top.empty:
        return "Nothing to score yet."
    if score.task.figure == "bias" and score.value.value is None:
        return "Too few answers of one kind to tell."
    if score.task.figure == "bias":
        return (
            "Half of the right answers are yes. Depending on the examples shown first, the share of yes was "
            f"{100 * (score.value.value or 0):.0f} points away from that on average."
        )
    n_right, n = int((top["state"] == "right").sum()), len(top)
    if score.task.figure == "refrain_rate":
        mirror = score.answers[score.answers["variant"] == "mirror"]
        n_declined = int((mirror["label"] == "unknown").sum())
        return (
            f"With a text about something else it said so {n_right:,} of {n:,} times; with the right text it "
            f"declined {n_declined:,} of {len(mirror):,} times, which it should not."
        )
    if score.judge:
        itself = ", which is the model itself" if score.judge == score.run.model else ""
        return f"By {score.judge} as a judge{itself}, {n_right:,} of {n:,} answers say what they should."
    return f"It was right on {n_right:,} of {n:,} answers. {_against_in_words(score)}"


def _against_in_words(score: TaskScore) -> str:
    against = score.baseline
    if against is None:
        most = int(score.headline["expected"].value_counts().max())
        return f"Always giving the same answer would be right on {most:,}."
    if against.followed:
        n_followed, n_before = against.followed
        return f"Of {n_before:,} that it had right before, it changed {n_followed:,} with the text."
    pairs = [("right", "wrong"), ("right", "null")]
    lost = sum(against.moves[after][before] for before, after in pairs)
    won = sum(against.moves[before][after] for before, after in pairs)
    return f"Against the same questions unchanged, {lost:,} right answers were lost and {won:,} won."
