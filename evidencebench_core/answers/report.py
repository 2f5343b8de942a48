"""The figures of a set of answers, or of a run, as a report: page, command and notebook draw it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from evidencebench_core.analyses import Report
from evidencebench_core.answers.agreement import judge_agreement
from evidencebench_core.answers.asking import abstract_answers, answers_of, cited_run, dataset_of
from evidencebench_core.answers.cited import COUNTS as RUN_COUNTS
from evidencebench_core.answers.cited import FIGURES, CitedAnswer, CitedScores, cited_scores
from evidencebench_core.answers.judging import is_answer_set, labels_by_task, pair_labels, unread_judgements
from evidencebench_core.answers.store import answer_set_info, marks, stored_answers
from evidencebench_core.answers.units import (
    COUNTS,
    METRICS,
    answer_values,
    order_of_systems,
    system_scores,
    systems_table,
)
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.runs import RunInfo, judge_run
from evidencebench_core.stats import FEW_PAPERS, interval_note
from evidencebench_core.words import quantity

FIRST: Final = ("coverage", "recall R+B (ST)", "precision", "accuracy")
"""The metrics that systems are sorted by where none is chosen, the first that there is."""
ABSTRACT: Final = "abstract"
_RECALL: Final = "clusters of sentences that say the same which hold one of the answer / clusters"
_ORDER: Final = {
    "tau": "Kendall's tau-b of the systems' means, by people and by the judge",
    "rho": "Spearman's rho of the same",
}


def answers_report(
    store: Store, name: str, judge: str | None = None, metric: str | None = None, limit: int | None = None
) -> Report:
    """The systems of a set of answers, or a run of answers beside the abstract: ``systems``, the best first.

    By labels of people, or by those of the model ``judge``, with which come its ``agreement with people`` and the
    ``order`` of the systems by both. ``metric`` is what systems are sorted by; ``figures`` has every interval.
    `SettingError` if the judge has judged nothing, or there is no such metric.
    """
    if is_answer_set(store, name):
        return _set_report(store, name, judge, metric)
    return _run_report(store, name, judge, metric, limit)


def _set_report(store: Store, name: str, judge: str | None, metric: str | None) -> Report:
    info, answers = answer_set_info(store, name), stored_answers(store, name)
    values = people = answer_values(answers)
    tables: dict[str, pd.DataFrame] = {}
    notes = [f"Intervals: 95%, over {quantity(len(answers.question), 'question')}, drawn whole"]
    if len(answers.question) < FEW_PAPERS:
        notes[0] += "; so few say little"
    if judge is not None:
        labels = labels_by_task(store, info.sha256, judge, marks(store, info.sha256))
        if not labels:
            raise _no_judgements(judge, name)
        values = answer_values(answers, labels)
        tables["order of systems"] = order_of_systems(people, values)
        tables["agreement with people"] = _agreement(store, name, judge)
        notes.append(f"By the labels of {judge}, a model.")
        for task in labels:
            run = judge_run(store, info.sha256, judge, task)
            unread = unread_judgements(store, run).most_common(3) if run else []
            texts = ", ".join(f"{shown(text)} ({n:,})" for text, n in unread)
            notes += [f"{task}: without a label: {texts}."] if texts else []
    scores = system_scores(values)
    shares = [name for name in dict.fromkeys(scores["metric"]) if name not in COUNTS]
    if not shares:
        notes.append("Nobody has labelled these answers: `answers judge` asks a model.")
        return Report(name, {"systems": pd.DataFrame(columns=["system"])}, tuple(notes))
    n_answers = len(answers.answer)
    for of_metric, n in scores.groupby("metric", sort=False)["n"].sum().items():
        if n < n_answers:
            notes.append(f"{of_metric}: of {n:,} of {n_answers:,} answers; the others have no labels for it.")
    systems = systems_table(scores, _chosen(metric, shares, FIRST))
    tables = {"systems": systems, **tables, "figures": scores}
    legend = {name: METRICS.get(name, _RECALL) for name in shares} | (_ORDER if judge else {})
    return Report(name, tables, tuple(notes), legend, {"figures": ()}, (*shares, "value", "always the same"))


def _chosen(metric: str | None, known: list[str], first: tuple[str, ...]) -> str:
    if metric is None:
        return next((name for name in first if name in known), known[0])
    if metric not in known:
        remedy = f"{did_you_mean(metric, known)}Metrics are: {', '.join(known)}."
        raise SettingError("metric", f"{shown(metric)} is not known here", remedy)
    return metric


def _agreement(store: Store, name: str, judge: str) -> pd.DataFrame:
    """By kind of label and measure, beside a judge that always says the same."""
    answers, rows = stored_answers(store, name), []
    labels = labels_by_task(store, answer_set_info(store, name).sha256, judge)
    for kind in ("citations", "relevance"):
        if kind not in labels:
            continue
        agreement = judge_agreement(answers, labels[kind], kind)
        for measure, value in agreement.figures.items():
            row = {"judged": kind, "measure": measure, **value.as_dict(), "always": agreement.constant}
            counts = {"without a label": agreement.n_unlabelled, "not judged": agreement.n_missing}
            rows.append({**row, "always the same": agreement.constant_figures[measure].value, **counts})
    return pd.DataFrame(rows)


# -- runs -------------------------------------------------------------------------------------------


def cited_run_scores(
    store: Store, run_id: str, judge: str | None = None, *, limit: int | None = None
) -> CitedScores:
    """The scores of a run of answers, with the labels of the model ``judge``, else of the one that said the most."""
    run = cited_run(store, run_id)
    answers, judging = answers_of(store, run), judge_run(store, run.id, judge)
    if judging is None:
        if judge is not None:
            raise _no_judgements(judge, f"run {run.id}")
        return _scores(store, run, answers, limit)
    labels = pair_labels(store, judging, answers)
    return _scores(store, run, answers, limit, labels, judging.settings["model"])


def _scores(
    store: Store, run: RunInfo, answers: Mapping[str, CitedAnswer], limit: int | None, *judged: Any
) -> CitedScores:
    dataset, focus = dataset_of(store, run).name, run.settings["settings"]["focus"]
    gold = dict(store.evidence_sets(dataset, store.ids(dataset, limit)))
    return cited_scores(gold, answers, store.paper_ids(dataset), focus, *judged)


def _no_judgements(judge: str, what: str) -> SettingError:
    return SettingError("--judge", f"{judge} has judged nothing of {what}", "Start with `answers judge`.")


def _run_report(store: Store, name: str, judge: str | None, metric: str | None, limit: int | None) -> Report:
    run = cited_run(store, name)
    answered = cited_run_scores(store, run.id, judge, limit=limit)
    abstracts = abstract_answers(store, dataset_of(store, run).name, limit)
    scores = {run.settings["model"]: answered, ABSTRACT: _scores(store, run, abstracts, limit)}
    figures = pd.DataFrame([
        {"system": system, "metric": metric_name, **estimate.as_dict()}
        for system, of_system in scores.items()
        for metric_name, estimate in of_system.means.items()
        if metric_name not in RUN_COUNTS
    ])  # fmt: skip
    outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in answered.outcomes.items())
    notes = [f"Outcomes: {outcomes}; {answered.n_skipped:,} without an aspect."]
    notes += [f"Judged by {answered.judge}."] if answered.judge else []
    notes.append(f"{ABSTRACT}: the paper's abstract as the answer, each sentence citing itself.")
    notes.append(f"{interval_note(answered.instances['paper'].nunique())}.")
    parts = [of_system.instances.assign(system=system) for system, of_system in scores.items()]
    instances = pd.concat(parts, ignore_index=True)
    shares = list(dict.fromkeys(figures["metric"])) if len(figures) else []
    if not shares:
        return Report(f"run {run.id}", {"instances": instances}, tuple(notes), brief={"instances": ()})
    systems = systems_table(figures, _chosen(metric, shares, ("cited_recall",)))
    tables = {"systems": systems, "figures": figures, "instances": instances}
    brief = {"figures": (), "instances": ()}
    legend = {name: FIGURES[name] for name in shares}
    return Report(f"run {run.id}", tables, tuple(notes), legend, brief, (*shares, "value"))
