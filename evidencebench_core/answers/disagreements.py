"""Unit by unit what people said and what a judge said, the worst disagreement first (spec rule 75)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evidencebench_core.answers.agreement import LABELS, Form, HumanLabels, label_in
from evidencebench_core.answers.model import RELEVANCES

_PLACES: Final[Mapping[str, float]] = {
    "supports": 0, "supporting": 0, "neutral": 1, "not relevant": 1.5, "contradicts": 2, "contradicting": 2,
    "attributable": 0, "not attributable": 1, **{label: place for place, label in enumerate(RELEVANCES)},
}  # fmt: skip
_UNREAD: Final = 0.25  # a judgement without a label: after every wrong one


@dataclass(frozen=True, slots=True)
class LabelPair:
    """A unit with the labels of people and of a judge, ``None`` where the judgement has none."""

    unit: str
    human: str
    judged: str | None

    @property
    def distance(self) -> float:
        """0 where they agree, 2 from ``supports`` to ``contradicts``."""
        return _UNREAD if self.judged is None else float(abs(_PLACES[self.human] - _PLACES[self.judged]))


def label_pairs(human: HumanLabels, judged: Mapping[str, str | None], form: Form) -> tuple[LabelPair, ...]:
    """Every unit that people labelled and the judge judged, the worst disagreement first, then by the file."""
    pairs = [
        LabelPair(unit, label, None if (one := judged[unit]) is None else label_in(form, one))
        for unit, label in human.labels.items()
        if unit in judged and label in LABELS[form]
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.distance))
