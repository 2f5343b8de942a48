"""Answers to the probes of a task -> the score: the task's figure and all that is needed to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from evidencebench_core import metrics
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.reliability.figures import (
    NULL,
    BiasDetail,
    VariantScore,
    bias_detail,
    constant_figures,
    refrain_gap,
    slice_scores,
    task_axes,
    task_statistic,
    variant_score,
)
from evidencebench_core.reliability.items import ItemSet
from evidencebench_core.reliability.judge import Judgements, JudgeReport, judge_report, judged_reads
from evidencebench_core.reliability.paired import Paired, paired_comparison
from evidencebench_core.reliability.probes import Probes
from evidencebench_core.reliability.published import PublishedFigure, neighbours
from evidencebench_core.reliability.reads import (
    Axes,
    Draws,
    Estimate,
    ProbeRead,
    Results,
    Statistic,
    number_or_none,
    probe_read,
)
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, ReliabilityTask


@dataclass(frozen=True, slots=True)
class TaskScore:
    """The score of a model on a task. Shares and figures are 0 to 1, ``None`` where undefined.

    What has no variant's name is of the headline variants (``headline``): three spelling errors, the wrong context,
    statements in the given order; else of all.
    """

    task: str
    items: str
    model: str
    run: str  # its id
    as_published: bool
    settings: Mapping[str, Any]
    headline: tuple[str, ...]
    n_items: int
    n_scored: int  # items behind the figure
    left_out: Mapping[str, int]  # items by reason
    n_probes: int  # answers behind it: labels + nulls
    labels: Mapping[str, int]  # how often each was read
    nulls: Mapping[str, int]  # by reason
    figure: str  # the name of the one that stands for the task
    value: Estimate
    f1_weighted: Estimate
    f1_macro: float | None
    f1_answered: float | None
    coverage: float | None
    accuracy: float | None
    confusion: Mapping[str, Mapping[str, int]]  # by expected label, how often each label and "null" was read
    constants: Mapping[str, float | None]  # the figure, if every answer were the same
    annotators: Mapping[str, float | None]  # weighted F1, a maybe being null
    readers: Mapping[str, float | None]  # the figure by each
    readers_differ: int
    n_unreviewed: int  # probes with a wording that nobody has read
    variants: Mapping[str, VariantScore]  # in the order of the probes
    slices: Mapping[str, VariantScore]  # the headline by what was changed
    bias: BiasDetail | None
    refrain_gap: Estimate | None  # of the wrong minus the right context
    judged: JudgeReport | None
    followed: tuple[int, int] | None  # (n, of): right in the baseline, and turned round with the text
    baseline: Paired | None
    published: tuple[PublishedFigure, ...]
    reads: tuple[ProbeRead, ...] = field(repr=False)
    before: Mapping[str, str] = field(repr=False)  # by item id, the state in the baseline

    @property
    def reader(self) -> str:
        return "official" if self.as_published else "ours"

    @property
    def null_rate(self) -> float | None:
        return None if self.coverage is None else 1.0 - self.coverage

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values; ``ci95`` is that of weighted F1, and the orders of few-shot examples are its variants."""
        values = {one.name: plain(getattr(self, one.name)) for one in fields(self) if one.repr}
        values |= {
            "reader": self.reader,
            "n_left_out": sum(self.left_out.values()),
            "null_rate": self.null_rate,
        }
        values |= {"f1_weighted": self.f1_weighted.value, "ci95": plain(self.f1_weighted.ci95)}
        if self.bias:
            orders = {
                name: {"share": one.share_of_yes.value, "f1": one.f1_weighted.value}
                for name, one in self.variants.items()
            }
            detail = {"bias": self.value} | {
                one.name: getattr(self.bias, one.name) for one in fields(self.bias)
            }
            values |= {"orders": orders} | {name: one.value for name, one in detail.items()}
            values |= {f"{name}_ci95": plain(one.ci95) for name, one in detail.items()}
        return values

    def frame(self) -> pd.DataFrame:
        """One row an answer, in the order of the probes; a judge's tokens and seconds where a judge reads."""
        return pd.DataFrame(
            [
                {
                    "probe": one.probe.id,
                    "item": one.probe.item_id,
                    "variant": one.probe.variant,
                    "expected": one.probe.expected,
                    "gold": one.probe.gold,
                    "official": one.official,
                    "label": one.ours.label,
                    "rule": one.ours.rule,
                    "reason": one.ours.reason,
                    "state": one.state,
                    "before": self.before.get(one.probe.item_id),
                    "tokens": None if isinstance(one.result, str) else one.result.get("completion_tokens"),
                    "seconds": None if isinstance(one.result, str) else one.result.get("seconds"),
                }
                for one in self.reads
            ]
        )


@dataclass(frozen=True, slots=True)
class TaskRun:
    """The answers of a model to the probes of a task."""

    task: ReliabilityTask
    items: ItemSet
    probes: Probes  # of the whole item set
    results: Results  # by id of the probe; a text is why its call failed
    id: str = ""
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # of `task_settings`

    @property
    def as_published(self) -> bool:
        return self.settings.get("as_published") is True

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the answers, or of the judge that reads them."""
        return self.task.labels or self.task.judge_labels


def task_score(
    run: TaskRun, baseline: TaskScore | None = None, judge: Judgements | None = None, seed: int = 0
) -> TaskScore:
    """Score the answers of a run; no model is asked.

    Parameters
    ----------
    run : TaskRun
        Items none of whose probes has a result are left out.
    baseline : TaskScore, optional
        Of the baseline task, the same model and items.
    judge : Judgements, optional
        For free texts: without them nothing is scored.
    seed : int
        Of the resamples (10,000).
    """
    task, items = run.task, run.items
    baseline = baseline if task.labels else None  # a judge's labels are not the model's own answers
    reads = _reads(run, judge)
    axes = task_axes(task, reads)
    labels, pooled = axes.labels, axes.pooled
    top = [one for one in reads if one.probe.variant in axes.headline]
    draws = Draws(axes.units(reads), seed, by_label=task.figure == "bias")
    statistic = task_statistic(task, axes)
    total = pooled(draws.total)
    scored = {one.probe.item_id for one in top}
    return TaskScore(
        task=task.name,
        items=items.name,
        model=run.model,
        run=run.id,
        as_published=run.as_published,
        settings=run.settings,
        headline=axes.headline,
        n_items=len(items.items),
        n_scored=len(scored),
        left_out=_left_out(run, scored),
        n_probes=len(top),
        labels={label: sum(one.label == label for one in top) for label in labels},
        nulls=dict(Counter(one.reason for one in top if one.label is None).most_common()),
        figure=task.figure,
        value=draws.estimate(statistic),
        f1_weighted=draws.estimate(lambda tables: metrics.weighted_f1(pooled(tables))),
        f1_macro=number_or_none(metrics.macro_f1(total)),
        f1_answered=number_or_none(metrics.answered_f1(total)),
        coverage=number_or_none(metrics.coverage(total)),
        accuracy=number_or_none(metrics.accuracy(total)),
        confusion={
            label: dict(zip((*labels, NULL), row, strict=True))
            for label, row in zip(labels, total.tolist(), strict=True)
            if sum(row)
        },
        constants={}
        if task.figure == "judged_accuracy"
        else constant_figures(draws.total, labels, statistic),
        annotators=_annotators(items, top) if task.figure.endswith("f1") else {},
        readers=_by_reader(reads, axes, statistic),
        readers_differ=sum(one.official != one.ours.label for one in top),
        n_unreviewed=sum(one.probe.details.get("reviewed") is False for one in top),
        variants={
            name: variant_score(draws, place, labels, [one for one in reads if one.probe.variant == name])
            for place, name in enumerate(axes.variants)
            if reads
        },
        slices=slice_scores(top, labels, seed),
        bias=bias_detail(draws, axes.variants) if task.figure == "bias" and reads else None,
        refrain_gap=refrain_gap(draws, axes),
        judged=judge_report(run.task, draws, statistic, reads, judge, run.model),
        followed=_turn_counts(top, baseline),
        baseline=_against(reads, baseline, axes, seed),
        published=neighbours(task.name),
        reads=reads,
        before={one.probe.item_id: one.state for one in baseline.reads} if baseline else {},
    )


def compare_scores(a: TaskScore, b: TaskScore, seed: int = 0) -> Paired:
    """Two models on the same probes of a task: a against b, as against a baseline. Differences are a minus b.

    Raises
    ------
    SettingError
        If they are of different tasks, item sets or constructions, or no probe was put to both in the same words.
    """
    for name in ("task", "items", "as_published"):
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            remedy = "Compare two scores of one task, item set and construction."
            raise SettingError("compare", f"{name} is {shown(one)} in a and {shown(other)} in b", remedy)
    if a.judged and b.judged and a.judged.judge != b.judged.judge:
        problem = (
            f"the answers of {a.model} are judged by {a.judged.judge}, those of {b.model} by {b.judged.judge}"
        )
        raise SettingError("compare", problem, "Have both judged by one model.")
    for one in (a, b):
        if not one.reads:
            what = "judged" if "judged" in one.figure else "there"
            remedy = (
                "Have the answers of both judged by one model."
                if what == "judged"
                else "Run the task for both."
            )
            raise SettingError("compare", f"the answers of {one.model} are not {what} yet", remedy)
    others = {one.probe.id: one for one in b.reads}
    pairs = [
        (others[one.probe.id], one)
        for one in a.reads
        if one.probe.id in others and dict(others[one.probe.id].probe.fields) == dict(one.probe.fields)
    ]
    if not pairs:
        problem = "no question was put to both in the same words"
        raise SettingError("compare", problem, "Compare runs with the same settings, seed and wordings.")
    task = RELIABILITY_TASKS[a.task]
    axes = task_axes(task, [one for _, one in pairs])
    figure = task.figure, task_statistic(task, axes)
    return paired_comparison(pairs, axes, figure, (b.run, b.model), len(a.reads) - len(pairs), seed)


# -- what is scored -------------------------------------------------------------------------------


def _reads(run: TaskRun, judge: Judgements | None) -> tuple[ProbeRead, ...]:
    if not run.task.labels:
        return judged_reads(run.task, run.probes.probes, run.results, judge, run.as_published)
    return tuple(
        probe_read(one, run.results[one.id], run.labels, run.as_published)
        for one in run.probes.probes
        if one.id in run.results and one.expected is not None
    )


def _annotators(items: ItemSet, top: Sequence[ProbeRead]) -> dict[str, float | None]:
    """Weighted F1 of each annotator over the items behind the figure, where their gold label is the one expected."""
    asked = {one.probe.item_id for one in top if one.probe.expected == one.probe.gold}
    labels = ("yes", "no")
    marked = [one for one in items.items if one.id in asked and one.answer in labels]
    figures = {}
    for name in dict.fromkeys(name for one in marked for name in one.annotators):
        read = [one.annotators.get(name) for one in marked]
        table = metrics.confusion(
            [str(one.answer) for one in marked], [one if one in labels else None for one in read], labels
        )
        figures[name] = number_or_none(metrics.weighted_f1(table))
    return figures


def _by_reader(reads: Sequence[ProbeRead], axes: Axes, statistic: Statistic) -> dict[str, float | None]:
    by_reader = {
        "ours": [replace(one, label=one.ours.label) for one in reads],
        "official": [replace(one, label=one.official) for one in reads],
    }
    return {name: number_or_none(statistic(axes.units(some).sum(axis=0))) for name, some in by_reader.items()}


def _left_out(run: TaskRun, scored: Collection[str]) -> dict[str, int]:
    """How many items have no part in the figure, by reason; the most frequent reason first."""
    answered = {one.item_id for one in run.probes.probes if one.id in run.results}
    waiting = {True: "no expected label" if run.task.labels else "not judged yet", False: "not asked yet"}
    reasons = (
        run.probes.left_out.get(one.id) or waiting[one.id in answered]
        for one in run.items.items
        if one.id not in scored
    )
    return dict(Counter(reasons).most_common())


# -- against the baseline -------------------------------------------------------------------------


def _against(reads: Sequence[ProbeRead], baseline: TaskScore | None, axes: Axes, seed: int) -> Paired | None:
    """Every answer against that to the same item in the baseline, where both can answer the same."""
    before = {one.probe.item_id: one for one in baseline.reads} if baseline else {}
    pairs = [(before[one.probe.item_id], one) for one in reads if one.probe.item_id in before]
    if not baseline or not pairs or any(one.probe.labels != axes.labels for pair in pairs for one in pair):
        return None
    figure = "weighted_f1", lambda tables: metrics.weighted_f1(axes.pooled(tables))
    alone = [one for one in reads if one.probe.variant in axes.headline and one.probe.item_id not in before]
    return paired_comparison(pairs, axes, figure, (baseline.run, baseline.model), len(alone), seed)


def _turn_counts(top: Sequence[ProbeRead], baseline: TaskScore | None) -> tuple[int, int] | None:
    """Labels that turned round with a text that says the opposite; ``None`` where no text does."""
    before = {one.probe.item_id: one for one in baseline.reads} if baseline else {}
    turned = [
        one for one in top if one.probe.expected != one.probe.gold and one.probe.expected in ("yes", "no")
    ]
    if not turned or not before:
        return None
    was_right = [
        (before[one.probe.item_id], one)
        for one in turned
        if one.label and one.probe.item_id in before and before[one.probe.item_id].state == "right"
    ]
    return sum(one.label != other.label for other, one in was_right), len(was_right)


def plain(value: Any) -> Any:
    """As JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (tuple, list)) else value
