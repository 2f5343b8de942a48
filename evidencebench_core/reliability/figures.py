"""The figures of a task's tables of labels: the one that stands for it, and those of each variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core import metrics
from evidencebench_core.llm.labels import UNKNOWN
from evidencebench_core.reliability.reads import (
    Axes,
    Draws,
    Estimate,
    ProbeRead,
    Statistic,
    Tables,
    number_or_none,
)
from evidencebench_core.reliability.tasks import ReliabilityTask

NULL: Final = "null"
_HEADLINES: Final[Mapping[str, tuple[str, ...]]] = {  # variants that a task's figure is of, where not of all
    "spelling": ("3",),
    "unknown": ("shuffled",),
    "judge": ("given",),
}
_SLICES: Final = {  # of the headline, by what was changed
    "other_gold": ("a distractor has the other answer", "no distractor has the other answer"),
    "digits_changed": ("a digit was changed", "no digit was changed"),
}


@dataclass(frozen=True, slots=True)
class VariantScore:
    """The figures of some probes, such as those of one order of examples."""

    n: int  # probes
    f1_weighted: Estimate
    f1_answered: float | None
    null_rate: float | None
    share_of_yes: Estimate
    shares: Mapping[str, float]  # of each label and "null"; sums to 1
    other_words: float  # share of unknown in other words, part of that of unknown
    n_capped: int  # probes with fewer errors than were wanted


@dataclass(frozen=True, slots=True)
class BiasDetail:
    """Few-shot bias with its sign; above 0 is for yes. Primacy, recency: see `metrics.place_contrast`."""

    signed: Estimate
    primacy: Estimate
    recency: Estimate


def task_axes(task: ReliabilityTask, reads: Sequence[ProbeRead]) -> Axes:
    variants = tuple(dict.fromkeys(one.probe.variant for one in reads)) or ("",)
    wanted = _HEADLINES.get(task.name, variants)
    headline = tuple(one for one in variants if one in wanted)
    return Axes(task.labels or task.judge_labels, variants, headline or variants[-1:])


def task_statistic(task: ReliabilityTask, axes: Axes) -> Statistic:
    """The task's figure, of tables of shape (..., n_variants, n_labels, n_labels + 1)."""
    pooled = axes.pooled
    if task.figure == "bias":
        return _bias_value
    if task.figure == "refrain_rate":
        place = axes.labels.index(UNKNOWN)
        return lambda tables: metrics.label_shares(pooled(tables))[..., place]
    of = metrics.accuracy if task.figure == "judged_accuracy" else metrics.weighted_f1
    return lambda tables: of(pooled(tables))


def _bias_value(tables: Tables) -> NDArray[np.float64]:
    return metrics.bias(_shares_of_yes(tables))


def _shares_of_yes(tables: Tables) -> NDArray[np.float64]:
    """By order; undefined without both classes, since the share says nothing then."""
    both = (tables[..., :2, :].sum(axis=-1) > 0).all(axis=-1)
    return np.where(both, metrics.share_of_yes(tables), np.nan)


def bias_detail(draws: Draws, orders: Sequence[str]) -> BiasDetail:
    return BiasDetail(
        draws.estimate(lambda tables: metrics.signed_bias(_shares_of_yes(tables))),
        draws.estimate(lambda tables: metrics.place_contrast(_shares_of_yes(tables), orders, 0)),
        draws.estimate(lambda tables: metrics.place_contrast(_shares_of_yes(tables), orders, -1)),
    )


def refrain_gap(draws: Draws, axes: Axes) -> Estimate | None:
    if not {"shuffled", "mirror"} <= set(axes.variants):
        return None
    wrong, right = map(axes.variants.index, ("shuffled", "mirror"))
    place = axes.labels.index(UNKNOWN)

    def gap(tables: Tables) -> NDArray[np.float64]:
        rates = metrics.label_shares(tables)[..., place]
        return np.asarray(rates[..., wrong] - rates[..., right])

    return draws.estimate(gap)


def variant_score(
    draws: Draws, place: int, labels: Sequence[str], reads: Sequence[ProbeRead]
) -> VariantScore:
    table = draws.total[place]
    in_other_words = sum(one.label == UNKNOWN and one.ours.rule == "other words" for one in reads)
    coverage = number_or_none(metrics.coverage(table))
    return VariantScore(
        len(reads),
        draws.estimate(lambda tables: metrics.weighted_f1(tables[..., place, :, :])),
        number_or_none(metrics.answered_f1(table)),
        None if coverage is None else 1.0 - coverage,
        draws.estimate(lambda tables: metrics.share_of_yes(tables[..., place, :, :])),
        dict(zip((*labels, NULL), metrics.label_shares(table).tolist(), strict=True)),
        in_other_words / len(reads),
        sum(one.probe.details.get("capped") is True for one in reads),
    )


def slice_scores(top: Sequence[ProbeRead], labels: Sequence[str], seed: int) -> dict[str, VariantScore]:
    slices = {}
    for detail, names in _SLICES.items():
        has_it = [one for one in top if detail in one.probe.details]
        for name, wanted in zip(names, (True, False), strict=True):
            if some := [one for one in has_it if bool(one.probe.details[detail]) is wanted]:
                variants = tuple(dict.fromkeys(one.probe.variant for one in some))
                draws = Draws(Axes(tuple(labels), variants).units(some).sum(axis=1, keepdims=True), seed)
                slices[name] = variant_score(draws, 0, labels, some)
    return slices


def constant_figures(total: Tables, labels: Sequence[str], statistic: Statistic) -> dict[str, float | None]:
    """The figure, if every answer were the same label."""
    constants = {}
    for place, label in enumerate(labels):
        always = np.zeros_like(total)
        always[..., place] = total.sum(axis=-1)
        constants[f"always {label}"] = number_or_none(statistic(always))
    return constants
