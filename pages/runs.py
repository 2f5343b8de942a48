"""Runs: every run on a dataset in five tasks, two of them closely, and the ways to start, import and train."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from components import resources
from components.ask import ask_button
from components.caps import model_dialog
from components.frame_table import draw_downloads, frame_table
from components.guarded import guarded_part
from components.job_panel import job_panel
from components.markdown import literal
from components.page import Context, context_line, page, percent
from components.run_links import LARGE, part_text, parts_text, run_name, runs_with_answers
from components.runs.pair import draw_comparison
from components.runs.run_page import draw_run
from components.runs.start import import_dialog, keeping_dialog, resume_ask, start_ask, unfinished
from components.state import PageState
from components.table import Cell, Column, Interval, Row, TableEvent, table
from evidencebench_core.export.paper_table import scores_report
from evidencebench_core.metrics import MEASURES
from evidencebench_core.runs import RunInfo
from evidencebench_core.stats import FEW_PAPERS, interval_note
from evidencebench_core.tasks import TASKS, Score, Task, published_results

ABOUT: Final = (
    "Runs are systems with their settings over a dataset; here they are started, scored and compared."
)
REDRAWN: Final = 10.0  # seconds after which the table is drawn anew while runs are under way
PUBLISHED: Final = (
    Column("system", "System"),
    Column("aspect_recall", "Aspect Recall", "percent"),
    Column("strategy", "Strategy"),
    Column("dataset", "Instances"),
    Column("source", "Source"),
)


def draw(state: PageState) -> None:
    context = context_line(state, ABOUT, n_runs=10)
    dataset = context.dataset
    answered = [run for run in context.all_runs if run.n_answered]
    if state["run"]:
        named = [run for run in context.all_runs if run.id == state["run"]]
        if named:
            draw_run(state, context, named[0])
            return
        st.warning(f"There is no run {literal(state['run'], 40)} on this dataset (any more).")
        state.put(run=None)
    with st.container(horizontal=True):
        ask_button(start_ask(dataset, context.task), "Start a run", type="primary")
        if begun := unfinished(answered):
            ask_button(resume_ask(begun), "Resume a run")
        if st.button("Import a run"):
            import_dialog(dataset)
        dialogs: dict[str, Callable[[], None]] = {"Language model": model_dialog}
        if context.all_runs:
            dialogs["Rename or delete a run"] = partial(keeping_dialog, context.all_runs)
        if choice := st.menu_button("More", list(dialogs)):
            dialogs[choice]()
    job_panel("run")
    interval = REDRAWN if resources.jobs().under_way("run") else None
    st.fragment(_draw_table, run_every=interval)(state, context, state["runs"])
    _draw_published(context.task)
    if parts := parts_text(context.runs, context.task):
        st.info(f"Compared once complete: {literal(parts)}.")
    if answered:
        whole = replace(context, runs=tuple(run for run in context.runs if not part_text(run, context.task)))
        with st.container(horizontal=True, vertical_alignment="center"):
            if whole.runs:
                scores = partial(scores_report, resources.store(), whole.runs, [context.task])
                draw_downloads(f"Runs on {dataset.name}, {context.task.title}", scores, "Table for a paper")
            for run in context.runs:
                about = f"About {literal(run_name(run), 40)}"
                there = {"run": run.id}
                st.button(about, key=f"about-{run.id}", type="tertiary", on_click=state.put, kwargs=there)
        draw_comparison(state, whole)


@guarded_part()
def _draw_table(state: PageState, context: Context, drawn: str) -> None:
    """One row a run, one column a task, all measures of the chosen one; a click chooses a run, or lets go of it.

    Runs that lack answers stand below, with how far they are; no figure is computed of one that is under way. The page
    was ``drawn`` with runs chosen: with others it is drawn anew.
    """
    if state["runs"] != drawn:
        st.rerun()
    runs = runs_with_answers(context.dataset)
    if not runs:
        st.info(f"No run on {literal(context.dataset.name)} yet. bm25 takes seconds: start it above.")
        return
    tasks = _shown_tasks(context, runs)
    under_way = resources.jobs().under_way("run")

    def cell(run: RunInfo, task: Task) -> Cell:
        part = part_text(run, task)
        if not run.n_answers(task) or (part and run.id in under_way):
            return part if run.n_answers(task) else None
        score = resources.run_score(run, task.name)
        if score.aspect_recall is None:
            return None
        recall = Interval(score.aspect_recall, *(score.ci95 or (None, None)))
        return f"{percent(recall.value)} on {part}" if part else recall

    recalls = {run.id: cell(run, context.task) for run in runs}

    def rank(run: RunInfo) -> float:
        recall = recalls[run.id]
        return recall.value if isinstance(recall, Interval) else -1.0

    bounds = [resources.bounds(context.dataset, task.name) for task in tasks]
    chosen = [run.id for run in context.runs]

    def tick(event: TableEvent) -> None:
        others = [run_id for run_id in chosen if run_id != event.value]
        state.put(runs=others if len(others) < len(chosen) else [*chosen, event.value])

    def row(run: RunInfo) -> Row:
        cells = [cell(run, task) for task in tasks]
        is_whole = isinstance(recalls[run.id], Interval)
        beside = _further(resources.run_score(run, context.task.name) if is_whole else None)
        return Row(run.id, (run.label, *cells, *beside, run.id[:4]))

    def bound(name: str, shares: Sequence[float | str | None]) -> Row:
        cells: list[Cell] = [Interval(share) if isinstance(share, float) else share for share in shares]
        return Row(name, (name, *cells, *_further(None), None), muted=True)

    on = f"On {context.task.title}"
    table(
        (
            Column("run", "Run"),
            *(Column(task.name, task.title, "interval") for task in tasks),
            *(
                Column(of.name, of.title, "percent" if of.is_share else "number", on, digits=1)
                for of in MEASURES[1:]
            ),
            Column("id", "Id", "id"),
        ),
        [
            # In words where a hard instance leaves a range.
            bound("Ceiling", [of.ceiling_text if of.ceiling is None else of.ceiling for of in bounds]),
            *map(row, sorted(runs, key=rank, reverse=True)),
            bound("Random expectation", [of.random_expectation for of in bounds]),
        ],
        key="runs",
        action="tick",
        chosen=chosen,
        on_event=tick,
        caption=f"Runs on {context.dataset.name}: Aspect Recall with 95% interval, by task",
    )
    n = ", ".join(f"{task.title} {of.n_scored:,}" for task, of in zip(tasks, bounds, strict=True))
    st.caption(
        f"Aspect Recall in percent with 95% interval, and what was picked on {literal(context.task.title)}; "
        f"instances: {literal(n)}. Click runs to compare them."
    )
    n_papers = min((of.n_papers for of in bounds if of.n_papers), default=FEW_PAPERS)
    if n_papers < FEW_PAPERS:
        st.markdown(f":material/warning: {literal(interval_note(n_papers))}.")


def _shown_tasks(context: Context, runs: Sequence[RunInfo]) -> list[Task]:
    """The chosen task, and those of the five that any run has answered; of a large dataset the chosen one alone."""
    if context.dataset.n_instances > LARGE:
        return [context.task]
    tasks = {**TASKS, context.task.name: context.task}.values()
    return [task for task in tasks if task == context.task or any(task.name in run.tasks for run in runs)]


def _further(score: Score | None) -> list[Cell]:
    return [None if score is None else score.measures[measure.name].value for measure in MEASURES[1:]]


def _draw_published(task: Task) -> None:
    """The paper's figures for the task, set apart: they were measured on other instances."""
    figures = published_results().query("task == @task.name")
    if figures.empty:
        return
    with st.expander(f"The paper's figures on {task.title}: test set", on_change="rerun") as fold:
        if fold.open:
            frame_table(
                PUBLISHED,
                figures.sort_values("aspect_recall", ascending=False, kind="stable"),
                key="published",
                caption="Figures of the EvidenceBench paper",
                height=420,
            )
            st.caption(
                "From the EvidenceBench paper, on its test set or a sample of EvidenceBench-100k: not on the instances "
                "above, so the two cannot be compared instance by instance."
            )


with page("runs", "Runs", run="", a="", b="", part="slices", family="", slice="", outcome="only A") as state:
    draw(state)
