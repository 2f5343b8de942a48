"""Systems by MedAESQA's metrics, from labels of people or of a judge; means over questions, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.answers.model import SETTINGS, Answer, AnswerSet, has_words, unit_id
from evidencebench_core.errors import UnknownNameError, did_you_mean, shown
from evidencebench_core.metrics.answers import (
    Share,
    citation_rates,
    cluster_recall,
    document_shares,
    relevance_shares,
)
from evidencebench_core.stats import RankCorrelation, rank_correlation
from evidencebench_core.stats.bootstrap import tails
from evidencebench_core.stats.resampling import product, resample_weights

Key = tuple[str, str]  # question id, system

METRICS: Final[Mapping[str, str]] = {
    "accuracy": "answers judged accurate / answers",
    "precision": "sentences required / sentences: completeness, too",
    "redundancy": "sentences unnecessary / sentences",
    "harmfulness": "sentences inappropriate / sentences",
    "coverage": "sentences with a supporting citation / sentences",
    "support rate": "citations with a supporting excerpt / citations",
    "contradict rate": "citations with a contradicting excerpt / citations",
    "document precision": "documents cited that are relevant to the question / documents cited",
    "document recall": "documents cited that are relevant to the question / relevant ones cited by any system",
}
COUNTS: Final[Mapping[str, str]] = {
    "sentences": "sentences of an answer",
    "citations": "citations of an answer, distinct within a sentence",
    "nuggets": "nuggets of an answer",
    "required or borderline": "sentences that people called required or borderline",
}
"""Plain counts, to be ranked by beside every metric. The last needs labels of people."""

_OF_DOCUMENTS: Final = frozenset({"document precision", "document recall"})
_RELEVANT: Final = frozenset({"supporting", "contradicting", "neutral"})


@dataclass(frozen=True, slots=True)
class AnswerLabels:
    """The labels of one answer, a person's or a judge's.

    Attributes
    ----------
    accurate : bool or None
    relevances : tuple of str or None, or None
        One a sentence; ``None`` for all if they were not asked, or a judgement is still missing.
    citations : tuple of mappings from document to relations, or None
        The same; of each sentence its citations and all that was said of each.
    silent : frozenset of str
        Metrics that these labels say nothing of: a judge without a label for contradictions, or for documents that
        are beside the question.
    """

    accurate: bool | None
    relevances: tuple[str | None, ...] | None
    citations: tuple[Mapping[str, frozenset[str]], ...] | None
    silent: frozenset[str] = frozenset()


def human_labels(answers: AnswerSet) -> dict[Key, AnswerLabels]:
    """The labels of people. An accurate answer of which no sentence (no citation) has a label was not labelled."""
    everything = [sentence for answer in answers.answers.values() for sentence in answer.sentences]
    has_relevance = any(sentence.relevance for sentence in everything)
    has_relations = any(sentence.assessments for sentence in everything)
    labels = {}
    for key, answer in answers.answers.items():
        relevances = tuple(one.relevance for one in answer.sentences)
        relations = tuple(
            {document: frozenset(one.relations(document)) for document in one.citations}
            for one in answer.sentences
        )
        is_judged = answer.accurate is False or not relevances or any(relevances)
        is_assessed = any(one.assessments for one in answer.sentences) or not any(relations)
        labels[key] = AnswerLabels(
            answer.accurate,
            relevances if has_relevance and is_judged else None,
            relations if has_relations and is_assessed else None,
        )
    return labels


def judged_labels(
    answers: AnswerSet,
    relevance: Mapping[str, str | None] | None = None,
    citations: Mapping[str, str | None] | None = None,
) -> dict[Key, AnswerLabels]:
    """The labels of a judge, by `unit_id`; ``None`` is a judgement without a label, which counts for nothing.

    An answer with a unit that has no judgement yet has no labels. What no judge can be asked is left out: citations
    of documents without text, and by sentences without words.
    """
    said, silent = set((citations or {}).values()), frozenset[str]()
    if said & {"attributable", "not attributable"}:
        silent = frozenset({"contradict rate", *_OF_DOCUMENTS})
    elif said & {"supports", "contradicts"}:
        silent = _OF_DOCUMENTS
    return {
        key: AnswerLabels(
            None,
            _judged_relevances(answer, relevance),
            _judged_relations(answers, answer, citations),
            silent,
        )
        for key, answer in answers.answers.items()
    }


def _judged_relevances(
    answer: Answer, judged: Mapping[str, str | None] | None
) -> tuple[str | None, ...] | None:
    units = [(unit_id(*_key(answer), one.id), has_words(one.claim)) for one in answer.sentences]
    if judged is None or any(asked and unit not in judged for unit, asked in units):
        return None
    return tuple(judged.get(unit) for unit, _ in units)


def _judged_relations(
    answers: AnswerSet, answer: Answer, judged: Mapping[str, str | None] | None
) -> tuple[Mapping[str, frozenset[str]], ...] | None:
    units = [
        {
            document: unit_id(*_key(answer), one.id, document)
            for document in one.citations
            if answers.has_text(document) and has_words(one.claim)
        }
        for one in answer.sentences
    ]
    if judged is None or any(unit not in judged for one in units for unit in one.values()):
        return None
    return tuple({document: _relations(judged[unit]) for document, unit in one.items()} for one in units)


def _relations(label: str | None) -> frozenset[str]:
    return frozenset() if label is None else frozenset({_RELATIONS.get(label, label)})


def _key(answer: Answer) -> Key:
    return answer.question_id, answer.system


_RELATIONS: Final = {"supports": "supporting", "attributable": "supporting", "contradicts": "contradicting"}


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores:
    """Systems by metrics over questions. Undefined values are NaN.

    Attributes
    ----------
    systems, questions, metrics : tuple of str
    values : array of float, shape (n_metrics, n_systems, n_questions)
        0 to 1 (counts: numbers); NaN where undefined, not labelled, or without an answer.
    means : array of float, shape (n_metrics, n_systems)
        Over the questions with a value.
    intervals : array of float, shape (n_metrics, n_systems, 2)
        95% percentile bootstrap over questions; NaN for fewer than two questions.
    pooled : array of float, shape (n_metrics, n_systems)
        Sum of numerators / sum of denominators over the questions.
    missing : array of bool, shape (n_systems, n_questions)
        Where a system has no answer.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    metrics: tuple[str, ...]
    values: NDArray[np.float64]
    means: NDArray[np.float64]
    intervals: NDArray[np.float64]
    pooled: NDArray[np.float64]
    missing: NDArray[np.bool_]

    def of(self, metric: str) -> NDArray[np.float64]:
        """The values of a metric, shape (n_systems, n_questions)."""
        if metric not in self.metrics:
            remedy = f"{did_you_mean(metric, self.metrics)}There are: {', '.join(self.metrics)}."
            raise UnknownNameError(f"metric {shown(metric)}", "is not there", remedy)
        return np.asarray(self.values[self.metrics.index(metric)])

    def missing_answers(self) -> dict[str, list[str]]:
        """By system the questions that it has not answered; systems that answered all are left out."""
        return {
            system: [question for question, gone in zip(self.questions, row, strict=True) if gone]
            for system, row in zip(self.systems, self.missing, strict=True)
            if row.any()
        }

    def table(self) -> pd.DataFrame:
        """One row a system and metric: ``system, metric, mean, low, high, pooled, n, n_undefined, n_missing``."""
        rows = []
        for m, metric in enumerate(self.metrics):
            for s, system in enumerate(self.systems):
                n, n_missing = int((~np.isnan(self.values[m, s])).sum()), int(self.missing[s].sum())
                bounds = self.intervals[m, s]
                rows.append({
                    "system": system, "metric": metric, "mean": self.means[m, s], "low": bounds[0],
                    "high": bounds[1], "pooled": self.pooled[m, s], "n": n,
                    "n_undefined": max(0, len(self.questions) - n - n_missing), "n_missing": n_missing,
                })  # fmt: skip
        return pd.DataFrame(rows)


def system_scores(
    answers: AnswerSet,
    labels: Mapping[Key, AnswerLabels] | None = None,
    *,
    official: bool = False,
    missing: Literal["report", "zero"] = "report",
    rng: np.random.Generator | None = None,
    n_resamples: int = 10_000,
) -> SystemScores:
    """Score every system.

    Parameters
    ----------
    answers : AnswerSet
        One that has clusters alone is scored by recall alone, every system being taken to have answered.
    labels : mapping, optional
        From `judged_labels`; those of people where not given. Recall is of people's clusters, so not with a judge's.
    official : bool
        As MedAESQA's script: 0 for a share of nothing, ``None`` here.
    missing : {"report", "zero"}
        A system without an answer to a question: left out of its mean, or scored 0.
    rng : numpy Generator, optional
        No intervals without it.
    """
    shares = _shares(answers, labels)
    systems = answers.systems or tuple(dict.fromkeys(system for _, system in shares))
    questions, metrics = (
        tuple(answers.questions),
        tuple(dict.fromkeys(m for one in shares.values() for m in one)),
    )
    shape = (len(metrics), len(systems), len(questions))
    tops, bottoms = np.full(shape, np.nan), np.full(shape, np.nan)
    absent = np.ones(shape[1:], dtype=bool)
    place_of = {metric: place for place, metric in enumerate(metrics)}
    for s, system in enumerate(systems):
        for q, question in enumerate(questions):
            absent[s, q] = (question, system) not in shares
            for metric, share in shares.get((question, system), {}).items():
                if share is not None:
                    tops[place_of[metric], s, q], bottoms[place_of[metric], s, q] = share
    with np.errstate(divide="ignore", invalid="ignore"):
        values = tops / np.where(bottoms > 0, bottoms, np.nan)
        pooled = np.nansum(tops, axis=2) / np.nansum(bottoms, axis=2)
    if official:
        values[bottoms == 0] = 0.0
    if missing == "zero":
        values[:, absent] = 0.0
    means = np.array([_means(one, np.ones((1, len(questions))))[0] for one in values]).reshape(shape[:2])
    intervals = np.full((*shape[:2], 2), np.nan)
    if rng is not None and len(questions) > 1:
        drawn = np.empty((shape[0], n_resamples, shape[1]))
        for part, weights in resample_weights(len(questions), rng, n_resamples):
            for place, one in enumerate(values):
                drawn[place, part] = _means(one, weights)
        enough = (~np.isnan(values)).sum(axis=2) > 1
        for place in range(shape[0]):
            some = enough[place]
            intervals[place, some] = np.nanquantile(drawn[place][:, some], tails(0.95), axis=0).T
    return SystemScores(systems, questions, metrics, values, means, intervals, pooled, absent)


def ranking(
    x: SystemScores,
    y: SystemScores,
    metric_x: str,
    metric_y: str,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    *,
    common: bool = True,
) -> RankCorrelation:
    """Whether two metrics, or one by two kinds of labels, order the systems alike, over questions that all answered.

    Without ``common`` every question counts for the systems that answered it.
    """
    both = [name for name in x.systems if name in y.systems]
    rows_x, rows_y = ([one.systems.index(name) for name in both] for one in (x, y))
    answered = ~(common & (x.missing[rows_x].any(axis=0) | y.missing[rows_y].any(axis=0)))
    values_x, values_y = x.of(metric_x)[rows_x][:, answered], y.of(metric_y)[rows_y][:, answered]
    return rank_correlation(values_x, values_y, rng, n_resamples)


def recall_name(setting: str, name: str) -> str:
    """``recall R+B (ST)``."""
    return f"recall {SETTINGS[setting]} ({name})"  # type: ignore[index]


def _shares(
    answers: AnswerSet, labels: Mapping[Key, AnswerLabels] | None
) -> dict[Key, dict[str, Share | None]]:
    by_people = labels is None
    labels = human_labels(answers) if labels is None else labels
    shares: dict[Key, dict[str, Share | None]] = {key: {} for key in answers.answers}
    relevant = _relevant_documents(labels)
    for key, answer in answers.answers.items():
        one, mine = labels[key], shares[key]
        if by_people:
            mine["accuracy"] = None if one.accurate is None else Share(float(one.accurate), 1.0)
        mine |= dict.fromkeys(METRICS) | mine
        if one.relevances is not None:
            mine |= relevance_shares(one.relevances)
        if one.citations is not None:
            mine |= citation_rates(one.citations)
            cited = {document for sentence in one.citations for document in sentence}
            mine |= document_shares(cited, relevant[key[0]])
            mine |= dict.fromkeys(one.silent)
        mine |= {
            "sentences": Share(len(answer.sentences), 1),
            "citations": Share(sum(len(sentence.citations) for sentence in answer.sentences), 1),
            "nuggets": None if answer.nuggets is None else Share(len(answer.nuggets), 1),
        }
        if by_people and one.relevances is not None:
            count = sum(label in ("required", "borderline") for label in one.relevances)
            mine["required or borderline"] = Share(count, 1)
    if by_people:
        _add_recall(answers, shares)
    known = {metric for mine in shares.values() for metric, share in mine.items() if share is not None}
    order = [name for mine in shares.values() for name in mine if name in known]
    wanted = dict.fromkeys(order)
    return {key: {name: mine.get(name) for name in wanted} for key, mine in shares.items()}


def _add_recall(answers: AnswerSet, shares: dict[Key, dict[str, Share | None]]) -> None:
    """Recall in each setting that there are clusters of."""
    of_system: dict[Key, set[str]] = {
        (question, system): {f"{system}-{sentence.id}" for sentence in answer.sentences}
        for (question, system), answer in answers.answers.items()
    }
    if not answers.answers:  # clusters alone
        ids = {one for found in answers.clusters for cluster in found.clusters for one in cluster}
        relevant = {
            found.question_id: [one for cluster in found.clusters for one in cluster]
            for found in answers.clusters
            if found.setting == "required_and_borderline"
        }
        for system in sorted({one.rpartition("-")[0] for one in ids}, key=_natural):
            own = {one for one in ids if one.rpartition("-")[0] == system}
            for question in answers.questions:
                of_system[question, system] = own
                count = sum(one in own for one in relevant.get(question, ()))
                shares[question, system] = {"required or borderline": Share(count, 1)}
    for found in answers.clusters:
        name = recall_name(found.setting, found.name)
        for (question, system), sentences in of_system.items():
            if question == found.question_id:
                shares[question, system][name] = cluster_recall(found.clusters, sentences)


def _natural(name: str) -> tuple[str, int]:
    """M2 before M10."""
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :] or 0)


def _relevant_documents(labels: Mapping[Key, AnswerLabels]) -> dict[str, set[str]]:
    """By question, what supports, contradicts or is neutral to any sentence of any system."""
    relevant: dict[str, set[str]] = {}
    for (question, _), one in labels.items():
        mine = relevant.setdefault(question, set())
        for sentence in one.citations or ():
            mine |= {document for document, relations in sentence.items() if relations & _RELEVANT}
    return relevant


def _means(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted means over the questions that have a value, shape (n_weights, n_systems)."""
    defined = ~np.isnan(values)
    sums, sizes = (
        product(weights, np.where(defined, values, 0.0).T),
        product(weights, defined.T.astype(float)),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums / sizes)
