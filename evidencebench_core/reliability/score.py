"""Answers to a task's probes as a frame, and its figures: overall, by variant, and against the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.reliability.figures import label_tables
from evidencebench_core.reliability.items import ItemSet
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.runs import Results, judgements, settings_label, task_of
from evidencebench_core.reliability.tasks import Probes, ReliabilityTask
from evidencebench_core.runs import ChatSpec, Result, RunInfo
from evidencebench_core.runs.labels import label_of
from evidencebench_core.stats import Estimate, bootstrap, paired, weighted_f1

STATES: Final = ("right", "wrong", "null")
COLUMNS: Final = [
    "probe", "item", "variant", "unit", "expected", "label", "state", "reason", "wording", "text", "reference",
    "judgement",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A score compared with its baseline, on n answers to the same items."""

    n: int
    difference: Estimate
    p: float | None  # of right and wrong, by sign flips
    moves: pd.DataFrame  # counts by state in the baseline (rows) and in this run
    same: float  # the share with the same label
    followed: tuple[int, int] | None = (
        None  # negated texts: answers that turned with them, of those right before
    )


@dataclass(frozen=True, eq=False)
class TaskScore:
    """The score of a run. Figures are 0 to 1."""

    run: RunInfo
    answers: pd.DataFrame  # with `COLUMNS`: "unit" is drawn together, "reason" why there is no label
    value: Estimate  # over the answers of the headline; n counts items
    left_out: Mapping[str, int]  # number of items that are not in the figure, by reason
    n_open: int  # questions that have not been asked
    constants: Mapping[str, float]  # the figure, if every answer were the same label
    baseline: Comparison | None = None  # the same model on unchanged questions
    judge: str = ""  # the model that read free texts

    @property
    def task(self) -> ReliabilityTask:
        return task_of(self.run)

    @property
    def spec(self) -> ChatSpec:
        return ChatSpec.of(self.run)

    @property
    def headline(self) -> pd.DataFrame:
        """The answers behind the task's figure."""
        return _headline(self.task, self.answers)

    @cached_property
    def variants(self) -> pd.DataFrame:
        """A row a variant: ``variant, n, value, low, high, null_rate``, the value that of `Figure.variant_title`."""
        measure = self.task.figure.of_variant[1] if self.task.figure.of_variant else self.task.figure.measure
        rows = []
        for name, answers in self.answers.groupby("variant", sort=False):
            value = measure(answers, self.task.read_labels).as_dict()
            null_rate = float((answers["state"] == "null").mean())
            rows.append({"variant": name, **value, "n": len(answers), "null_rate": null_rate})
        return pd.DataFrame(rows, columns=["variant", "n", "value", "low", "high", "null_rate"])

    @property
    def null_rate(self) -> float | None:
        return float((self.headline["state"] == "null").mean()) if len(self.headline) else None

    @property
    def p(self) -> float | None:
        """The p-value of the figure's own test, else of the difference from the baseline."""
        if self.task.figure.p_value:
            return self.task.figure.p_value(self.answers)
        return self.baseline.p if self.baseline else None

    def in_words(self) -> str:
        """The result as counts, for readers who are not researchers."""
        if self.headline.empty:
            return "Nothing to score yet."
        words = self.task.figure.words(self)
        return f"{words} Not asked yet: {self.n_open:,} questions." if self.n_open else words

    def record(self) -> dict[str, Any]:
        """The figures as JSON values: a row of the card."""
        against = self.baseline.difference if self.baseline else Estimate(None)
        settings = settings_label(self.run)
        best = max(self.constants, key=self.constants.__getitem__, default="")
        return {
            "model": self.spec.model,
            "task": self.task.name,
            "test": f"{self.task.title} ({settings})" if settings else self.task.title,
            "run": self.run.id,
            "figure": self.task.figure.title,
            **self.value.as_dict(),
            "n_open": self.n_open,
            "null_rate": self.null_rate,
            "constant": best,
            "constant_value": self.constants.get(best),
            "difference": against.value,
            "difference_low": against.low,
            "difference_high": against.high,
            "same": self.baseline.same if self.baseline else None,
            "p": self.p,
            "judge": self.judge,
            "in_words": self.in_words(),
            "left_out": ", ".join(f"{reason} ({n:,})" for reason, n in self.left_out.items()),
        }


# -- answers ---------------------------------------------------------------------------------------


def answers_frame(
    task: ReliabilityTask, probes: Probes, results: Results, labelled: Results | None = None
) -> pd.DataFrame:
    """One row for each answer or failure; free texts only if they were judged, or have nothing to judge.

    ``labelled`` are a judge's results.
    """
    rows = []
    judged = judgements(task, probes, results)
    for probe in probes.probes:
        result, judgement = results.get(probe.id), None
        if result is None or _lacks_wording(probe, result) or (task.labels and probe.expected is None):
            continue
        if probe.id in judged:
            judgement = (labelled or {}).get(judged[probe.id][0])
        if task.judge and (labelled is None or (probe.id in judged and judgement is None)):
            continue
        expected = task.expected(probe)
        label, reason = label_of(judgement or result, task.read_labels if judgement else task.labels)
        rows.append(
            {
                "probe": probe.id,
                "item": probe.item.id,
                "variant": probe.variant,
                "unit": probe.item.group or probe.item.id,
                "expected": expected,
                "label": label,
                "state": "null" if label is None else "right" if label == expected else "wrong",
                "reason": reason,
                "wording": "" if isinstance(result, str) else result.get("wording", ""),
                "text": _result_text(result),
                "reference": "".join(probe.item.long_answer[:1]) if task.judge else "",
                "judgement": _result_text(judgement or ""),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def _result_text(result: Result | str) -> str:
    return result if isinstance(result, str) else str(result["text"])


def _lacks_wording(probe: Probe, result: Result | str) -> bool:
    """Whether the question was not asked because it could not be reworded."""
    return bool(probe.reworded) and not isinstance(result, str) and not result.get("wording")


# -- figures ---------------------------------------------------------------------------------------


def task_score(
    run: RunInfo,
    items: ItemSet,
    probes: Probes,
    results: Results,
    labelled: Results | None = None,
    baseline: TaskScore | None = None,
    judge: str = "",
) -> TaskScore:
    """Score the answers of a run; no model is asked. Free text is scored if a judge has read it."""
    task = task_of(run)
    answers = answers_frame(task, probes, results, labelled)
    top = _headline(task, answers)
    return TaskScore(
        run=run,
        answers=answers,
        value=_value(task, top),
        left_out=_left_out(items, probes, results, top),
        n_open=sum(probe.id not in results for probe in probes.probes),
        constants=_constants(task, top),
        baseline=_against(task, top, baseline),
        judge=judge,
    )


def _headline(task: ReliabilityTask, answers: pd.DataFrame) -> pd.DataFrame:
    wanted = answers["variant"].isin(task.headline)
    return answers[wanted] if wanted.any() else answers


def _value(task: ReliabilityTask, answers: pd.DataFrame) -> Estimate:
    return task.figure.measure(answers, task.read_labels) if len(answers) else Estimate(None)


def _against(task: ReliabilityTask, answers: pd.DataFrame, baseline: TaskScore | None) -> Comparison | None:
    """Comparison with the baseline's answers to the same items; ``None`` if there are none, or its figure differs."""
    if baseline is None or (task.figure, task.labels) != (baseline.task.figure, baseline.task.labels):
        return None
    columns = ["item", "expected", "label", "state"]
    pairs = answers.merge(baseline.answers[columns], on="item", suffixes=("", "_before"))
    if pairs.empty:
        return None
    before = pairs.assign(expected=pairs["expected_before"], label=pairs["label_before"])
    tables = [label_tables(side, task.read_labels) for side in (pairs, before)]
    difference = bootstrap(
        np.stack(tables, axis=1),
        lambda sums: weighted_f1(sums[:, 0]) - weighted_f1(sums[:, 1]),
        pairs["unit"],
    )
    right, right_before = pairs["state"] == "right", pairs["state_before"] == "right"
    moves = pd.crosstab(pairs["state_before"], pairs["state"])
    turned = pairs[(pairs["expected"] != pairs["expected_before"]) & right_before & pairs["label"].notna()]
    n_followed = int((turned["label"] != turned["label_before"]).sum())
    same = pairs["label"].notna() & (pairs["label"] == pairs["label_before"])
    return Comparison(
        n=len(pairs),
        difference=difference,
        p=paired(right.astype(float), right_before.astype(float), pairs["unit"]).p,
        moves=moves.reindex(index=STATES, columns=STATES, fill_value=0),
        same=float(same.mean()),
        followed=(n_followed, len(turned)) if len(turned) else None,
    )


def _constants(task: ReliabilityTask, top: pd.DataFrame) -> dict[str, float]:
    """The figure if all answers were one label, by label; none for a judge whose yes is always right."""
    if top.empty or (top["expected"].nunique() < 2 and task.judge):
        return {}
    one_group = top.assign(unit="all")  # so that no interval is computed, which is slow
    values = {label: _value(task, one_group.assign(label=label)).value for label in task.read_labels}
    return {label: value for label, value in values.items() if value is not None}


def _left_out(items: ItemSet, probes: Probes, results: Results, top: pd.DataFrame) -> dict[str, int]:
    """How many items are not in the figure, by reason; the most frequent reason first."""
    scored = set(top["item"])
    reasons = dict(probes.left_out)
    for probe in probes.probes:
        result = results.get(probe.id)
        if result is None:
            reasons.setdefault(probe.item.id, "not asked yet")
        else:
            reasons[probe.item.id] = (
                "no usable rewording" if _lacks_wording(probe, result) else "not judged yet"
            )
    return dict(Counter(reasons[item.id] for item in items.items if item.id not in scored).most_common())
