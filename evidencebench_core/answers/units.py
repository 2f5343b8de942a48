"""The units of answers as one long frame: sentences and citations, by people's labels, and by a judge's beside them.

Columns: ``kind`` ("relevance": a sentence; "citations": a sentence and a document), ``unit`` (its id), ``question``,
``system``, ``sentence``, ``document``, ``human`` (one label, or None), ``has_text`` (whether a judge has anything to
read).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Final, Literal, get_args

import pandas as pd

from evidencebench_core.answers.model import (
    Answer,
    AnswerSentence,
    AnswerSet,
    Relation,
    Relevance,
    has_words,
    unit_id,
)
from evidencebench_core.stats import holm, interval, paired, rank_agreement, share

UnitKind = Literal["relevance", "citations"]
RELEVANCES: Final[tuple[Relevance, ...]] = get_args(Relevance)
METRICS: Final[Mapping[str, str]] = {
    "accuracy": "answers judged accurate / answers",
    "precision": "sentences required / sentences: completeness, too",
    "redundancy": "sentences unnecessary / sentences",
    "harmfulness": "sentences inappropriate / sentences",
    "coverage": "sentences with a supporting citation / sentences",
    "support rate": "citations with a supporting excerpt / citations; 0 for an answer that cites nothing",
    "contradict rate": "citations with a contradicting excerpt / citations; 0 for an answer that cites nothing",
    "correctness": "sentences that their documents support together / sentences with a document to read",
    "nugget recall": "gold nuggets that the answer gives, a part counting a half / gold nuggets",
    "nugget precision": "facts of the answer that are gold nuggets, a part counting a half / facts of the answer",
    "sentences": "sentences of an answer",
    "citations": "citations of an answer, distinct within a sentence",
}
COUNTS: Final = ("sentences", "citations")
_SHARES: Final = {"precision": "required", "redundancy": "unnecessary", "harmfulness": "inappropriate"}
_HUMAN: Final[Mapping[Relation, str]] = {
    "supporting": "supports", "contradicting": "contradicts", "neutral": "neutral", "not relevant": "neutral",
}  # fmt: skip
_CREDIT: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}
Key = tuple[str, str]
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
            key, is_text = (answer.question_id, answer.system, sentence.id), has_words(sentence.claim)
            relevance: str | None = sentence.relevance
            rows.append(("relevance", unit_id(*key), *key, "", relevance, is_text))
            for document in sentence.citations:
                relations = sentence.relations(document)
                human = next((label for name, label in _HUMAN.items() if name in relations), None)
                has_text = is_text and document in answers.document
                rows.append(("citations", unit_id(*key, document), *key, document, human, has_text))
    columns = ["kind", "unit", "question", "system", "sentence", "document", "human", "has_text"]
    return pd.DataFrame(rows, columns=columns).astype({"human": object})


# -- systems by metrics -----------------------------------------------------------------------------


def answer_values(answers: AnswerSet, judged: Labels | None = None) -> pd.DataFrame:
    """Each answer's metrics, long: ``question, system, metric, value``; a share of nothing is left out.

    By labels of people; an accurate answer of which no sentence (no citation) has a label was not labelled. With
    ``judged`` by those of a judge: left out is an answer with a unit that has no judgement yet, or to a question of
    which nothing is judged; a judgement without a label counts for nothing, and so does a document that is not there.
    """
    values: dict[str, dict[Key, float]] = {metric: {} for metric in METRICS}
    by_answer = _figures_of_people(answers) if judged is None else _figures_of_judge(answers, judged)
    for key, figures in by_answer:
        for metric, value in figures.items():
            values[metric][key] = value
    for key, answer in answers.answer.items():
        values["sentences"][key] = float(len(answer.sentences))
        values["citations"][key] = float(sum(len(sentence.citations) for sentence in answer.sentences))
    values |= _cluster_recalls(answers) if judged is None else {}
    rows = [(*key, metric, value) for metric, of_metric in values.items() for key, value in of_metric.items()]
    return pd.DataFrame(rows, columns=["question", "system", "metric", "value"])


Figures = Iterator[tuple[Key, dict[str, float]]]
"""Answers with their metrics; an answer may come more than once."""


def _figures_of_people(answers: AnswerSet) -> Figures:
    sentences = [sentence for answer in answers.answers for sentence in answer.sentences]
    has_labels = any(sentence.relevance for sentence in sentences)
    has_assessments = any(sentence.assessments for sentence in sentences)
    for key, answer in answers.answer.items():
        labels = [sentence.relevance for sentence in answer.sentences]
        if answer.accurate is not None:
            yield key, {"accuracy": float(answer.accurate)}
        if has_labels and (answer.accurate is False or any(labels)):
            yield key, _relevance_shares(labels)
        cites = any(sentence.citations for sentence in answer.sentences)
        if has_assessments and (not cites or any(sentence.assessments for sentence in answer.sentences)):
            yield key, _citation_shares(answer, AnswerSentence.relations, "supporting", "contradicting")


def _figures_of_judge(answers: AnswerSet, judged: Labels) -> Figures:
    for task, labels in judged.items():
        if task == "nuggets":
            yield from _nugget_shares(answers, labels)
            continue
        units = {key: judged_units(answers, answer, task) for key, answer in answers.answer.items()}
        begun, untouched = set[str](), set[str]()
        for (question, _), of_answer in units.items():
            if of_answer:
                (begun if any(unit in labels for unit in of_answer) else untouched).add(question)
        for key, answer in answers.answer.items():
            if key[0] in untouched - begun or any(unit not in labels for unit in units[key]):
                continue
            of_sentences = [unit_id(*key, sentence.id) for sentence in answer.sentences]
            if task == "relevance":
                yield key, _relevance_shares([labels.get(unit) for unit in of_sentences])
            elif task == "citations":
                judged_of = partial(_labels_of, key, labels)
                yield key, _citation_shares(answer, judged_of, "supports", "contradicts")
            elif units[key]:
                yield (
                    key,
                    {"correctness": sum(labels[unit] == "supports" for unit in units[key]) / len(units[key])},
                )


def judged_units(answers: AnswerSet, answer: Answer, task: str) -> dict[str, tuple[str, list[str]]]:
    """What a judge reads of an answer, by unit: each sentence with words, and the texts of what it cites.

    For ``citations`` each document is a unit; for ``correctness`` a sentence without any is none.
    """
    key, units = (answer.question_id, answer.system), dict[str, tuple[str, list[str]]]()
    for sentence in answer.sentences:
        claim = sentence.claim
        cited = [answers.document[name] for name in sentence.citations if name in answers.document]
        if task == "citations" and has_words(claim):
            for document in cited:
                units[unit_id(*key, sentence.id, document.document_id)] = claim, [document.whole]
        elif has_words(claim) and (task == "relevance" or cited):
            units[unit_id(*key, sentence.id)] = claim, [document.whole for document in cited]
    return units


def _nugget_shares(answers: AnswerSet, labels: Mapping[str, str | None]) -> Figures:
    """Recall: credit of the gold nuggets / nuggets; precision: credit of the answer's facts / facts."""
    credit: dict[str, dict[str, list[float]]] = {"nugget": {}, "fact": {}}
    for unit, label in labels.items():
        answer, _, place = unit.rpartition("/")
        credit[place.split()[0]].setdefault(answer, []).append(_CREDIT[label or "none"])
    for key in answers.answer:
        given = credit["nugget"].get(unit_id(*key), [])
        if given and len(given) == len(answers.question[key[0]].nuggets):
            yield key, {"nugget recall": sum(given) / len(given)}
        if stated := credit["fact"].get(unit_id(*key), []):
            yield key, {"nugget precision": sum(stated) / len(stated)}


def _relevance_shares(labels: Sequence[str | None]) -> dict[str, float]:
    """Shares of an answer's sentences; borderline and no label count in the denominator only.

    Gupta et al., Scientific Data 12:1035 (2025). Precision is BioACE's completeness too.
    """
    shares = {metric: labels.count(label) / max(1, len(labels)) for metric, label in _SHARES.items()}
    return shares if labels else {}


def _labels_of(
    key: Key, labels: Mapping[str, str | None], sentence: AnswerSentence, document: str
) -> tuple[str | None]:
    return (labels.get(unit_id(*key, sentence.id, document)),)


def _citation_shares(
    answer: Answer,
    labels_of: Callable[[AnswerSentence, str], Collection[str | None]],
    supporting: str,
    contradicting: str,
) -> dict[str, float]:
    """Coverage of an answer's sentences, and shares of its citations, distinct within a sentence.

    A citation that is both supporting and contradicting is in both rates; one without a label is in neither. As
    MedAESQA's authors count, an answer that cites nothing has rates of 0.
    """
    n = n_covered = n_supporting = n_contradicting = 0
    for sentence in answer.sentences:
        labels = [labels_of(sentence, document) for document in sentence.citations]
        supports = [supporting in of_citation for of_citation in labels]
        n += len(labels)
        n_covered += any(supports)
        n_supporting += sum(supports)
        n_contradicting += sum(contradicting in of_citation for of_citation in labels)
    rates = {"support rate": n_supporting / max(1, n), "contradict rate": n_contradicting / max(1, n)}
    return {"coverage": n_covered / len(answer.sentences), **rates} if answer.sentences else rates


def _cluster_recalls(answers: AnswerSet) -> dict[str, dict[Key, float]]:
    """Of a question's clusters (ten each in MedAESQA) those that hold one of an answer's sentences.

    In a set that has clusters alone every system is taken to have answered every question.
    """
    by_cluster = [list(map(_systems_in, clustering.clusters.values())) for clustering in answers.clusters]
    clustered = dict.fromkeys(chain.from_iterable(chain.from_iterable(by_cluster)))
    recalls: dict[str, dict[Key, float]] = {}
    for clustering, clusters in zip(answers.clusters, by_cluster, strict=True):
        for system in answers.systems or clustered:
            if answers.answers and (clustering.question_id, system) not in answers.answer:
                continue
            recall = sum(system in names for names in clusters) / len(clusters)
            recalls.setdefault(clustering.metric, {})[clustering.question_id, system] = recall
    return recalls


def _systems_in(cluster: Sequence[str]) -> list[str]:
    return [member.rpartition("-")[0] for member in cluster]


# -- systems ----------------------------------------------------------------------------------------


def system_scores(values: pd.DataFrame) -> pd.DataFrame:
    """Means over questions with their intervals, long: ``system, metric, value, low, high, n``."""
    rows = []
    for (metric, system), of_system in values.groupby(["metric", "system"], sort=False):
        numbers = of_system["value"]
        estimate = share(numbers) if metric == "accuracy" else interval(numbers)
        value = None if estimate.value is None else round(estimate.value, 12)  # equal means are equal
        rows.append({"system": system, "metric": metric, **estimate.as_dict(), "value": value})
    return pd.DataFrame(rows, columns=["system", "metric", "value", "low", "high", "n"])


def systems_table(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """`system_scores` with one row a system and one column a metric, the best by ``metric`` first.

    That one comes first, with ``low, high, n`` beside it.
    """
    metrics = [metric, *(name for name in dict.fromkeys(scores["metric"]) if name != metric)]
    table = scores.pivot(index="system", columns="metric", values="value")[metrics]
    chosen = scores[scores["metric"] == metric].set_index("system")[["low", "high", "n"]]
    table = pd.concat([table[[metric]], chosen, table[metrics[1:]]], axis=1)
    table = table.sort_values(metric, ascending=False, kind="stable", na_position="last")
    return table.rename_axis("system").reset_index()


def system_differences(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Every pair of systems by a metric: ``a, b`` and the columns of `stats.Paired`, ``p_holm`` over all pairs.

    Paired by question; a question without a value of either is left out of that pair alone.
    """
    table = _table(values, metric)
    rows = []
    for a, b in combinations(dict.fromkeys(values["system"]), 2):
        if a in table and b in table:
            both = table[[a, b]].dropna()
            rows.append({"a": a, "b": b, **paired(both[a], both[b]).as_dict()})
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=pd.Series(holm([row["p"] for row in rows]), dtype=float)) if rows else frame


def _table(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    return values[values["metric"] == metric].pivot(index="question", columns="system", values="value")


def order_of_systems(people: pd.DataFrame, judge: pd.DataFrame) -> pd.DataFrame:
    """Whether a judge's labels put the systems in the order of people's, metric by metric: BioACE's question.

    Columns ``people, judge`` (the two metrics), ``systems, questions``, ``tau`` (Kendall's tau-b) and ``rho``
    (Spearman's) of the means, each with its ends, questions drawn whole. Nugget recall stands beside the recall of
    clusters, correctness beside accuracy.
    """
    of_people, of_judge = (list(dict.fromkeys(values["metric"])) for values in (people, judge))
    pairs = [(metric, metric) for metric in of_people if metric in of_judge and metric not in COUNTS]
    pairs += [(metric, "nugget recall") for metric in of_people if metric.startswith("recall ")]
    pairs.append(("accuracy", "correctness"))
    rows = []
    for first, second in pairs:
        if first not in of_people or second not in of_judge:
            continue
        tables = _table(people, first).align(_table(judge, second), join="inner")
        if tables[0].shape[1] < 2:
            continue
        tau, rho = rank_agreement(*tables)
        rows.append({
            "people": first, "judge": second, "systems": tables[0].shape[1], "questions": len(tables[0]),
            "tau": tau.value, "tau_low": tau.low, "tau_high": tau.high,
            "rho": rho.value, "rho_low": rho.low, "rho_high": rho.high,
        })  # fmt: skip
    return pd.DataFrame(rows)
