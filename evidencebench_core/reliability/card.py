"""Runs in the store -> scores, the card of a model, and the report that page, command and notebook draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from evidencebench_core.analyses import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.items import ITEM_SETS, ItemSet, item_set
from evidencebench_core.reliability.runs import (
    KIND,
    items_of,
    reliability_runs,
    run_probes,
    settings_label,
    task_of,
)
from evidencebench_core.reliability.score import TaskScore, task_score
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task
from evidencebench_core.runs import RunInfo, RunStore, chat_run, judge_run
from evidencebench_core.stats import Estimate, holm
from evidencebench_core.words import enumerated

BRIEF: Final = (
    "model", "test", "figure", "value", "low", "high", "n", "null_rate", "difference", "p_holm", "judge", "in_words",
)  # fmt: skip
"""The most important columns of a card."""
SHARES: Final = ("value", "null_rate", "constant_value", "difference_low", "difference_high", "same")
LEGEND: Final = {
    "difference": "from the baseline, of the same figure, paired by question",
    "p_holm": "corrected for all tests of the model: of right and wrong against the baseline; of bias, that all orders "
    "of the examples are alike (Cochran's Q)",
    "null_rate": "answers that could not be read / answers",
}


def model_card(store: Store, items: str, model: str) -> pd.DataFrame:
    """Every task that a model was run on over an item set, once for each of its settings.

    A row a test (`TaskScore.record`), in the order of `RELIABILITY_TASKS`; p-values are corrected for all rows.
    """
    runs = [run for run in reliability_runs(store, items) if run.settings["model"] == model]
    whole, scores = item_set(store, items), dict[str, TaskScore]()
    for run in shown_runs(runs):
        baseline = baseline_of(run, runs)
        if baseline is not None and baseline.id not in scores:
            scores[baseline.id] = _score(store, baseline, whole)
        if run.id not in scores:
            scores[run.id] = _score(store, run, whole, scores[baseline.id] if baseline else None)
    rows = [scores[run.id].record() for run in shown_runs(runs)]
    p_holm = holm([row["p"] for row in rows])
    return pd.DataFrame([{**row, "p_holm": p} for row, p in zip(rows, p_holm, strict=True)])


def headline(card: pd.DataFrame) -> str:
    """A card in a sentence: that answers are unreadable, else its first figure and its greatest loss."""
    model, scored = card["model"].iloc[0], card[card["value"].notna()]
    if scored.empty:
        return f"{model} has given no answer that can be scored."
    unread = scored.loc[scored["null_rate"] > 0.5, "test"]
    if len(unread):
        return f"{model}: most answers to {enumerated(list(unread))} hold no label that can be read."
    text = f"{model}, {scored['test'].iloc[0]}: {scored['in_words'].iloc[0]}"
    differences = scored["difference"].astype(float)
    if (differences < 0).any():
        worst = scored.iloc[int(differences.argmin())]
        text += f" It loses most in {worst['test']}: {difference_text(worst)} points."
    return text


def difference_text(test: pd.Series[Any]) -> str:
    """``−13.8 (−20.4 to −7.4)``, in points from the baseline, of a row of a card; ``–`` without one."""
    values = test[["difference", "difference_low", "difference_high"]].astype(object)
    difference, low, high = values.where(values.notna(), None)
    return Estimate(difference, low, high).text(unit="", sign=True).replace("-", "−")


def shown_runs(runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Of each task, model and settings the run with the most answers, the latest of equals, in the order of tasks."""
    best: dict[tuple[int, str, str], RunInfo] = {}
    for run in sorted(runs, key=lambda run: (run.n_answered, run.created_at)):
        place = list(RELIABILITY_TASKS).index(run.settings["task"])
        best[place, run.settings["model"], settings_label(run)] = run
    return [best[key] for key in sorted(best)]


def run_score(store: Store, run_id: str, judge: str | None = None) -> TaskScore:
    """The score of a run beside the baseline of the same model and items.

    Free texts are read by ``judge``, a model, else by the one that has read the most of them.
    """
    run = chat_run(store, run_id, KIND)
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
    against, model, request = task_of(run).against, run.settings["model"], run.settings["request"]
    baselines = [other for other in runs if other.settings["task"] == against and other.n_answered]
    of_model = [other for other in baselines if other.settings["model"] == model]
    return max(of_model, key=lambda run: (run.settings["request"] == request, run.n_answered), default=None)


def reliability_report(store: Store, name: str, model: str | None = None, judge: str | None = None) -> Report:
    """The cards of an item set's models (or of one), as the table ``tests``; or of a run its score and every answer.

    The first notes are the findings. `SettingError` where no such model was asked.
    """
    if name not in {info.name for info in ITEM_SETS.all(store)}:
        return _run_report(run_score(store, name, judge))
    models = dict.fromkeys(run.settings["model"] for run in reliability_runs(store, name))
    cards = [model_card(store, name, known) for known in models if model in (None, known)]
    if not cards:
        problem = f"has no answers of {model}" if model else "was asked of no model"
        raise SettingError(f"item set {name}", problem, "Start with `reliability run`.")
    tests = pd.concat(cards, ignore_index=True)
    figures = dict.fromkeys(task.figure for task in map(reliability_task, tests["task"]))
    notes = (*map(headline, cards), *(f"{figure.title}: {figure.of}." for figure in figures))
    title = f"What a model can be trusted with: {name}"
    return Report(title, {"tests": tests}, notes, LEGEND, {"tests": BRIEF}, SHARES)


def _run_report(score: TaskScore) -> Report:
    figure, record = score.task.figure, score.record()
    tables = {"score": pd.DataFrame([record]), "variants": score.variants, "answers": score.answers}
    notes = [record["in_words"], f"{figure.title}: {figure.of}."]
    notes += [f"The value of a variant: {figure.variant_title}."] if figure.of_variant else []
    notes += [f"Left out: {record['left_out']}."] if score.left_out else []
    shown = ["p" if name == "p_holm" else name for name in BRIEF]
    title = f"{record['test']} of {score.spec.model}: {figure.title}"
    return Report(title, tables, tuple(notes), LEGEND, {"score": shown, "answers": ()}, SHARES)
