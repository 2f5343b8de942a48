"""The needle test: recall against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.state import PageState
from components.charts.positions import needle_chart
from components.middle.instances import Mark, clicked_mark, draw_instances
from components.widgets.chart import draw_chart
from components.widgets.frame_table import draw_notes
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, resamples, run_colours
from components.widgets.switches import option_switch
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.arrangements import (
    PARTS,
    PLACES,
    Part,
    Place,
    arrangement_run,
    run_arrangements,
)
from evidencebench_core.analyses.needle import SCOPES, behind_place, needle
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

MOVED_DEFAULTS: Final = {"part": "abstract", "scope": "part"}
_SCOPE_WORDS: Final = {"part": "of the moved part", "rest": "of the rest", "all": "all"}

Moved = Mapping[tuple[str, Place], RunInfo]


def draw_moved(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Controls, what is still to be run, the chart, the instances behind a mark, the numbers."""
    st.markdown(
        "The same papers with one part moved: to the start, the middle, the end, or removed; the gold moves along. "
        "Opportunity is the same wherever the part stands, so what changes is the retriever's doing."
    )
    part, scope = _controls(state)
    if not runs:
        return
    moved = _moved_runs(dataset, runs, part)
    _starter(dataset, task, runs, part, moved)
    answered = {place: run.tasks.get(task.name, 0) for place, run in moved.items()}
    if not any(answered.values()):
        st.info("No arrangement of the chosen part has been run yet: the button above does it.")
        return
    report = _report(dataset, task, runs, part, answered)
    rows = report.tables["needle"]
    rows = rows[rows["scope"] == scope]
    figure = needle_chart(_with_original(rows), run_colours(runs))
    shown = f"{dataset.id}-{task.name}-{part}-{scope}-{'-'.join(run.id for run in runs)}"
    event = draw_chart(figure, key=f"moved-{shown}", alt=_alt(rows, part), clickable=True)
    left_out = int(rows["n_left_out"].max())
    st.caption(
        f"Recall of {SCOPES[scope]}, mean over instances, with 95% intervals over papers (n = "
        f"{rows['n_aspects'].max():,} aspects in {rows['n_instances'].max():,} instances). At removed, "
        f"{left_out:,} aspects that only removed sentences cover are in no denominator, and the hollow mark is "
        "the recall of the same aspects with the paper as it stands. Click a mark to see its instances."
    )
    mark = clicked_mark(state, event)
    if mark is not None:
        _draw_behind((dataset, task), runs, (part, scope), moved, mark)
    with st.expander("What this stands on, and the numbers", expanded=True):
        draw_notes(report.notes)
        st.dataframe(rows, hide_index=True, key="numbers-needle")


def _controls(state: PageState) -> tuple[Part, str]:
    part: Part = next((known for known in PARTS if known == state["part"]), "abstract")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Part that is moved", list(PARTS), width=220, **state.widget("part", part, reset=("mark",))
        )
        scope = option_switch(
            state,
            "scope",
            "Aspects",
            _SCOPE_WORDS,
            reset=("mark",),
            help="of the moved part: those that a sentence of it covers; of the rest: the others.",
        )
    return part, scope


def _moved_runs(dataset: DatasetInfo, runs: Sequence[RunInfo], part: Part) -> Moved:
    """The runs over arranged papers that the store has, by original run and place."""
    there = {run.id: run for run in RunStore(resources.store()).runs(dataset.name, variants=True)}
    ids = {
        (run.id, place): arrangement_run(run, dataset.sha256, part, place) for run in runs for place in PLACES
    }
    return {key: there[run_id] for key, run_id in ids.items() if run_id in there}


def _starter(dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo], part: Part, moved: Moved) -> None:
    """The button that runs what has not been run, and the jobs."""
    waiting = [
        run
        for run in runs
        if any((run.id, p) not in moved or not moved[run.id, p].tasks.get(task.name) for p in PLACES)
    ]
    if waiting:
        names = ", ".join(run.label for run in waiting)
        if st.button(f"Run the {part} at its four places: {literal(names)}", type="primary"):
            for run in waiting:
                _start(dataset, task, run, part)
            st.rerun()
    job_panel("needle")


def _start(dataset: DatasetInfo, task: Task, run: RunInfo, part: Part) -> None:
    store = resources.store()

    def work(job: Job) -> str:
        answered = 0
        for step in run_arrangements(
            store, dataset.name, run.retriever, run.settings, [task], (part,), cancelled=job.cancelled
        ):
            progress = step.progress
            share = (step.number - 1 + progress.done / max(progress.total, 1)) / step.of
            job.report(
                round(1000 * share), 1000, f"{step.number} of {step.of}: {step.variant or 'as it stands'}"
            )
            answered += progress.instance_id is not None
        return f"{answered:,} answers."

    title = f"{run.label} on {dataset.name}, {task.title}: {part} moved"
    resources.jobs().start("needle", f"{run.id}/{task.name}/{part}", title, work)


def _report(
    dataset: DatasetInfo,
    task: Task,
    runs: Sequence[RunInfo],
    part: Part,
    answered: Mapping[tuple[str, Place], int],
) -> Report:
    counts = tuple(sorted(answered.items()))
    return resources.report(
        "needle",
        (dataset.sha256, dataset.name, task.name, part, answer_key(runs, task), counts),
        lambda: needle(
            resources.store(),
            dataset.name,
            [run.id for run in runs],
            task,
            (part,),
            n_resamples=resamples(dataset),
        ),
    )


def _with_original(rows: pd.DataFrame) -> pd.DataFrame:
    """A row of the paper as it stands before the others of each run."""
    first = rows[rows["place"] != "removed"].drop_duplicates("run")
    original = first.assign(
        place="original", recall=first["original"], low=first["original_low"], high=first["original_high"]
    )
    return pd.concat([original, rows], ignore_index=True)


def _draw_behind(
    place_of: tuple[DatasetInfo, Task],
    runs: Sequence[RunInfo],
    view: tuple[Part, str],
    moved: Moved,
    mark: Mark,
) -> None:
    dataset, task = place_of
    part, scope = view
    panel, run_id, named = mark
    run = next((run for run in runs if run.id == run_id), None)
    place = cast("Place", "start" if named == "original" else named)
    if panel != "needle" or run is None or (run_id, place) not in moved:
        return
    frame = behind_place(
        resources.aspects(dataset, task.name),
        resources.in_part(dataset, task.name, part),
        resources.picks(dataset, run, task.name),
        resources.picks(dataset, moved[run.id, place], task.name),
        place,
        scope,
    )
    where = "removed" if place == "removed" else f"at the {place}"
    columns = (
        Column("id", "Instance", "id"),
        Column("n_aspects", "Aspects", "number"),
        Column("original", "As it stands", "percent"),
        Column("recall", f"{part.capitalize()} {where}", "percent"),
        Column("difference", "Difference, points", "number", digits=1),
    )
    title = f"{literal(run.label)}, {part} {where}: largest differences first"
    frame = frame.assign(difference=100 * frame["difference"])
    draw_instances(f"{part}-{scope}-{','.join(mark)}", place_of, [run], title, columns, frame)


def _alt(rows: pd.DataFrame, part: str) -> str:
    parts = [
        f"{row['label']} {row['place']}: {100 * row['recall']:.1f}%, {100 * row['difference']:+.1f} points"
        for row in rows.to_dict("records")
    ]
    return f"Recall by the place of the {part}. " + "; ".join(parts)
