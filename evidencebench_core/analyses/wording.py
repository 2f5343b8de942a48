"""How much wording matters: paraphrases, negation and spelling errors against the original hypothesis.

Gold and budget are those of the original everywhere. A paraphrase asks for the same; a negation asks for the same
sentences too, because evidence that supported the original now refutes; a misspelt hypothesis is the same one, badly
typed. The report is on what is stored; `run_variants` asks the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.metrics import expected_recall
from evidencebench_core.perturb import NEGATION, PARAPHRASE, hypothesis_variants
from evidencebench_core.runs import (
    RunInfo,
    RunStore,
    Step,
    Variant,
    execute,
    plan,
    retrieval_spec,
    variant_named,
)
from evidencebench_core.runs.results import papers_of
from evidencebench_core.runs.variant import spelling_name
from evidencebench_core.stats import interval, overlap, paired
from evidencebench_core.tasks import Task, task_named

QUESTIONS: Final = {"paraphrases": "Paraphrases", "negation": "Negation", "spelling": "Spelling errors"}
ERRORS: Final = (1, 3, 10, 20, 50)
MEAN: Final = "mean of the paraphrases"


def variants_for(store: Store, dataset: str, question: str) -> tuple[Variant, ...]:
    """The wordings behind one of `QUESTIONS`; none where neither the data nor a file brought any."""
    if question == "spelling":
        return tuple(variant_named(store, dataset, spelling_name(n)) for n in ERRORS)
    names = [
        name
        for name in hypothesis_variants(store, dataset)
        if (name == NEGATION if question == "negation" else name.startswith(PARAPHRASE))
    ]
    return tuple(variant_named(store, dataset, name) for name in names)


def wording(
    store: Store, runs: Sequence[str], task: str | Task = "er@optimal", question: str = "paraphrases"
) -> Report:
    """Recall of runs in other wordings, paired with the original.

    Returns
    -------
    Report
        *wordings*, one row a run and wording (of several paraphrases a last one for their mean): ``run``, ``label``,
        ``wording``; ``n``: instances answered in both; ``n_left_out``: without such a variant; ``n_missing``: with
        it, but not answered in both; ``original``, ``recall``: mean Aspect Recall over the n (``recall_low``,
        ``recall_high``); ``difference``: recall - original (``low``, ``high``), ``p`` (two-sided sign flips of
        papers, not corrected for the number of wordings); ``better``, ``same``, ``worse``: instances; ``overlap``:
        mean share of the picks that stays.

        *instances*, one row a run, wording and instance: ``run``, ``wording``, ``instance``, ``original``,
        ``recall``, ``difference``, ``overlap``; those that move most first.
    """
    chosen = task_named(task)
    if question not in QUESTIONS:
        raise SettingError("question", f"is {question!r}", f"Choices are: {', '.join(QUESTIONS)}.")
    infos = runs_named(store, runs)
    if not infos:
        raise SettingError("wording", "names no run", "Give the ids of runs over the original hypotheses.")
    dataset = infos[0].dataset
    variants = variants_for(store, dataset, question)
    if not variants:
        raise SettingError(
            f"dataset {dataset}",
            f"has no {question} of its hypotheses",
            'Bring a file: {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}}.',
        )
    papers = papers_of(store, dataset)
    rows: list[dict[str, Any]] = []
    frames: list[pd.DataFrame] = []
    n_missing = 0
    for run in infos:
        _check_original(run)
        original = _answers(store, run, chosen, None)
        others = [_answers(store, run, chosen, variant) for variant in variants]
        n_missing += sum(other.n_missing for other in others)
        if question == "paraphrases" and len(others) > 1:
            others.append(_mean_answers(others))
        for other in others:
            row, frame = _compared(original, other, papers)
            rows.append({"run": run.id, "label": run.label, **row})
            frames.append(frame.assign(run=run.id, wording=other.name))
    table = pd.DataFrame(rows).astype({"overlap": float})
    instances = pd.concat(frames, ignore_index=True)[["run", "wording", *frames[0].columns[:-2]]]
    instances = instances.sort_values("difference", key=lambda d: -d.abs(), kind="stable", ignore_index=True)
    notes = ["Intervals: 95%, papers drawn whole; n counts instances with an answer in both wordings."]
    if n_missing:
        notes.append(
            f"{n_missing:,} wordings of instances have no answer yet: `evidencebench run --variant NAME`."
        )
    if question == "spelling":
        notes.append(
            "Each error replaces one letter or digit of another word; a hypothesis with fewer words than errors has "
            "all of them misspelt. Once no word matches, bm25 answers in the order of the paper."
        )
    labels = ", ".join(run.label for run in infos)
    title = f"{QUESTIONS[question]}: {labels} on {dataset}, {chosen.title}"
    notes += store.dataset(dataset).gold_notes
    return Report(title, {"wordings": table, "instances": instances}, tuple(notes))


def finding(wordings: pd.DataFrame, question: str) -> str:
    """The table *wordings* in one sentence: of paraphrases their mean, of spelling errors the most that are asked."""
    subject = {"paraphrases": "Rewording", "negation": "Negating the hypothesis", "spelling": "Misspelling"}[
        question
    ]
    parts = []
    for label, rows in wordings[wordings["n"] > 0].groupby("label", sort=False):
        row = rows.iloc[-1]
        points = 100 * row["difference"]
        effect = f"{'costs' if points < 0 else 'gains'} {label} {abs(points):.1f} points"
        if np.isnan(row["low"]):
            parts.append(f"{effect}, over too few papers to say more")
        elif row["low"] <= 0 <= row["high"]:
            parts.append(
                f"{effect}, no more than chance ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
            )
        else:
            parts.append(f"{effect} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})")
    return f"{subject} {'; '.join(parts)}." if parts else "No wording has been answered yet."


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """By instance the recall and the picks of a run over one wording."""

    name: str
    recalls: dict[str, float]
    selections: dict[str, tuple[int, ...]]
    n_left_out: int = 0
    n_missing: int = 0


def variant_run_id(store: Store, run: RunInfo, variant: Variant | None) -> str:
    """The id that the run's retriever has, or would have, over a wording; ``None`` stands for the original."""
    if variant is None:
        return run.id
    sha256 = store.dataset(run.dataset).sha256
    return retrieval_spec(sha256, run.retriever, run.settings, variant.name, variant.digest).id


def _check_original(run: RunInfo) -> None:
    if run.variant:
        problem = f"is itself one over a variant, {run.variant}"
        raise SettingError(f"run {run.id}", problem, "Name the run over the original hypotheses.")


def _answers(store: Store, run: RunInfo, task: Task, variant: Variant | None) -> _Answers:
    """The stored answers of a run's retriever over a wording; empty where it has never run."""
    stored = RunStore(store).selections(variant_run_id(store, run, variant), task.name)
    recalls: dict[str, float] = {}
    n_left_out = n_missing = 0
    for name, evidence in store.evidence_sets(run.dataset):
        covers = evidence.covers(task.focus)
        if not covers:
            continue
        if variant is not None and not variant.has(name):
            n_left_out += 1
        elif name not in stored:
            n_missing += 1
        else:
            recalls[name] = expected_recall(stored[name], covers, task.budget_for(evidence)) or 0.0
    name = "original" if variant is None else variant.name
    return _Answers(name, recalls, stored, n_left_out, n_missing)


def _mean_answers(several: Sequence[_Answers]) -> _Answers:
    """The mean recall over several wordings, of the instances answered in all of them."""
    first = several[0].recalls
    common = [name for name in first if all(name in answers.recalls for answers in several)]
    recalls = {name: sum(answers.recalls[name] for answers in several) / len(several) for name in common}
    n_left_out = max(answers.n_left_out for answers in several)
    return _Answers(MEAN, recalls, {}, n_left_out, max(answers.n_missing for answers in several))


def _compared(
    original: _Answers, other: _Answers, papers: dict[str, str]
) -> tuple[dict[str, Any], pd.DataFrame]:
    names = [name for name in original.recalls if name in other.recalls]
    clusters = [papers[name] for name in names]
    recalls, before = [other.recalls[name] for name in names], [original.recalls[name] for name in names]
    pair, estimate = paired(recalls, before, clusters), interval(recalls, clusters)
    stays = [
        overlap(original.selections[name], other.selections[name]) if name in other.selections else None
        for name in names
    ]
    frame = pd.DataFrame({"instance": names, "original": before, "recall": recalls})
    frame["difference"] = np.round(frame["recall"] - frame["original"], 12)
    frame["overlap"] = pd.Series(stays, dtype=float)
    row = {
        "wording": other.name,
        "n": pair.n,
        "n_left_out": other.n_left_out,
        "n_missing": other.n_missing + len(other.recalls) - len(names),
        "original": pair.mean_b,
        "recall": pair.mean_a,
        "recall_low": estimate.low,
        "recall_high": estimate.high,
        "difference": pair.difference.value,
        "low": pair.difference.low,
        "high": pair.difference.high,
        "p": pair.p,
        "better": pair.wins,
        "same": pair.ties,
        "worse": pair.losses,
        "overlap": frame["overlap"].mean(),
    }
    return row, frame


def unanswered(store: Store, run: RunInfo, task: Task, variants: Sequence[Variant]) -> int:
    """How many wordings of instances still have to be asked."""
    return sum(_answers(store, run, task, variant).n_missing for variant in variants)


def run_variants(
    store: Store,
    run: RunInfo,
    task: Task,
    variants: Sequence[Variant],
    cancelled: Callable[[], bool] | None = None,
    *,
    llm: LLM | None = None,
) -> Iterator[Step]:
    """Ask whatever is missing, wording by wording; resumes like `execute`, and raises what it does."""
    total = unanswered(store, run, task, variants)
    n_before = 0
    for variant in variants:
        planned = plan(store, run.dataset, run.retriever, run.settings, (task,), variant=variant, llm=llm)
        n_answered = first = 0
        for progress in execute(planned, cancelled=cancelled):
            first = progress.done if progress.unit is None and not n_answered else first
            n_answered = progress.done - first
            failed = f", {progress.failed:,} failed" if progress.failed else ""
            yield Step(f"{variant.name}{failed}", min(n_before + n_answered, total), total, "instances")
        n_before += n_answered
        if cancelled is not None and cancelled():
            return
