"""Two scores probe by probe: what a change of the prompt, or another model, turns right and wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evidencebench_core import metrics
from evidencebench_core.reliability.reads import (
    STATES,
    Axes,
    Draws,
    Estimate,
    ProbeRead,
    Statistic,
    number_or_none,
)
from evidencebench_core.stats import compare_paired


@dataclass(frozen=True, slots=True)
class Paired:
    """One score against another, over the probes that both have an answer to."""

    run: str  # of the other
    model: str
    n: int
    n_unpaired: int  # probes without a counterpart, which count for nothing here
    figure: str
    other: float | None  # the other's figure over the pairs
    difference: Estimate  # this minus the other
    relative_change: float | None
    p_value: float | None  # sign flips of right and wrong: McNemar's exact test up to 13 that differ
    flips: Mapping[str, Mapping[str, int]]  # the other's state, then this one's
    consistency: float | None  # share with the same label in both
    consistency_answered: float | None  # the same of those answered in both
    variants: Mapping[str, Estimate]  # differences of weighted F1


def paired_comparison(
    pairs: Sequence[tuple[ProbeRead, ProbeRead]],
    axes: Axes,
    figure: tuple[str, Statistic],
    other: tuple[str, str],
    n_unpaired: int = 0,
    seed: int = 0,
) -> Paired:
    """Compare pairs of the other's answer and this one's, by a figure (name, statistic); ``other`` is (run, model)."""
    name, statistic = figure
    draws = Draws(axes.units_of_sides(pairs), seed)
    difference = draws.estimate(
        lambda tables: statistic(tables[..., 1, :, :, :]) - statistic(tables[..., 0, :, :, :])
    )
    value = number_or_none(statistic(draws.total[0])) if pairs else None
    counted = [pair for pair in pairs if pair[1].probe.variant in axes.headline]
    moves = Counter((before.state, after.state) for before, after in counted)
    columns: list[str | None] = [*axes.labels, None]
    same = np.zeros((len(columns), len(columns)), dtype=np.int64)
    for before, after in counted:
        same[columns.index(before.label), columns.index(after.label)] += 1
    consistency, answered = metrics.consistency(same)
    test = compare_paired(
        [after.state == "right" for _, after in counted],
        [before.state == "right" for before, _ in counted],
        np.random.default_rng(seed),
        clusters=[after.unit for _, after in counted],
    )
    f1 = {
        variant: draws.estimate(
            lambda tables, at=place: (
                metrics.weighted_f1(tables[..., 1, at, :, :])  # type: ignore[misc]
                - metrics.weighted_f1(tables[..., 0, at, :, :])
            )
        )
        for place, variant in enumerate(axes.variants)
    }
    return Paired(
        *other,
        len(counted),
        n_unpaired,
        name,
        value,
        difference,
        None if difference.value is None or not value else difference.value / value,
        test.p_value,
        {before: {after: moves[before, after] for after in STATES} for before in STATES},
        number_or_none(consistency),
        number_or_none(answered),
        f1,
    )
