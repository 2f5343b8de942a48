"""Answers to probes as labels, and tables of them: by unit that is drawn together, variant, expected and read label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.llm.labels import LabelRead, official_label, read_label
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.runs import Result
from evidencebench_core.stats import percentile_interval, resampled_tables

State = Literal["right", "wrong", "null"]
STATES: Final[tuple[State, ...]] = ("right", "wrong", "null")
Results: TypeAlias = Mapping[str, Result | str]
"""By id of the probe its result, or in one line why there is none."""
Tables: TypeAlias = NDArray[np.int64]
Statistic: TypeAlias = Callable[[Tables], NDArray[np.float64]]
N_RESAMPLES: Final = 10_000


@dataclass(frozen=True, slots=True)
class ProbeRead:
    """A probe's answer with what both readers make of it.

    ``label`` is that of the reader that the score goes by; ``result`` is the judge's where a judge reads.
    """

    probe: Probe
    result: Result | str
    official: str | None
    ours: LabelRead
    label: str | None

    @property
    def state(self) -> State:
        """Whether it is the label that was expected."""
        return "null" if self.label is None else "right" if self.label == self.probe.expected else "wrong"

    @property
    def reason(self) -> str:
        """Why there is no label; empty where there is one."""
        return "" if self.label is not None else self.ours.reason or "no_label"

    @property
    def unit(self) -> str:
        """The id that is drawn as a whole."""
        return self.probe.group or self.probe.item_id


def probe_read(probe: Probe, result: Result | str, labels: Sequence[str], as_published: bool) -> ProbeRead:
    """The answer of a probe as a label: by RAmBLA's own reader as published, else by ours."""
    if isinstance(result, str):
        return ProbeRead(probe, result, None, LabelRead(None, reason="failed"), None)
    text = str(result["text"])
    ours = read_label(text, labels, refusal=result.get("refusal"), finish_reason=result.get("finish_reason"))
    official = official_label(text, labels)
    return ProbeRead(probe, result, official, ours, official if as_published else ours.label)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval; ``None`` where undefined."""

    value: float | None = None
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of tables: shape (..., n_variants, n_labels, n_labels + 1), null last.

    ``headline`` are the variants that the task's one figure is of.
    """

    labels: tuple[str, ...]
    variants: tuple[str, ...] = ("",)
    headline: tuple[str, ...] = ("",)

    def pooled(self, tables: Tables) -> Tables:
        """The sum over the headline."""
        places = [place for place, name in enumerate(self.variants) if name in self.headline]
        return np.asarray(tables[..., places, :, :].sum(axis=-3))

    def units(self, reads: Iterable[ProbeRead]) -> Tables:
        """The table of each unit, the units first."""
        return self.units_of_sides((one,) for one in reads)[:, 0]

    def units_of_sides(self, reads: Iterable[Sequence[ProbeRead]]) -> Tables:
        """The same of several answers (sides) at a time, the last of which tells unit and variant.

        Shape (n_units, n_sides, n_variants, n_labels, n_labels + 1).
        """
        columns: dict[str | None, int] = {label: place for place, label in enumerate([*self.labels, None])}
        places = {variant: place for place, variant in enumerate(self.variants)}
        units: dict[str, int] = {}
        cells = [
            (
                units.setdefault(sides[-1].unit, len(units)),
                side,
                places[sides[-1].probe.variant],
                columns[one.probe.expected],
                columns[one.label],
            )
            for sides in reads
            for side, one in enumerate(sides)
        ]
        n_sides = max((cell[1] for cell in cells), default=0) + 1
        tables = np.zeros((len(units), n_sides, len(places), len(self.labels), len(columns)), dtype=np.int64)
        if cells:
            np.add.at(tables, tuple(np.array(cells).T), 1)
        return tables


class Draws:
    """Unit tables, their sum, and resamples of them, from which any statistic has its value and interval.

    ``by_label``: units are drawn within each expected label, where each unit has one.
    """

    def __init__(self, units: Tables, seed: int = 0, by_label: bool = False) -> None:
        self.total: Tables = units.sum(axis=0)
        strata = None
        if by_label:
            has_label = units.any(axis=(1, 3))
            strata = has_label.argmax(axis=1) if (has_label.sum(axis=1) == 1).all() else None
        rng = np.random.default_rng(seed)
        self.drawn = resampled_tables(units, rng, N_RESAMPLES, strata) if len(units) > 1 else None

    def estimate(self, statistic: Statistic) -> Estimate:
        """Its value and interval; no interval of a single unit."""
        value = number_or_none(statistic(self.total))
        if value is None or self.drawn is None:
            return Estimate(value)
        return Estimate(value, percentile_interval(statistic(self.drawn)))


def number_or_none(value: NDArray[np.float64] | float) -> float | None:
    """The number, or ``None`` for NaN."""
    return None if np.isnan(value) else float(value)
