"""Runs: every run on a dataset in five tasks, two of them closely, and the ways to start, import and train."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.frame.page import Context, context_line, page, runs_with_answers
from components.models.ranker import TRAIN
from components.models.server import server_dialog
from components.runs.pair import draw_comparison
from components.runs.start import (
    import_dialog,
    keeping_dialog,
    resume_dialog,
    start_dialog,
    train_dialog,
    unfinished_tasks,
)
from components.widgets.frame_table import frame_table
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.table import Cell, Column, Interval, Row, TableEvent, table
from evidencebench_core.llm.parse import OUTCOME_FLAGS, OUTCOME_KINDS, unread_share
from evidencebench_core.metrics import MEASURES
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.stats import FEW_PAPERS, interval_note
from evidencebench_core.tasks import TASKS, Score, Task, published_results

ABOUT: Final = (
    "Runs are systems with their settings over a dataset; here they are started, scored and compared."
)
LARGE: Final = 5_000  # instances, from which on only the chosen task is scored
PUBLISHED: Final = (
    Column("system", "System"),
    Column("aspect_recall", "Aspect Recall", "percent"),
    Column("strategy", "Strategy"),
    Column("dataset", "Instances"),
    Column("source", "Source"),
)


def draw(state: PageState) -> None:
    context = context_line(state, ABOUT, n_runs=10)
    dataset, every = context.dataset, resources.runs(context.dataset)
    with st.container(horizontal=True):
        if st.button("Start a run", type="primary"):
            start_dialog(dataset, context.task)
        if st.button("Import a run"):
            import_dialog(dataset)
        dialogs: dict[str, Callable[[], None]] = {
            "Train the ranker": train_dialog,
            "Model server": server_dialog,
        }
        if every:
            dialogs["Rename or delete a run"] = partial(keeping_dialog, every)
        if choice := st.menu_button("More", list(dialogs)):
            dialogs[choice]()
    job_panel("run", TRAIN)
    answered = runs_with_answers(dataset)
    if not answered:
        st.info(f"No run on {literal(dataset.name)} yet. bm25 takes seconds: start it above.")
    else:
        _draw_table(state, context, answered)
        _draw_unfinished(context, answered)
    _draw_published(context.task)
    if answered:
        draw_comparison(state, context)


def _draw_table(state: PageState, context: Context, runs: Sequence[RunInfo]) -> None:
    """One row a run, one column a task, all measures of the chosen one; a click chooses a run, or lets go of it."""
    tasks = _shown_tasks(context, runs)
    place = tasks.index(context.task) + 1
    scores = {
        (run.id, task.name): resources.run_score(run, task.name)
        for run in runs
        for task in tasks
        if run.n_answers(task)
    }

    def recall(run: RunInfo) -> float:
        score = scores.get((run.id, context.task.name))
        return -1.0 if score is None or score.aspect_recall is None else score.aspect_recall

    ranked = sorted(runs, key=recall, reverse=True)
    bounds = [resources.bounds(context.dataset, task.name) for task in tasks]
    chosen = [run.id for run in context.runs]
    lacks = {run.id: note for run in ranked if (note := _missing(run, tasks, scores))}

    def tick(event: TableEvent) -> None:
        others = [run_id for run_id in chosen if run_id != event.value]
        state.put(runs=others if len(others) < len(chosen) else [*chosen, event.value])

    def row(run: RunInfo) -> Row:
        cells: list[Cell] = [_interval(scores.get((run.id, task.name))) for task in tasks]
        cells[place:place] = _further(scores.get((run.id, context.task.name)))
        return Row(run.id, (run.label, *cells, *([lacks.get(run.id)] if lacks else []), run.id[:4]))

    def bound(name: str, shares: Sequence[float | str | None]) -> Row:
        cells: list[Cell] = [Interval(share) if isinstance(share, float) else share for share in shares]
        cells[place:place] = _further(None)
        return Row(name, (name, *cells, *([None] if lacks else []), None), muted=True)

    columns = [Column(task.name, task.title, "interval") for task in tasks]
    columns[place:place] = [
        Column(of.name, of.title, "percent" if of.is_share else "number", digits=1) for of in MEASURES[1:]
    ]
    table(
        (
            Column("run", "Run"),
            *columns,
            *([Column("note", "Answers")] if lacks else []),
            Column("id", "Id", "id"),
        ),
        [
            # In words where a hard instance leaves a range.
            bound("Ceiling", [of.ceiling_text if of.ceiling is None else of.ceiling for of in bounds]),
            *map(row, ranked),
            bound("Random expectation", [of.random_expectation for of in bounds]),
        ],
        key="runs",
        action="tick",
        chosen=chosen,
        on_event=tick,
        caption=f"Runs on {context.dataset.name}: Aspect Recall with 95% interval, by task",
    )
    n = ", ".join(f"{task.title} {of.n_scored:,}" for task, of in zip(tasks, bounds, strict=True))
    n_papers = min((of.n_papers for of in bounds if of.n_papers), default=FEW_PAPERS)
    few = f" {literal(interval_note(n_papers))}." if n_papers < FEW_PAPERS else ""
    st.caption(
        f"Aspect Recall in percent with 95% interval, and beside {literal(context.task.title)} what was picked; "
        f"instances: {literal(n)}. Click runs to compare them.{few}"
    )


def _shown_tasks(context: Context, runs: Sequence[RunInfo]) -> list[Task]:
    """The chosen task, and those of the five that any run has answered; of a large dataset the chosen one alone."""
    if context.dataset.n_instances > LARGE:
        return [context.task]
    tasks = {**TASKS, context.task.name: context.task}.values()
    return [task for task in tasks if task == context.task or any(task.name in run.tasks for run in runs)]


def _interval(score: Score | None) -> Interval | None:
    if score is None or score.aspect_recall is None:
        return None
    return Interval(score.aspect_recall, *(score.ci95 or (None, None)))


def _further(score: Score | None) -> list[Cell]:
    """The measures beside Aspect Recall."""
    return [None if score is None else score.measures[measure.name].value for measure in MEASURES[1:]]


def _missing(run: RunInfo, tasks: Sequence[Task], scores: dict[tuple[str, str], Score]) -> str | None:
    """How many answers a run lacks, in the task that lacks most; nothing where it has them all."""
    missing = [(scores[run.id, task.name].n_missing, task) for task in tasks if (run.id, task.name) in scores]
    n, task = max(missing, key=lambda pair: pair[0], default=(0, tasks[0]))
    return f"{n:,} missing on {task.title}" if n else None


def _draw_unfinished(context: Context, runs: Sequence[RunInfo]) -> None:
    """A button for every run that can go on, and what models answered."""
    for run in runs:
        tasks = unfinished_tasks(run, context.dataset)
        if tasks and st.button(f"Resume {literal(run.label)}", key=f"resume-{run.id}"):
            resume_dialog(context.dataset, run, tasks)
    store = RunStore(resources.store())
    outcomes = [(run, store.outcomes(run.id).get(context.task.name)) for run in runs]
    rows = [
        {"run": run.label, "unread": f"{unread_share(counts):.1%}", **counts}
        for run, counts in outcomes
        if counts is not None
    ]
    if rows:
        with st.expander("Response outcomes"):
            frame = pd.DataFrame(rows).rename(columns={**OUTCOME_KINDS, **OUTCOME_FLAGS})
            st.dataframe(frame, hide_index=True, key="outcomes")
            st.caption(
                "In instances. Without a selection one counts as answered with nothing and scores 0; failed calls are "
                "missing."
            )


def _draw_published(task: Task) -> None:
    """The paper's figures for the task, set apart: they were measured on other instances."""
    figures = published_results().query("task == @task.name")
    if figures.empty:
        return
    with st.expander(f"Official figures on {task.title}: other instances", on_change="rerun") as fold:
        if fold.open:
            frame_table(
                PUBLISHED,
                figures.sort_values("aspect_recall", ascending=False, kind="stable"),
                key="published",
                muted=True,
                action="none",
                caption="Figures of the EvidenceBench paper",
                height=420,
            )
            st.caption(
                "From the EvidenceBench paper, on its test set or a sample of EvidenceBench-100k: not on the instances "
                "above, so never paired with them."
            )


with page("runs", "Runs", a="", b="", part="slices", family="", slice="", outcome="only A") as state:
    draw(state)
