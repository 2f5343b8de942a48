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
    known,
)
from evidencebench_core.stats import compare_paired


@dataclass(frozen=True, slots=True)
class Paired:
    """One score against another, over the probes that both have an answer to.

    Attributes
    ----------
    run, model : str
        Of the other.
    n, n_unpaired : int
        Pairs; probes of this score that the other has no counterpart of, which count for nothing here.
    figure : str
        What the difference is of.
    other : float or None
        The other's figure over the pairs.
    difference : Estimate
        This minus the other, with its paired interval.
    relative_change : float or None
        Difference / other.
    p_value : float or None
        Two-sided sign-flip test of right and wrong, units changing sign together: McNemar's exact test up to
        13 units that differ, drawn beyond.
    flips : mapping of state to mapping of state to int
        The other's state (right, wrong, null), then this one's.
    consistency, consistency_answered : float or None
        Share with the same label in both: of all pairs, and of those answered in both.
    variants : mapping of str to Estimate
        Differences of weighted F1.
    """

    run: str
    model: str
    n: int
    n_unpaired: int
    figure: str
    other: float | None
    difference: Estimate
    relative_change: float | None
    p_value: float | None
    flips: Mapping[str, Mapping[str, int]]
    consistency: float | None
    consistency_answered: float | None
    variants: Mapping[str, Estimate]


def paired(
    pairs: Sequence[tuple[ProbeRead, ProbeRead]],
    axes: Axes,
    figure: tuple[str, Statistic],
    other: tuple[str, str],
    n_unpaired: int = 0,
    seed: int = 0,
) -> Paired:
    """Compare pairs of the other's answer and this one's.

    Parameters
    ----------
    figure : (name, statistic)
    other : (run, model)
    """
    name, statistic = figure
    draws = Draws(axes.units_of_sides(pairs), seed)
    difference = draws.estimate(
        lambda tables: statistic(tables[..., 1, :, :, :]) - statistic(tables[..., 0, :, :, :])
    )
    value = known(statistic(draws.total[0])) if pairs else None
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
        known(consistency),
        known(answered),
        f1,
    )
