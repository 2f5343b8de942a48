"""Runs in the store -> scores, the card of a model, and the report that page, command and notebook draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from evidencebench_core.analyses import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.items import ITEM_SETS, ItemSet, item_set
from evidencebench_core.reliability.runs import (
    items_of,
    reliability_run,
    reliability_runs,
    run_probes,
    settings_label,
    task_of,
)
from evidencebench_core.reliability.score import TaskScore, task_score
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.runs import RunInfo, RunStore, judge_run
from evidencebench_core.stats import holm
from evidencebench_core.words import quantity

BRIEF: Final = (
    "model", "task", "settings", "figure", "value", "low", "high", "n", "null_rate", "difference", "p_holm", "judge",
    "in_words",
)  # fmt: skip
"""The columns of a card that are read first."""
SHARES: Final = ("value", "null_rate", "constant_value", "difference_low", "difference_high")
LEGEND: Final = {
    "difference": "from the baseline, of the same figure, paired by question",
    "p_holm": "corrected for all tests of the model: of right and wrong against the baseline; of bias, that all orders "
    "of the examples are alike (Cochran's Q)",
    "null_rate": "answers that could not be read / answers",
}


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A model on the tasks of an item set, in the order of `RELIABILITY_TASKS`; p-values corrected for all rows."""

    items: str
    model: str
    scores: tuple[TaskScore, ...]
    p_holm: tuple[float | None, ...]

    def frame(self) -> pd.DataFrame:
        """One row a test, shares 0 to 1, with its sentence for readers who are no researchers."""
        rows = [score.record(p) for score, p in zip(self.scores, self.p_holm, strict=True)]
        return pd.DataFrame(rows)


def model_card(store: Store, items: str, model: str) -> Card:
    """Every task that a model was asked of an item set, once for each of the settings it was asked with."""
    runs = [run for run in reliability_runs(store, items) if run.settings["model"] == model]
    whole, scores = item_set(store, items), dict[str, TaskScore]()
    for run in shown_runs(runs):
        baseline = baseline_of(run, runs)
        if baseline is not None and baseline.id not in scores:
            scores[baseline.id] = _score(store, baseline, whole)
        if run.id not in scores:
            scores[run.id] = _score(store, run, whole, scores[baseline.id] if baseline else None)
    shown = tuple(scores[run.id] for run in shown_runs(runs))
    return Card(whole.name, model, shown, holm([score.p for score in shown]))


def shown_runs(runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Of each task, model and settings the run with the most answers, the latest of equals, in the order of tasks."""
    best: dict[tuple[str, ...], RunInfo] = {}
    places = list(RELIABILITY_TASKS)

    def key(run: RunInfo) -> tuple[int, str, str]:
        return places.index(run.settings["task"]), run.settings["model"], settings_label(run)

    for run in sorted(runs, key=lambda run: (run.n_answered, run.created_at)):
        best[tuple(map(str, key(run)))] = run
    return sorted(best.values(), key=key)


def run_score(store: Store, run_id: str, judge: str | None = None) -> TaskScore:
    """The score of a run beside the baseline of the same model and items.

    Free texts are read by ``judge``, a model, else by the one that has read the most of them.
    """
    run = reliability_run(store, run_id)
    items = items_of(store, run.subject)
    baseline = baseline_of(run, reliability_runs(store, items.name))
    return _score(store, run, items, _score(store, baseline, items) if baseline else None, judge)


def _score(
    store: Store, run: RunInfo, items: ItemSet, baseline: TaskScore | None = None, judge: str | None = None
) -> TaskScore:
    results, judging = RunStore(store), judge_run(store, run.id, judge)
    return task_score(
        run,
        items,
        run_probes(items, run),
        results.results(run.id),
        results.results(judging.id) if judging else None,
        baseline,
        judging.settings["model"] if judging else "",
    )


def baseline_of(run: RunInfo, runs: Sequence[RunInfo]) -> RunInfo | None:
    """Of the same model's runs over the same items its baseline, asked in the same way if there is one."""
    wanted = task_of(run).against, run.settings["model"]
    baselines = [other for other in runs if (other.settings["task"], other.settings["model"]) == wanted]
    answered = [other for other in baselines if other.n_answered]
    request = run.settings["request"]
    return max(
        answered, key=lambda other: (other.settings["request"] == request, other.n_answered), default=None
    )


def reliability_report(store: Store, name: str, model: str | None = None, judge: str | None = None) -> Report:
    """The cards of an item set's models (or of one), as the table ``tests``; or of a run its score and every answer.

    `SettingError` where no such model was asked.
    """
    if name not in {info.name for info in ITEM_SETS.all(store)}:
        score = run_score(store, name, judge)
        title = f"{score.task.title} of {score.spec.model}: {score.task.figure.title}"
        tables = {
            "score": pd.DataFrame([score.record()]),
            "variants": score.variants,
            "answers": score.answers,
        }
        notes = (
            f"{score.task.figure.title}: {score.task.figure.of}.",
            f"The value of a variant: {score.task.figure.variant_title}.",
            *(f"{quantity(n, 'item')} left out: {reason}." for reason, n in score.left_out.items()),
        )
        shown = ["p" if name == "p_holm" else name for name in BRIEF]
        return Report(title, tables, notes, LEGEND, {"score": shown, "answers": ()}, SHARES)
    models = dict.fromkeys(run.settings["model"] for run in reliability_runs(store, name))
    cards = [model_card(store, name, known) for known in models if model in (None, known)]
    if not cards:
        problem = f"has no answers of {model}" if model else "was asked of no model"
        raise SettingError(f"item set {name}", problem, "Start with `reliability run`.")
    figures = dict.fromkeys(score.task.figure for card in cards for score in card.scores)
    notes = tuple(f"{figure.name}: {figure.of}." for figure in figures)
    tests = pd.concat([card.frame() for card in cards], ignore_index=True)
    return Report(
        f"What a model can be trusted with: {name}", {"tests": tests}, notes, LEGEND, {"tests": BRIEF}, SHARES
    )
