"""The units of answers as one long frame: sentences and citations, by people's labels, and by a judge's beside them.

Columns: ``kind`` ("relevance": a sentence; "citations": a sentence and a document), ``unit`` (its id), ``question``,
``system``, ``sentence``, ``document``, ``human`` (one label, or None), ``supporting`` and ``contradicting`` (whether
any person said so of a citation), ``has_text`` (whether a judge has anything to read).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

import pandas as pd
from scipy.stats import kendalltau

from evidencebench_core.answers.model import AnswerSet, Relation, Relevance, has_words, unit_id
from evidencebench_core.stats import (
    Estimate,
    accuracy,
    bootstrap,
    cohen_kappa,
    holm,
    interval,
    label_units,
    macro_f1,
    paired,
)

UnitKind = Literal["relevance", "citations"]
RELEVANCES: Final[tuple[Relevance, ...]] = get_args(Relevance)
SUPPORT: Final = ("supports", "contradicts", "neutral")
LABELS: Final[Mapping[str, tuple[str, ...]]] = {"relevance": RELEVANCES, "citations": SUPPORT}
METRICS: Final[Mapping[str, str]] = {
    "accuracy": "answers judged accurate / answers",
    "precision": "sentences required / sentences: completeness, too",
    "redundancy": "sentences unnecessary / sentences",
    "harmfulness": "sentences inappropriate / sentences",
    "coverage": "sentences with a supporting citation / sentences",
    "support rate": "citations with a supporting excerpt / citations",
    "contradict rate": "citations with a contradicting excerpt / citations",
    "correctness": "sentences that their documents support together / sentences with a document to read",
    "nugget recall": "gold nuggets that the answer gives, a part counting a half / gold nuggets",
    "sentences": "sentences of an answer",
    "citations": "citations of an answer, distinct within a sentence",
}
COUNTS: Final = ("sentences", "citations")
_SHARES: Final = {"precision": "required", "redundancy": "unnecessary", "harmfulness": "inappropriate"}
_HUMAN: Final[Mapping[Relation, str]] = {
    "supporting": "supports", "contradicting": "contradicts", "neutral": "neutral", "not relevant": "neutral",
}  # fmt: skip
_CREDIT: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}
_KEY: Final = ["question", "system"]
Labels = Mapping[str, Mapping[str, str | None]]
"""By what was judged ("relevance", "citations", "correctness", "nuggets") the label of each unit."""


def units_frame(answers: AnswerSet) -> pd.DataFrame:
    """One row a sentence and one a citation, in the order of the file.

    A citation of which people said several things has the first of supporting, contradicting, neutral; one of a
    document that is not there has no label.
    """
    rows = []
    for answer in answers.answers:
        for sentence in answer.sentences:
            key = {"question": answer.question_id, "system": answer.system, "sentence": sentence.id}
            is_text = has_words(sentence.claim)
            rows.append({
                "kind": "relevance", "unit": unit_id(*key.values()), **key, "document": "",
                "human": sentence.relevance, "supporting": False, "contradicting": False, "has_text": is_text,
            })  # fmt: skip
            for document in sentence.citations:
                relations = sentence.relations(document)
                human = next((label for name, label in _HUMAN.items() if name in relations), None)
                rows.append({
                    "kind": "citations", "unit": unit_id(*key.values(), document), **key, "document": document,
                    "human": human, "supporting": "supporting" in relations,
                    "contradicting": "contradicting" in relations,
                    "has_text": is_text and document in answers.document,
                })  # fmt: skip
    columns = [
        "kind", "unit", *_KEY, "sentence", "document", "human", "supporting", "contradicting", "has_text",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({"human": object})


# -- systems by metrics -----------------------------------------------------------------------------


def answer_values(answers: AnswerSet, judged: Labels | None = None) -> pd.DataFrame:
    """Each answer's metrics, long: ``question, system, metric, value``; a share of nothing is left out.

    By labels of people; an accurate answer of which no sentence (no citation) has a label was not labelled. With
    ``judged`` by those of a judge: an answer with a unit that has no judgement yet is left out, a judgement without a
    label counts for nothing.
    """
    units = units_frame(answers)
    sentences, citations = (units[units["kind"] == kind] for kind in ("relevance", "citations"))
    counts = {
        "sentences": _of_answers(answers, sentences.groupby(_KEY).size()),
        "citations": _of_answers(answers, citations.groupby(_KEY).size()),
    }
    if judged is None:
        values = _by_people(answers, sentences, citations) | _cluster_recalls(answers)
    else:
        values = _by_judge(answers, sentences, citations, judged)
    parts = [
        series.dropna().rename("value").rename_axis(_KEY).reset_index().assign(metric=metric)
        for metric, series in (values | counts).items()
        if len(series.dropna())
    ]
    columns = [*_KEY, "metric", "value"]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)


def _of_answers(answers: AnswerSet, series: pd.Series) -> pd.Series:
    """The numbers of all answers, 0 for one that has none."""
    keys = pd.MultiIndex.from_tuples(list(answers.answer) or [], names=_KEY)
    return series.reindex(keys, fill_value=0).astype(float)


def _by_people(answers: AnswerSet, sentences: pd.DataFrame, citations: pd.DataFrame) -> dict[str, pd.Series]:
    accurate = {
        key: float(answer.accurate) for key, answer in answers.answer.items() if answer.accurate is not None
    }
    inaccurate = {key for key, answer in answers.answer.items() if answer.accurate is False}
    labelled = {
        key
        for key, answer in answers.answer.items()
        if key in inaccurate or any(sentence.relevance for sentence in answer.sentences)
    }
    assessed = {
        key
        for key, answer in answers.answer.items()
        if any(sentence.assessments for sentence in answer.sentences)
        or not any(sentence.citations for sentence in answer.sentences)
    }
    values = {"accuracy": pd.Series(accurate, dtype=float)}
    if sentences["human"].notna().any():
        values |= _relevance_shares(_within(sentences, labelled), "human")
    if any(sentence.assessments for answer in answers.answers for sentence in answer.sentences):
        values |= _citation_shares(_within(sentences, assessed), _within(citations, assessed))
    return values


def _by_judge(
    answers: AnswerSet, sentences: pd.DataFrame, citations: pd.DataFrame, judged: Labels
) -> dict[str, pd.Series]:
    values: dict[str, pd.Series] = {}
    if "relevance" in judged:
        labels = judged["relevance"]
        open_units = sentences[sentences["has_text"] & ~sentences["unit"].isin(labels)]
        complete = sentences.assign(label=sentences["unit"].map(labels))
        values |= _relevance_shares(_without(complete, open_units), "label")
    if "citations" in judged:
        labels = judged["citations"]
        readable = citations[citations["has_text"]]
        open_units = readable[~readable["unit"].isin(labels)]
        label = readable["unit"].map(labels)
        readable = readable.assign(supporting=label == "supports", contradicting=label == "contradicts")
        values |= _citation_shares(_without(sentences, open_units), _without(readable, open_units))
    if "correctness" in judged:
        labels = judged["correctness"]
        checked = sentences[sentences["unit"].isin(labels)]
        is_correct = checked["unit"].map(labels) == "supports"
        values["correctness"] = is_correct.groupby([checked[name] for name in _KEY]).mean()
    if "nuggets" in judged:
        values["nugget recall"] = _nugget_recall(answers, judged["nuggets"])
    return values


def _nugget_recall(answers: AnswerSet, labels: Mapping[str, str | None]) -> pd.Series:
    recalls = {}
    for key in answers.answer:
        nuggets = answers.question[key[0]].nuggets
        units = [unit_id(*key, f"nugget {number}") for number in range(1, len(nuggets) + 1)]
        if units and all(unit in labels for unit in units):
            recalls[key] = sum(_CREDIT.get(labels[unit] or "none", 0.0) for unit in units) / len(units)
    return pd.Series(recalls, dtype=float)


def _relevance_shares(sentences: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """Shares of an answer's sentences; borderline and no label count in the denominator only.

    Gupta et al., Scientific Data 12:1035 (2025). Precision is BioACE's completeness too.
    """
    keys = [sentences[name] for name in _KEY]
    return {metric: (sentences[column] == label).groupby(keys).mean() for metric, label in _SHARES.items()}


def _citation_shares(sentences: pd.DataFrame, citations: pd.DataFrame) -> dict[str, pd.Series]:
    """Coverage of an answer's sentences, and shares of its citations, distinct within a sentence.

    A citation that is both supporting and contradicting is in both rates; one without a label is in neither.
    """
    covered = citations[citations["supporting"]]
    has_support = pd.MultiIndex.from_frame(sentences[[*_KEY, "sentence"]]).isin(
        pd.MultiIndex.from_frame(covered[[*_KEY, "sentence"]])
    )
    rates = citations.groupby(_KEY)
    return {
        "coverage": sentences.assign(covered=has_support).groupby(_KEY)["covered"].mean(),
        "support rate": rates["supporting"].mean(),
        "contradict rate": rates["contradicting"].mean(),
    }


def _cluster_recalls(answers: AnswerSet) -> dict[str, pd.Series]:
    """Of a question's clusters (ten each in MedAESQA) those that hold one of an answer's sentences.

    In a set that has clusters alone every system is taken to have answered every question.
    """
    systems = answers.systems or tuple(
        dict.fromkeys(
            member.rpartition("-")[0]
            for clustering in answers.clusters
            for cluster in clustering.clusters.values()
            for member in cluster
        )
    )
    recalls: dict[str, dict[tuple[str, str], float]] = {}
    for clustering in answers.clusters:
        by_cluster = [
            {member.rpartition("-")[0] for member in cluster} for cluster in clustering.clusters.values()
        ]
        for system in systems:
            if answers.answers and (clustering.question_id, system) not in answers.answer:
                continue
            share = sum(system in names for names in by_cluster) / len(by_cluster)
            recalls.setdefault(clustering.metric, {})[clustering.question_id, system] = share
    return {metric: pd.Series(values) for metric, values in recalls.items()}


def _within(frame: pd.DataFrame, keys: set[tuple[str, str]]) -> pd.DataFrame:
    return frame[pd.MultiIndex.from_frame(frame[_KEY]).isin(keys)]


def _without(frame: pd.DataFrame, open_units: pd.DataFrame) -> pd.DataFrame:
    return frame[~pd.MultiIndex.from_frame(frame[_KEY]).isin(pd.MultiIndex.from_frame(open_units[_KEY]))]


def system_scores(values: pd.DataFrame) -> pd.DataFrame:
    """Means over questions with their intervals: ``system, metric, value, low, high, n``."""
    rows = []
    for (metric, system), some in values.groupby(["metric", "system"], sort=False):
        rows.append({"system": system, "metric": metric, **interval(some["value"]).as_dict()})
    return pd.DataFrame(rows, columns=["system", "metric", "value", "low", "high", "n"])


def system_differences(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Every pair of systems by a metric: ``a, b`` and the columns of `stats.Paired`, ``p_holm`` over all pairs.

    Paired by question; a question without a value of either is left out of that pair alone.
    """
    table = values[values["metric"] == metric].pivot(index="question", columns="system", values="value")
    rows = []
    for a, b in combinations(dict.fromkeys(values["system"]), 2):
        if a in table and b in table:
            both = table[[a, b]].dropna()
            rows.append({"a": a, "b": b, **paired(both[a], both[b]).as_dict()})
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=pd.Series(holm([row["p"] for row in rows]), dtype=float)) if rows else frame


def same_order(people: pd.DataFrame, judge: pd.DataFrame, metric: str) -> float | None:
    """Kendall's tau-b of the systems' means by two kinds of labels; ``None`` where a mean is the same for all."""
    means = [
        values[values["metric"] == metric].groupby("system")["value"].mean().round(9)
        for values in (people, judge)
    ]
    both = pd.concat(means, axis=1, join="inner")
    if len(both) < 2:
        return None
    tau = kendalltau(both.iloc[:, 0], both.iloc[:, 1]).statistic
    return float(tau) if tau == tau else None  # noqa: PLR0124 - NaN


# -- judges against people --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAgreement:
    """How a judge agrees with people on the units that both labelled.

    Attributes
    ----------
    pairs : DataFrame
        Their units with ``human``, ``judged`` (None: the judgement has no label, which is wrong) and ``distance``, 0
        where they agree; the worst disagreement first.
    figures : mapping of str to Estimate
        ``accuracy``, ``kappa`` (Cohen's), ``macro F1``; questions drawn whole.
    constant, constant_figures : str, mapping of str to Estimate
        A judge that always gives this label, the most frequent of people.
    n_missing, n_unlabelled : int
        Units with a label of people, something to read and no judgement yet; judgements without a label.
    """

    kind: UnitKind
    pairs: pd.DataFrame
    figures: Mapping[str, Estimate]
    constant: str
    constant_figures: Mapping[str, Estimate]
    n_missing: int
    n_unlabelled: int

    @property
    def table(self) -> pd.DataFrame:
        """Human labels (rows) by judged ones."""
        labels = list(LABELS[self.kind])
        judged = self.pairs["judged"].fillna("no label")
        table = pd.crosstab(self.pairs["human"], judged)
        return table.reindex(index=labels, columns=[*labels, "no label"], fill_value=0)

    def by(self, column: str) -> pd.DataFrame:
        """Share of agreement by ``"system"`` or ``"question"``."""
        agrees = self.pairs["human"] == self.pairs["judged"]
        groups = agrees.groupby(self.pairs[column], sort=False)
        return groups.agg(n="size", accuracy="mean").reset_index()


def judge_agreement(answers: AnswerSet, judged: Mapping[str, str | None], kind: UnitKind) -> JudgeAgreement:
    """Measure a judge's labels, by unit, on the units that people labelled."""
    units = units_frame(answers)
    human = units[(units["kind"] == kind) & units["human"].notna()]
    pairs = human[human["unit"].isin(judged)]
    pairs = pairs.assign(judged=pairs["unit"].map(judged).astype(object))
    pairs = pairs.assign(judged=pairs["judged"].where(pairs["judged"].notna(), None))
    places = {label: place for place, label in enumerate(_SCALES[kind])}
    distance = (pairs["human"].map(places) - pairs["judged"].map(places)).abs()
    pairs = pairs.assign(distance=distance.fillna(0.25))
    pairs = pairs.sort_values("distance", ascending=False, kind="stable", ignore_index=True)
    constant = str(pairs["human"].mode().iloc[0]) if len(pairs) else ""
    return JudgeAgreement(
        kind,
        pairs,
        _figures(pairs, pairs["judged"].tolist(), kind),
        constant,
        _figures(pairs, [constant] * len(pairs), kind),
        int((human["has_text"] & ~human["unit"].isin(judged)).sum()),
        int(pairs["judged"].isna().sum()),
    )


_SCALES: Final[Mapping[str, tuple[str, ...]]] = {
    "relevance": RELEVANCES,
    "citations": ("supports", "neutral", "contradicts"),
}


def _figures(pairs: pd.DataFrame, judged: list[str | None], kind: UnitKind) -> dict[str, Estimate]:
    if pairs.empty:
        return {}
    tables = label_units(pairs["human"].tolist(), judged, LABELS[kind])
    measures = {"accuracy": accuracy, "kappa": cohen_kappa, "macro F1": macro_f1}
    return {name: bootstrap(tables, measure, pairs["question"]) for name, measure in measures.items()}
