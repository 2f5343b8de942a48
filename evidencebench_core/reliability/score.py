"""Answers to the probes of a task as a frame, and the figures of it: the task's own, by variant, and in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.reliability.items import ItemSet
from evidencebench_core.reliability.labels import read_label
from evidencebench_core.reliability.runs import (
    ReliabilityRun,
    Results,
    judge_fields,
    judge_unit,
)
from evidencebench_core.reliability.tasks import Probe, Probes, ReliabilityTask
from evidencebench_core.runs import Result
from evidencebench_core.stats import Estimate, accuracy, bootstrap, paired, quotient, weighted_f1

STATES: Final = ("right", "wrong", "null")
COLUMNS: Final = (
    "probe", "item", "variant", "unit", "expected", "gold", "label", "state", "reason", "wording", "text",
)  # fmt: skip
Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A score against its baseline, a ``run``, on n answers to the same items, by weighted F1.

    ``p`` is of right and wrong, by sign flips. ``moves`` counts how each state of the baseline (rows) became which of
    this one, ``same`` is the share with one label; ``followed`` is, of texts that say the opposite, how many answers
    turned with it, of how many right before.
    """

    run: str
    n: int
    difference: Estimate
    p: float | None
    moves: pd.DataFrame
    same: float
    followed: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TaskScore:
    """The score of a run. Figures are 0 to 1.

    Attributes
    ----------
    answers : DataFrame
        One row an answer, with `COLUMNS`; ``unit`` is what is drawn together, ``reason`` why there is no label.
    variants : DataFrame
        One row a variant: ``variant, n, value, low, high, null_rate``.
    value : Estimate
        The task's figure, over the answers of its headline; ``n`` counts items.
    left_out : mapping of str to int
        Items without a part in the figure, by reason.
    constants : mapping of str to float
        The figure, if every answer were the same label.
    """

    run: ReliabilityRun
    items: str
    answers: pd.DataFrame
    variants: pd.DataFrame
    value: Estimate
    left_out: Mapping[str, int]
    constants: Mapping[str, float]
    baseline: Comparison | None = None  # the same model, with nothing changed
    judge: str = ""  # the model that read free texts

    @property
    def task(self) -> ReliabilityTask:
        return self.run.task

    @property
    def headline(self) -> pd.DataFrame:
        """The answers behind the task's figure."""
        return headline(self.task, self.answers)

    @property
    def null_rate(self) -> float:
        return float((self.headline["state"] == "null").mean())


def headline(task: ReliabilityTask, answers: pd.DataFrame) -> pd.DataFrame:
    wanted = answers["variant"].isin(task.headline)
    return answers[wanted] if wanted.any() else answers


# -- answers ---------------------------------------------------------------------------------------


def answers_frame(
    task: ReliabilityTask, probes: Probes, results: Results, judgements: Results | None = None
) -> pd.DataFrame:
    """One row an answer that came, or failed; of free text those that were judged, or hold nothing to judge."""
    rows = []
    asked_of_judge = judge_fields(task, probes, results) if task.judge_prompt else {}
    for probe in probes.probes:
        result = results.get(probe.id)
        if result is None or _lacks_wording(probe, result) or (task.labels and probe.expected is None):
            continue
        judgement: Result | str | None = result
        if probe.id in asked_of_judge:
            judgement = (judgements or {}).get(judge_unit(probe.id, asked_of_judge[probe.id]))
        elif task.judge_prompt and judgements is None:
            continue
        if judgement is not None:
            rows.append(_row(task, probe, result, judgement))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(
    task: ReliabilityTask, probe: Probe, result: Result | str, judgement: Result | str
) -> dict[str, object]:
    label, reason = _label(judgement, task.read_labels)
    expected = probe.expected
    if task.judge_prompt:
        expected = "yes" if task.figure == "judged_accuracy" else probe.item.answer
    return {
        "probe": probe.id,
        "item": probe.item.id,
        "variant": probe.variant,
        "unit": probe.item.group or probe.item.id,
        "expected": expected,
        "gold": probe.item.answer,
        "label": label,
        "state": "null" if label is None else "right" if label == expected else "wrong",
        "reason": reason,
        "wording": "" if isinstance(result, str) else result.get("wording", ""),
        "text": result if isinstance(result, str) else result["text"],
    }


def _label(result: Result | str, labels: Sequence[str]) -> tuple[str | None, str]:
    if isinstance(result, str):
        return None, "failed"
    text = str(result["text"])
    if label := read_label(text, labels):
        return label, ""
    answer = after_thinking(text)
    why = no_answer_reason(answer, result.get("refusal"), result.get("finish_reason"))
    return None, why or ("no_label" if answer and answer.strip() else "empty")


def _lacks_wording(probe: Probe, result: Result | str) -> bool:
    """Whether nothing was asked, as no model could reword it."""
    return bool(probe.reworded) and not isinstance(result, str) and not result.get("wording")


# -- figures ---------------------------------------------------------------------------------------


def task_score(
    run: ReliabilityRun,
    items: ItemSet,
    probes: Probes,
    results: Results,
    judgements: Results | None = None,
    baseline: TaskScore | None = None,
    judge: str = "",
) -> TaskScore:
    """Score the answers of a run; no model is asked. Free text is scored where a judge has read it."""
    task = run.task
    answers = answers_frame(task, probes, results, judgements)
    top = headline(task, answers)
    rows = []
    for name, some in answers.groupby("variant", sort=False):
        value = _estimate(task, some, _statistic(task, of_variant=True))
        null_rate = float((some["state"] == "null").mean())
        rows.append({"variant": name, **value.as_dict(), "n": len(some), "null_rate": null_rate})
    against = None
    if baseline is not None and task.labels == baseline.task.labels:
        against = _against(task, top, baseline)
    return TaskScore(
        run,
        items.name,
        answers,
        pd.DataFrame(rows, columns=["variant", "n", "value", "low", "high", "null_rate"]),
        _estimate(task, top, _statistic(task)),
        _left_out(items, probes, results, top),
        _constants(task, top),
        against,
        judge,
    )


def _against(task: ReliabilityTask, answers: pd.DataFrame, baseline: TaskScore) -> Comparison | None:
    """Answers against the baseline's to the same items; ``None`` where there are none."""
    columns = ["item", "expected", "label", "state"]
    pairs = answers.merge(baseline.answers[columns], on="item", suffixes=("", "_before"))
    if pairs.empty:
        return None
    before = pairs.assign(expected=pairs["expected_before"], label=pairs["label_before"])
    tables = [_tables(side, task.read_labels) for side in (pairs, before)]
    statistic = _pooled(weighted_f1)
    difference = bootstrap(
        np.stack(tables, axis=1),
        lambda sums: statistic(sums[:, 0]) - statistic(sums[:, 1]),
        pairs["unit"],
    )
    right, right_before = pairs["state"] == "right", pairs["state_before"] == "right"
    moves = pd.crosstab(pairs["state_before"], pairs["state"])
    turned = pairs[(pairs["expected"] != pairs["expected_before"]) & right_before & pairs["label"].notna()]
    n_followed = int((turned["label"] != turned["label_before"]).sum())
    same = pairs["label"].notna() & (pairs["label"] == pairs["label_before"])
    return Comparison(
        baseline.run.id,
        len(pairs),
        difference,
        paired(right.astype(float), right_before.astype(float), pairs["unit"]).p,
        moves.reindex(index=STATES, columns=STATES, fill_value=0),
        float(same.mean()),
        (n_followed, len(turned)) if len(turned) else None,
    )


def _estimate(task: ReliabilityTask, answers: pd.DataFrame, statistic: Statistic) -> Estimate:
    if answers.empty:
        return Estimate(None)
    # The interval does not depend on the order of the items.
    answers = answers.sort_values(["expected", "label", "unit"], ascending=[False, True, True])
    units = pd.factorize(answers["unit"])[0]
    tables = _tables(answers, task.read_labels)
    return bootstrap(tables, statistic, units, n=answers["item"].nunique())


def _tables(answers: pd.DataFrame, labels: Sequence[str]) -> Array:
    """The table of each answer, a single 1: shape (n, n_variants, n_labels, n_labels + 1)."""
    variants = pd.factorize(answers["variant"])[0]
    rows = [labels.index(label) for label in answers["expected"]]
    columns = [labels.index(label) if label in labels else len(labels) for label in answers["label"]]
    tables = np.zeros((len(answers), variants.max() + 1, len(labels), len(labels) + 1))
    tables[np.arange(len(answers)), variants, rows, columns] = 1
    return tables


def _pooled(figure: Statistic) -> Statistic:
    return lambda tables: figure(tables.sum(axis=1))


def _statistic(task: ReliabilityTask, of_variant: bool = False) -> Statistic:
    """The task's figure, of tables of shape (m, n_variants, n_labels, n_labels + 1); of one order the share of yes."""
    if task.figure == "bias":
        return _pooled(_share_of_yes) if of_variant else _bias
    if task.figure == "refrain_rate":
        return _pooled(_share_of_unknown)
    return _pooled(accuracy if task.figure == "judged_accuracy" else weighted_f1)


def _bias(tables: Array) -> Array:
    """Mean over orders of how far the share of yes is from a half; NaN where gold has one label only."""
    has_both = (tables.sum(axis=-1) > 0).all(axis=-1)
    shares = np.where(has_both, _share_of_yes(tables), np.nan)
    return np.asarray(np.abs(shares - 0.5).mean(axis=-1))


def _share_of_yes(tables: Array) -> Array:
    """Yes among the answers yes and no."""
    read = tables.sum(axis=-2)
    return quotient(read[..., 0], read[..., 0] + read[..., 1])


def _share_of_unknown(tables: Array) -> Array:
    return quotient(tables[..., 2].sum(axis=-1), tables.sum(axis=(-2, -1)))


def _constants(task: ReliabilityTask, top: pd.DataFrame) -> dict[str, float]:
    if top.empty or task.figure == "judged_accuracy":
        return {}
    constants = {}
    for label in task.read_labels:
        tables = _tables(top.assign(label=label), task.read_labels)
        constants[label] = float(_statistic(task)(tables.sum(axis=0)[None])[0])
    return constants


def _left_out(items: ItemSet, probes: Probes, results: Results, top: pd.DataFrame) -> dict[str, int]:
    """How many items have no part in the figure, by reason; the most frequent reason first."""
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
