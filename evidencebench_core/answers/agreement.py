"""Agreement of a judge's labels with people's, compared with a judge that always gives the same label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

from evidencebench_core.answers.model import RELEVANCES, AnswerSet
from evidencebench_core.answers.units import UnitKind, units_frame
from evidencebench_core.stats import accuracy, bootstrap, cohen_kappa, label_units, macro_f1

SCALES: Final[Mapping[UnitKind, tuple[str, ...]]] = {
    "citations": ("supports", "neutral", "contradicts"),
    "relevance": RELEVANCES,
}
"""The labels that people also give, in order, so that places tell distances."""
_NO_LABEL: Final = 0.25  # distance of a missing label from any other
_MEASURES: Final = {"accuracy": accuracy, "kappa": cohen_kappa, "macro F1": macro_f1}


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAgreement:
    """How a judge agrees with people on the units that both labelled.

    ``pairs`` has ``human``, ``judged`` (None: the judgement has no label, which is wrong) and ``distance``, 0 where
    they agree; the worst disagreement comes first. ``figures`` has by ``measure`` its ``value, low, high, n``, and
    ``always the same``: that of a judge that ``always`` says people's most frequent label.
    """

    kind: UnitKind
    pairs: pd.DataFrame
    figures: pd.DataFrame
    n_missing: int  # units that people labelled and a judge could read, but has not judged yet

    @property
    def table(self) -> pd.DataFrame:
        """Counts of human labels (rows) by the judge's."""
        labels = list(SCALES[self.kind])
        table = pd.crosstab(self.pairs["human"], self.pairs["judged"].fillna("no label"))
        return table.reindex(index=labels, columns=[*labels, "no label"], fill_value=0)


def judge_agreement(answers: AnswerSet, judged: Mapping[str, str | None], kind: UnitKind) -> JudgeAgreement:
    """Measure a judge's labels, by unit, on the units that people labelled; questions are drawn whole."""
    units = units_frame(answers)
    human = units[(units["kind"] == kind) & units["human"].notna()]
    pairs = human[human["unit"].isin(judged)]
    labels = pd.Series([judged[unit] for unit in pairs["unit"]], index=pairs.index, dtype=object)
    places = {label: place for place, label in enumerate(SCALES[kind])}
    distance = (pairs["human"].map(places) - labels.map(places)).abs().fillna(_NO_LABEL)
    pairs = pairs.assign(judged=labels, distance=distance)
    pairs = pairs.sort_values("distance", ascending=False, kind="stable", ignore_index=True)
    n_missing = int((human["has_text"] & ~human["unit"].isin(judged)).sum())
    return JudgeAgreement(kind, pairs, _figures(pairs, kind), n_missing)


def _figures(pairs: pd.DataFrame, kind: UnitKind) -> pd.DataFrame:
    rows = []
    if len(pairs):
        human, constant = pairs["human"].tolist(), str(pairs["human"].mode().iloc[0])
        tables = label_units(human, pairs["judged"].tolist(), SCALES[kind])
        same = label_units(human, [constant] * len(pairs), SCALES[kind])
        for name, measure in _MEASURES.items():
            row = {
                "measure": name,
                **bootstrap(tables, measure, pairs["question"]).as_dict(),
                "always": constant,
            }
            rows.append({**row, "always the same": measure(same.sum(axis=0, keepdims=True))[0]})
    columns = ["measure", "value", "low", "high", "n", "always", "always the same"]
    return pd.DataFrame(rows, columns=columns).replace({-0.0: 0.0})
