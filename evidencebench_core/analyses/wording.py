"""How much wording matters: paraphrases, negation and spelling errors against the original hypothesis.

Gold and budget are those of the original everywhere. A paraphrase asks for the same; a negation asks for the same
sentences too, because evidence that supported the original now refutes; a misspelt hypothesis is the same one, badly
typed. The report is on what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import aspects, chance_text, instance_frame, recalls, runs_named
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import overlap
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    hypothesis_variants,
    spelling_name,
    spelling_numbers,
    variant_named,
)
from evidencebench_core.runs import RunInfo, RunLike, RunStore, Variant, retrieval_spec
from evidencebench_core.stats import interval, interval_note, paired
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import signed_points

QUESTIONS: Final = {"paraphrases": "Paraphrases", "negation": "Negation", "spelling": "Spelling errors"}
ERRORS: Final = (1, 3, 10, 20, 50)
MEAN: Final = "mean of the paraphrases"


def variants_for(store: Store, dataset: str, question: str) -> tuple[Variant, ...]:
    """The wordings behind one of `QUESTIONS`; none where neither the data nor a file brought any.

    Of spelling errors those that runs were asked in, besides `ERRORS`.
    """
    if question == "spelling":
        asked = {spelling_numbers(run.variant) for run in RunStore(store).runs(dataset, variants=True)}
        numbers = sorted({(n, 0) for n in ERRORS} | {pair for pair in asked if pair})
        return tuple(variant_named(store, dataset, spelling_name(*pair)) for pair in numbers)
    beginning = NEGATION if question == "negation" else PARAPHRASE
    names = [name for name in hypothesis_variants(store, dataset) if name.startswith(beginning)]
    return tuple(variant_named(store, dataset, name) for name in names)


def wording(
    store: Store, runs: Sequence[RunLike], task: str | Task = "er@optimal", question: str = "paraphrases"
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
        raise SettingError("question", f"cannot be {question!r}", f"Choices are: {', '.join(QUESTIONS)}.")
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
    rows, frames = [], []
    for run in infos:
        for row, frame in _of_run(store, run, chosen, variants):
            rows.append({"run": run.id, "label": run.label, **row})
            frames.append(frame.assign(run=run.id, wording=row["wording"]))
    bounds = ("recall_low", "recall_high", "low", "high")  # None where there is no interval
    table = pd.DataFrame(rows).astype(dict.fromkeys(("overlap", *bounds), float))
    columns = ["run", "wording", "instance", "original", "recall", "difference", "overlap"]
    instances = pd.concat(frames, ignore_index=True)[columns]
    instances = instances.sort_values(
        "difference", key=abs, ascending=False, kind="stable", ignore_index=True
    )
    n_missing = table.loc[table["wording"] != MEAN, "n_missing"].sum()
    n_papers = store.dataset(dataset).n_papers
    notes = [f"{interval_note(n_papers)}; n counts instances with an answer in both wordings."]
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
    tables, text = {"wordings": table, "instances": instances}, finding(table, question)
    return Report(title, tables, tuple(notes), brief={"instances": ()}, finding=text)


def finding(wordings: pd.DataFrame, question: str) -> str:
    """The table *wordings* in one sentence: of paraphrases their mean, of spelling errors the most that are asked."""
    subject = {"paraphrases": "Rewording", "negation": "Negating the hypothesis", "spelling": "Misspelling"}[
        question
    ]
    parts = []
    for label, rows in wordings[wordings["n"] > 0].groupby("label", sort=False):
        row = rows.iloc[-1]
        if row["better"] == row["worse"] == 0:
            parts.append(f"changes nothing for {label}")
        else:
            effect = f"moves {label} by {signed_points(row['difference'])} points"
            parts.append(f"{effect} ({chance_text(row['low'], row['high'])})")
    return f"{subject} {'; '.join(parts)}." if parts else "No wording has been answered yet."


def variant_run_id(store: Store, run: RunInfo, variant: Variant | None) -> str:
    """The id that the run's retriever has, or would have, over a wording; ``None`` stands for the original."""
    if variant is None:
        return run.id
    sha256, wording = store.dataset(run.dataset).sha256, (variant.name, variant.digest)
    return retrieval_spec(
        sha256, run.retriever, run.settings, run.basis, variant=wording, sample=run.sample
    ).id


def _of_run(
    store: Store, run: RunInfo, task: Task, variants: Sequence[Variant]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The row of *wordings* and the rows of *instances* of each variant, and of their mean."""
    if run.variant:
        problem = f"is itself one over a variant, {run.variant}"
        raise SettingError(f"run {run.id}", problem, "Name the run over the original hypotheses.")
    papers = instance_frame(store, run.dataset).set_index("instance")["paper"][_asked(store, run, task)]
    original, picked = _answers(store, run, task, None)
    frames = {}
    for variant in variants:
        recall, selections = _answers(store, run, task, variant)
        stays = [overlap(picked.get(name, ()), selections.get(name, ())) for name in papers.index]
        columns = {"paper": papers, "original": original[papers.index], "recall": recall[papers.index]}
        frame = pd.DataFrame(columns).assign(overlap=np.array(stays, dtype=float))
        frames[variant.name] = frame.assign(has_text=papers.index.isin(variant.hypotheses))
    if len(variants) > 1 and variants[0].name.startswith(PARAPHRASE):
        mean = pd.concat([of_variant["recall"] for of_variant in frames.values()], axis=1)
        has_all = np.all([of_variant["has_text"] for of_variant in frames.values()], axis=0)
        frame = frame.assign(recall=mean.mean(axis=1, skipna=False), has_text=has_all, overlap=np.nan)
        frames[MEAN] = frame
    for name, frame in frames.items():
        yield _compared(name, frame)


def _answers(
    store: Store, run: RunInfo, task: Task, variant: Variant | None
) -> tuple[pd.Series[float], dict[str, tuple[int, ...]]]:
    """Recalls and picks of a run's retriever over a wording, by instance; undefined and none where it has never run."""
    known, run_id = RunStore(store), variant_run_id(store, run, variant)
    infos = {info.id: info for info in known.runs(run.dataset, variants=True)}
    if run_id not in infos:
        return pd.Series(np.nan, index=instance_frame(store, run.dataset)["instance"]), {}
    return recalls(store, infos[run_id], task), known.selections(infos[run_id], task)


def _compared(name: str, every: pd.DataFrame) -> tuple[dict[str, Any], pd.DataFrame]:
    is_answered = every["has_text"] & every[["original", "recall"]].notna().all(axis=1)
    frame = every[is_answered].reset_index()
    frame["difference"] = np.round(frame["recall"] - frame["original"], 12)
    pair = paired(frame["recall"], frame["original"], frame["paper"])
    estimate = interval(frame["recall"], frame["paper"])
    return {
        "wording": name,
        "n": pair.n,
        "n_left_out": int((~every["has_text"]).sum()),
        "n_missing": int((every["has_text"] & ~is_answered).sum()),
        "original": pair.mean_b,
        "recall": pair.mean_a,
        "recall_low": estimate.low,
        "recall_high": estimate.high,
        **{name: pair.as_dict()[name] for name in ("difference", "low", "high", "p")},
        "better": pair.wins,
        "same": pair.ties,
        "worse": pair.losses,
        "overlap": frame["overlap"].mean(),
    }, frame


def _asked(store: Store, run: RunInfo, task: Task) -> np.ndarray:
    """Which instances of the dataset, or of the run's sample of it, a task asks about."""
    asked: np.ndarray = aspects(store, run.dataset, task).n_asked > 0
    if run.sample:
        drawn = run.sample.ids(store, store.dataset(run.dataset))
        asked &= instance_frame(store, run.dataset)["instance"].isin(drawn).to_numpy()
    return asked


def unanswered(store: Store, run: RunInfo, task: Task, variants: Sequence[Variant]) -> int:
    """How many wordings of instances still have to be asked."""
    names = instance_frame(store, run.dataset).loc[_asked(store, run, task), "instance"]
    n_open = 0
    for variant in variants:
        _, selections = _answers(store, run, task, variant)
        n_open += sum(name in variant.hypotheses and name not in selections for name in names)
    return n_open
