"""The figures of a set of answers, or of a run, as the report that page, command and notebook draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from evidencebench_core.analyses import Report
from evidencebench_core.answers.agreement import SCALES, judge_agreement
from evidencebench_core.answers.asking import KIND, abstract_answers, answers_of, dataset_of
from evidencebench_core.answers.cited import FIGURES, cited_frame
from evidencebench_core.answers.judging import is_answer_set, labels_by_task, pair_labels, unread_judgements
from evidencebench_core.answers.store import ANSWER_SETS, marks, stored_answers
from evidencebench_core.answers.units import (
    COUNTS,
    METRICS,
    answer_values,
    lead_in_words,
    order_of_systems,
    system_scores,
    systems_table,
)
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.runs import RunInfo, chat_run, judge_run
from evidencebench_core.stats import FEW_PAPERS, interval_note
from evidencebench_core.words import quantity

ABSTRACT: Final = "abstract"
_FIRST: Final = ("coverage", "recall R+B (ST)", "precision", "accuracy", "cited_recall")
"""The metrics to sort systems by if none is chosen: the first that is there."""
_RECALL: Final = "clusters of sentences that say the same which hold one of the answer / clusters"
_ORDER: Final = {
    "tau": "Kendall's tau-b of the systems' means, by people and by the judge",
    "rho": "Spearman's rho of the same",
}


def answers_report(store: Store, name: str, judge: str | None = None, metric: str | None = None) -> Report:
    """The systems of a set of answers, or a run of answers beside the abstract: ``systems``, the best first.

    By labels of people, or by those of the model ``judge``, with which come its ``agreement with people`` and the
    ``order of systems`` by both. ``metric`` is what systems are sorted by; ``figures`` has every interval. Of a run
    ``instances`` has those of each answer. The first note is the finding. `SettingError` if the judge has judged
    nothing, or there is no such metric.
    """
    if is_answer_set(store, name):
        return _set_report(store, name, judge, metric)
    return _run_report(store, name, judge, metric)


def _set_report(store: Store, name: str, judge: str | None, metric: str | None) -> Report:
    subject, answers = ANSWER_SETS.named(store, name).sha256, stored_answers(store, name)
    values = people = answer_values(answers)
    tables: dict[str, pd.DataFrame] = {}
    notes = [f"Intervals: 95%, over {quantity(len(answers.question), 'question')}, drawn whole"]
    if len(answers.question) < FEW_PAPERS:
        notes[0] += "; so few say little"
    if judge is not None:
        labels = labels_by_task(store, subject, judge, marks(store, subject))
        if not labels:
            raise _no_judgements(judge, name)
        values = answer_values(answers, labels)
        tables["order of systems"] = order_of_systems(people, values)
        of_judge = labels_by_task(store, subject, judge)  # without people's decisions
        agreements = [judge_agreement(answers, of_judge[kind], kind) for kind in SCALES if kind in of_judge]
        frames = [agreement.figures.assign(judged=agreement.kind) for agreement in agreements]
        tables["agreement with people"] = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
        notes.append(f"By the labels of {judge}, a model.")
        for task in labels:
            notes += _unread_notes(store, judge_run(store, subject, judge, task))
    n_answers = len(answers.answer)
    for of_metric, n in values["metric"].value_counts(sort=False).items():
        if n < n_answers:
            notes.append(f"{of_metric}: of {n:,} of {n_answers:,} answers; the others have no labels for it.")
    return _report(name, values, metric, tables, notes, _ORDER if judge else {})


def _report(
    title: str,
    values: pd.DataFrame,
    metric: str | None,
    tables: Mapping[str, pd.DataFrame],
    notes: Sequence[str],
    legend: Mapping[str, str],
) -> Report:
    """The report of systems, from the values of their answers."""
    scores = system_scores(values)
    shares = [of_metric for of_metric in dict.fromkeys(scores["metric"]) if of_metric not in COUNTS]
    brief = {"figures": (), "instances": ()}
    if not shares:
        nothing = "There is no label and no score: `answers judge` asks a model."
        return Report(
            title, {"systems": pd.DataFrame(columns=["system"]), **tables}, (nothing, *notes), {}, brief
        )
    if metric is not None and metric not in shares:
        remedy = f"{did_you_mean(metric, shares)}Metrics are: {', '.join(shares)}."
        raise SettingError(f"metric {shown(metric)}", "is not known here", remedy)
    chosen = metric or next((of_metric for of_metric in _FIRST if of_metric in shares), shares[0])
    systems = systems_table(scores, chosen)
    finding = lead_in_words(values, systems, chosen)
    meanings = {of_metric: METRICS.get(of_metric) or FIGURES.get(of_metric, _RECALL) for of_metric in shares}
    return Report(
        title,
        {"systems": systems, **tables, "figures": scores},
        (*filter(None, (finding,)), *notes),
        {**meanings, **legend},
        brief,
        (*shares, "value", "always the same"),
    )


def _run_report(store: Store, name: str, judge: str | None, metric: str | None) -> Report:
    run = chat_run(store, name, KIND)
    dataset, focus, model = (
        dataset_of(store, run).name,
        run.settings["settings"]["focus"],
        run.settings["model"],
    )
    gold = dict(store.evidence_sets(dataset))
    papers, answers = store.paper_ids(dataset), answers_of(store, run)
    judging = judge_run(store, run.id, judge)
    if judging is None and judge is not None:
        raise _no_judgements(judge, f"run {run.id}")
    labels = pair_labels(store, judging, answers) if judging else None
    answered = cited_frame(gold, answers, papers, focus, labels)
    abstracts = cited_frame(gold, abstract_answers(store, dataset), papers, focus)
    instances = pd.concat(
        [answered.assign(system=model), abstracts.assign(system=ABSTRACT)], ignore_index=True
    )
    keys = ["instance", "paper", "system"]
    values = instances.melt(keys, var_name="metric").dropna().astype({"value": float})
    with_aspects = [instance_id for instance_id, evidence in gold.items() if evidence.covers(focus)]
    outcomes = pd.Series(
        [answers[unit].outcome if unit in answers else "failed" for unit in with_aspects], dtype=object
    )
    counts = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.value_counts().items())
    notes = [f"Outcomes: {counts}; {len(gold) - len(with_aspects):,} without an aspect."]
    notes += [f"Judged by {judging.settings['model']}."] if judging else []
    notes += [
        *_unread_notes(store, judging),
        f"{ABSTRACT}: the paper's abstract as the answer, each sentence citing itself.",
        f"{interval_note(answered['paper'].nunique())}.",
    ]
    values = values.rename(columns={"instance": "question"})
    return _report(f"run {run.id}", values, metric, {"instances": instances}, notes, {})


def _unread_notes(store: Store, judging: RunInfo | None) -> list[str]:
    """A note on the most frequent last words of judgements without a label."""
    unread = unread_judgements(store, judging).most_common(3) if judging else []
    texts = ", ".join(f"{shown(text)} ({n:,})" for text, n in unread)
    return [f"{judging.settings['task']}: without a label: {texts}."] if judging and texts else []


def _no_judgements(judge: str, what: str) -> SettingError:
    return SettingError(f"judge {judge}", f"has not judged {what}", "Start with `answers judge`.")
