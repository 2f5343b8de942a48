"""Judges against people: how far their labels agree, beside a judge that always says the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pandas as pd

from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.units import RELEVANCES, UnitKind, units_frame
from evidencebench_core.stats import Estimate, accuracy, bootstrap, cohen_kappa, label_units, macro_f1

_SCALES: Final[Mapping[str, tuple[str, ...]]] = {
    "relevance": RELEVANCES,
    "citations": ("supports", "neutral", "contradicts"),
}
"""The labels of each kind, by how far they are apart."""
_NO_LABEL: Final = 0.25  # how far it is from a label


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAgreement:
    """How a judge agrees with people on the units that both labelled.

    ``pairs`` has ``human``, ``judged`` (None: the judgement has no label, which is wrong) and ``distance``, 0 where
    they agree; the worst disagreement comes first.
    """

    kind: UnitKind
    pairs: pd.DataFrame
    figures: Mapping[str, Estimate]  # accuracy, Cohen's kappa, macro F1; questions drawn whole
    constant: str  # the most frequent label of people
    constant_figures: Mapping[str, Estimate]  # of a judge that always says it
    n_missing: int  # units with a label of people and something to read, but no judgement yet
    n_unlabelled: int  # judgements without a label

    @property
    def table(self) -> pd.DataFrame:
        """Human labels (rows) by judged ones."""
        labels = list(_SCALES[self.kind])
        table = pd.crosstab(self.pairs["human"], self.pairs["judged"].fillna("no label"))
        return table.reindex(index=labels, columns=[*labels, "no label"], fill_value=0)


def judge_agreement(answers: AnswerSet, judged: Mapping[str, str | None], kind: UnitKind) -> JudgeAgreement:
    """Measure a judge's labels, by unit, on the units that people labelled."""
    units = units_frame(answers)
    human = units[(units["kind"] == kind) & units["human"].notna()]
    pairs = human[human["unit"].isin(judged)]
    labels = pd.Series([judged[unit] for unit in pairs["unit"]], index=pairs.index, dtype=object)
    places = {label: place for place, label in enumerate(_SCALES[kind])}
    distance = (pairs["human"].map(places) - labels.map(places)).abs().fillna(_NO_LABEL)
    pairs = pairs.assign(judged=labels, distance=distance)
    pairs = pairs.sort_values("distance", ascending=False, kind="stable", ignore_index=True)
    constant = str(pairs["human"].mode().iloc[0]) if len(pairs) else ""
    return JudgeAgreement(
        kind,
        pairs,
        _figures(pairs, pairs["judged"].tolist(), kind),
        constant,
        _figures(pairs, [constant] * len(pairs), kind),
        n_missing=int((human["has_text"] & ~human["unit"].isin(judged)).sum()),
        n_unlabelled=int(pairs["judged"].isna().sum()),
    )


def _figures(pairs: pd.DataFrame, judged: list[str | None], kind: UnitKind) -> dict[str, Estimate]:
    if pairs.empty:
        return {}
    tables = label_units(pairs["human"].tolist(), judged, _SCALES[kind])
    measures = {"accuracy": accuracy, "kappa": cohen_kappa, "macro F1": macro_f1}
    figures = {}
    for name, measure in measures.items():
        figure = bootstrap(tables, measure, pairs["question"])
        value = None if figure.value is None else figure.value + 0.0  # never minus zero
        figures[name] = replace(figure, value=value)
    return figures
