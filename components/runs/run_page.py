"""The page of a run: what it is, how long it took, what failed, and its score instance by instance."""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.frame_table import draw_downloads, instance_table
from components.markdown import literal
from components.page import Context, percent
from components.retrievers import setting_text
from components.run_links import part_text
from components.state import PageState
from components.table import Column
from evidencebench_core.export.tables import RunFormat, write_run_file
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.runs.outcomes import counts_text
from evidencebench_core.tasks import Task
from evidencebench_core.words import file_stem, quantity

_SCORES: Final = (
    Column("recall", "Aspect Recall", "percent"),
    Column("n_picks", "Picks", "number"),
    Column("seconds", "Seconds", "number", digits=1),
)
_FORMATS: Final[dict[RunFormat, tuple[str, str]]] = {
    "json": ("JSON, all that is known", "json"),
    "csv": ("CSV, every pick with its text", "csv"),
    "predictions": ("Predictions", "predictions.json"),
    "trec": ("TREC run", "run"),
    "qrels": ("TREC qrels, the gold", "qrels"),
}


def draw_run(state: PageState, context: Context, run: RunInfo) -> None:
    st.button("All runs", on_click=state.put, kwargs={"run": None})
    st.markdown(f"## {literal(run.label)}")
    frame = _scores(run, context.task)
    score = resources.run_score(run, context.task.name)
    part = part_text(run, context.task)
    recall = f"**{percent(score.aspect_recall)}**" if score.aspect_recall is not None else "nothing yet"
    of = f"on {part}" if part else f"over {quantity(score.n_scored, 'instance')}"
    st.markdown(f"Aspect Recall on {literal(context.task.title)}: {recall} {literal(of)}.")
    facts = _facts(run, frame)
    if counts := RunStore(resources.store()).outcomes(run.id).get(context.task.name):
        facts["What the model answered"] = counts_text(counts)
    st.markdown("\n".join(f"- {literal(kind)}: {literal(text)}" for kind, text in facts.items() if text))
    failures = RunStore(resources.store()).failures(run.id, run.question(context.task) or "")
    if failures:
        with st.expander(f"{quantity(len(failures), 'failure')} on this task"):
            st.dataframe(pd.Series(failures, name="Why").rename_axis("Instance"), key="failures")
    title = f"{run.label} {run.id} on {context.task.title}, instance by instance"
    with st.container(horizontal=True):
        draw_downloads(title, lambda: frame)
        _draw_files(run, context)
    instance_table(_SCORES, frame, context, (run,), key="run-instances", title="Lowest recall first")


def _draw_files(run: RunInfo, context: Context) -> None:
    """The run in the formats of the verb `export`."""

    def text(form: RunFormat) -> str:
        stream = StringIO()
        names = None if form in ("csv", "json") else [context.task.name]
        write_run_file(resources.store(), run, form, names, stream)
        return stream.getvalue()

    with st.popover("Export the run"):
        for form, (label, ending) in _FORMATS.items():
            file = f"{file_stem(run.label)}-{run.id}.{ending}"
            st.download_button(label, partial(text, form), file, on_click="ignore", width="stretch")


@resources.cached()
def _scores(run: RunInfo, task: Task) -> pd.DataFrame:
    """A row an instance that has an answer and is scored: ``instance``, ``recall``, ``n_picks``, ``seconds``."""
    recalls = resources.run_score(run, task.name).per_instance
    answers = RunStore(resources.store()).retrievals(run, task)
    rows = [
        (name, recalls[name], len(answer.selection), answer.seconds)
        for name, answer in answers.items()
        if name in recalls
    ]
    frame = pd.DataFrame(rows, columns=["instance", "recall", "n_picks", "seconds"])
    return frame.sort_values("recall", kind="stable")


def _facts(run: RunInfo, frame: pd.DataFrame) -> dict[str, str]:
    settings = {name: setting_text(value) for name, value in run.settings.items() if value not in (None, "")}
    return {
        "Run": f"{run.id}, over {run.dataset}{f', {run.variant}' if run.variant else ''}",
        "Retriever": run.retriever,
        "Settings": "; ".join(f"{name} = {text}" for name, text in settings.items()),
        "Answers": ", ".join(f"{n:,} for {task}" for task, n in run.tasks.items()),
        "Begun": run.created_at[:19].replace("T", " ") + " UTC",
        "Time of these answers": f"{frame['seconds'].sum():,.1f} s" if len(frame) else "",
        "Trained on": f"{run.n_trained_on:,} of these instances" if run.n_trained_on else "",
        "Versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
    }
