"""All units of answers that can be judged, as one long frame; and the metrics of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal

import pandas as pd

from evidencebench_core.answers.model import RELEVANCES, SUPPORT, AnswerSet, has_words, unit_id
from evidencebench_core.stats import Estimate, interval, paired, rank_agreement, share

UnitKind = Literal["relevance", "correctness", "citations"]
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
FEWER_IS_BETTER: Final = ("redundancy", "harmfulness", "contradict rate", "contradict_rate")
_SHARES: Final[Mapping[str, Mapping[str, str]]] = {
    "relevance": {"required": "precision", "unnecessary": "redundancy", "inappropriate": "harmfulness"},
    "correctness": {"supports": "correctness"},
    "citations": {"supports": "support rate", "contradicts": "contradict rate"},
}
"""The metric that is the share of a label, by kind of unit. Gupta et al., Scientific Data 12:1035 (2025)."""
_CREDIT: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}
_ANSWER: Final = ["question", "system"]
_SURE: Final = 0.05  # p below which a lead is not put down to chance
Labels = Mapping[str, Mapping[str, str | None]]
"""The label of each unit, by what was judged: a `UnitKind`, or "nuggets"."""


def units_frame(answers: AnswerSet) -> pd.DataFrame:
    """What can be judged, in the order of the file: sentences, sentences with all they cite, and citations.

    Columns: ``kind``, ``unit`` (its id), ``question, system, sentence, document``, ``claim`` (the sentence without its
    brackets), ``documents`` (those that a judge reads), ``people`` (all their labels), ``human`` (one label, or None;
    of several the first of supports, contradicts, neutral), ``has_text`` (whether a judge has anything to read).
    """
    rows: list[tuple[Any, ...]] = []
    for answer in answers.answers:
        for sentence in answer.sentences:
            key, claim = (answer.question_id, answer.system, sentence.id), sentence.claim
            known = tuple(name for name in sentence.citations if name in answers.document)
            relevance = (sentence.relevance,) if sentence.relevance else ()
            rows.append(("relevance", unit_id(*key), *key, "", claim, (), relevance))
            rows.append(("correctness", unit_id(*key), *key, "", claim, known, ()))
            for document in sentence.citations:
                read = (document,) if document in known else ()
                labels = sentence.relations(document)
                rows.append(("citations", unit_id(*key, document), *key, document, claim, read, labels))
    columns = ["kind", "unit", *_ANSWER, "sentence", "document", "claim", "documents", "people"]
    frame = pd.DataFrame(rows, columns=columns)
    is_read = frame["kind"].eq("relevance") | frame["documents"].astype(bool)
    human = pd.Series([_single_label(labels) for labels in frame["people"]], dtype=object)
    return frame.assign(human=human, has_text=is_read & frame["claim"].map(has_words).astype(bool))


def _single_label(labels: Sequence[str]) -> str | None:
    known = ["neutral" if label == "not relevant" else label for label in labels]
    return next((label for label in (*RELEVANCES, *SUPPORT) if label in known), None)


# -- answers by metrics -----------------------------------------------------------------------------


def answer_values(answers: AnswerSet, judged: Labels | None = None) -> pd.DataFrame:
    """Each answer's metrics, long: ``question, system, metric, value``; a share of nothing is left out.

    By labels of people; an accurate answer of which no sentence (no citation) has a label was not labelled. With
    ``judged`` by those of a judge: left out is an answer with a unit that has no judgement yet, or to a question of
    which nothing is judged; a judgement without a label counts for nothing, and so does a document that is not there.
    """
    units, rows = units_frame(answers), list[tuple[str, str, str, float]]()
    for key, answer in answers.answer.items():
        if judged is None and answer.accurate is not None:
            rows.append((*key, "accuracy", float(answer.accurate)))
        rows.append((*key, "sentences", float(len(answer.sentences))))
        rows.append((*key, "citations", float(sum(len(sentence.citations) for sentence in answer.sentences))))
    if judged is None:
        rows += _cluster_recalls(answers)
    else:
        rows += _nugget_shares(answers, judged.get("nuggets", {}))
    frames = [pd.DataFrame(rows, columns=[*_ANSWER, "metric", "value"])]
    every = pd.MultiIndex.from_tuples(list(answers.answer), names=_ANSWER)
    n_sentences = units[units["kind"] == "relevance"].groupby(_ANSWER, sort=False).size()
    for kind, metrics in _SHARES.items():
        of_kind = units[units["kind"] == kind]
        if judged is None:
            labels, counted = of_kind["people"], _labelled_answers(answers, of_kind, every)
        elif kind in judged:
            labels = of_kind["unit"].map(lambda unit, of=judged[kind]: (of.get(unit),))
            counted = _judged_answers(of_kind, judged[kind], every)
        else:
            continue
        flags = {label: [label in of_unit for of_unit in labels] for label in metrics}
        flagged = of_kind[[*_ANSWER, "sentence"]].join(pd.DataFrame(flags, of_kind.index, dtype=bool))
        if kind == "correctness":
            flagged = flagged[of_kind["has_text"]]
        shares = flagged.groupby(_ANSWER, sort=False)[list(metrics)].mean().rename(columns=metrics)
        if kind == "citations":
            covered = flagged[flagged["supports"]].drop_duplicates([*_ANSWER, "sentence"])
            n_covered = covered.groupby(_ANSWER, sort=False).size().reindex(n_sentences.index, fill_value=0)
            shares = shares.reindex(every, fill_value=0.0).assign(coverage=n_covered / n_sentences)
        counted_shares = shares[shares.index.isin(counted)].reset_index()
        frames.append(counted_shares.melt(_ANSWER, var_name="metric").dropna())
    values = pd.concat(frames, ignore_index=True)
    places = {metric: place for place, metric in enumerate(METRICS)}
    return values.sort_values("metric", key=lambda names: names.map(places), kind="stable", ignore_index=True)


def _labelled_answers(answers: AnswerSet, units: pd.DataFrame, every: pd.MultiIndex) -> pd.MultiIndex:
    """The answers that people labelled; if any was labelled, also those with nothing to label."""
    labelled = units[units["people"].astype(bool)]
    if labelled.empty:
        return every[:0]
    keys = pd.MultiIndex.from_frame(labelled[_ANSWER])
    inaccurate = [key for key, answer in answers.answer.items() if answer.accurate is False]
    is_whole = ~every.isin(pd.MultiIndex.from_frame(units[_ANSWER]))
    if units["kind"].iloc[0] == "relevance":
        is_whole |= every.isin(inaccurate)
    return every[every.isin(keys) | is_whole]


def _judged_answers(
    units: pd.DataFrame, labels: Mapping[str, str | None], every: pd.MultiIndex
) -> pd.MultiIndex:
    readable = units[units["has_text"]]
    is_judged = readable["unit"].isin(labels)
    waiting = pd.MultiIndex.from_frame(readable[~is_judged][_ANSWER])
    untouched = set(readable["question"]) - set(readable[is_judged]["question"])
    questions = every.get_level_values("question")
    return every[~every.isin(waiting) & ~questions.isin(untouched)]


def _nugget_shares(
    answers: AnswerSet, labels: Mapping[str, str | None]
) -> Iterator[tuple[str, str, str, float]]:
    """Recall: credit of the gold nuggets / nuggets; precision: credit of the answer's facts / facts."""
    credit: dict[str, dict[str, list[float]]] = {"nugget": {}, "fact": {}}
    for unit, label in labels.items():
        answer, _, place = unit.rpartition("/")
        credit[place.split()[0]].setdefault(answer, []).append(_CREDIT[label or "none"])
    for key in answers.answer:
        given = credit["nugget"].get(unit_id(*key), [])
        if given and len(given) == len(answers.question[key[0]].nuggets):
            yield *key, "nugget recall", sum(given) / len(given)
        if stated := credit["fact"].get(unit_id(*key), []):
            yield *key, "nugget precision", sum(stated) / len(stated)


def _cluster_recalls(answers: AnswerSet) -> Iterator[tuple[str, str, str, float]]:
    """The share of a question's clusters (ten in MedAESQA) that contain a sentence of the answer.

    In a set that has clusters alone every system is taken to have answered every question.
    """
    by_cluster = [list(map(_systems_in, clustering.clusters.values())) for clustering in answers.clusters]
    clustered = dict.fromkeys(chain.from_iterable(chain.from_iterable(by_cluster)))
    for clustering, clusters in zip(answers.clusters, by_cluster, strict=True):
        for system in answers.systems or clustered:
            if not answers.answers or (clustering.question_id, system) in answers.answer:
                recall = sum(system in names for names in clusters) / len(clusters)
                yield clustering.question_id, system, clustering.metric, recall


def _systems_in(cluster: Sequence[str]) -> list[str]:
    return [member.rpartition("-")[0] for member in cluster]


# -- systems ----------------------------------------------------------------------------------------


def system_scores(values: pd.DataFrame) -> pd.DataFrame:
    """Means over questions with their intervals, long: ``system, metric, value, low, high, n``.

    Questions are drawn whole, or where ``values`` has a ``paper``, papers.
    """
    rows = []
    for (metric, system), of_system in values.groupby(["metric", "system"], sort=False):
        numbers = of_system["value"]
        estimate = share(numbers) if metric == "accuracy" else interval(numbers, of_system.get("paper"))
        value = None if estimate.value is None else round(estimate.value, 12)  # equal means are equal
        rows.append({"system": system, "metric": metric, **estimate.as_dict(), "value": value})
    return pd.DataFrame(rows, columns=["system", "metric", "value", "low", "high", "n"])


def systems_table(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """`system_scores` with a row for each system and a column for each metric, the best by ``metric`` first.

    That one comes first, with ``low, high, n`` beside it.
    """
    metrics = [metric, *(name for name in dict.fromkeys(scores["metric"]) if name != metric)]
    table = scores.pivot(index="system", columns="metric", values="value")[metrics]
    chosen = scores[scores["metric"] == metric].set_index("system")[["low", "high", "n"]]
    table = pd.concat([table[[metric]], chosen, table[metrics[1:]]], axis=1)
    table = table.sort_values(metric, ascending=metric in FEWER_IS_BETTER, kind="stable", na_position="last")
    return table.rename_axis("system").reset_index()


def lead_in_words(values: pd.DataFrame, table: pd.DataFrame, metric: str) -> str:
    """Which system does best by a metric, and whether its lead could be chance; empty for a single system."""
    best = table.dropna(subset=[metric])
    if len(best) < 2:
        return ""
    first, second = best["system"].head(2)
    both = _by_question(values, metric)[[first, second]].dropna()
    papers = values.groupby("question")["paper"].first()[both.index] if "paper" in values else None
    test = paired(both[first], both[second], papers)
    is_sure = test.p is not None and test.p < _SURE
    chance = "" if is_sure else ", a difference that chance alone could make"
    of_first, of_second = best[metric].head(2)
    points = abs(100 * (of_first - of_second))
    return f"{first} does best in {metric}: {Estimate(of_first).text()}, {points:.1f} points from {second}{chance}."


def _by_question(values: pd.DataFrame, metric: str) -> pd.DataFrame:
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
        tables = _by_question(people, first).align(_by_question(judge, second), join="inner")
        if tables[0].shape[1] < 2:
            continue
        tau, rho = rank_agreement(*tables)
        rows.append({
            "people": first, "judge": second, "systems": tables[0].shape[1], "questions": len(tables[0]),
            "tau": tau.value, "tau_low": tau.low, "tau_high": tau.high,
            "rho": rho.value, "rho_low": rho.low, "rho_high": rho.high,
        })  # fmt: skip
    return pd.DataFrame(rows)
