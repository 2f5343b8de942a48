"""The needle test: recall against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import pandas as pd
import streamlit as st

from components.app import live, resources
from components.app.jobs import Job
from components.app.state import PageState
from components.charts.positions import needle_chart
from components.middle import cached
from components.middle.view import Mark, View
from components.models.server import draw_agreement
from components.widgets.frame_table import draw_notes, in_words
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import resamples, run_colours
from components.widgets.switches import option_switch
from components.widgets.table import Column
from evidencebench_core.analyses.conclusions import needle_conclusion
from evidencebench_core.analyses.needle import (
    PARTS,
    PLACES,
    SCOPES,
    Part,
    Place,
    arrangement_run,
    behind_place,
    needle,
    needle_variant,
)
from evidencebench_core.analyses.variant_runs import n_unanswered, run_variants, setups_of
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.runs import RunInfo, RunStore

MOVED_DEFAULTS: Final = {"part": "abstract", "scope": "part"}
_SCOPE_WORDS: Final = {"part": "of the moved part", "rest": "of the rest", "all": "all"}

Moved = Mapping[tuple[str, Place], RunInfo]


def draw_moved(view: View) -> None:
    """Controls, what is still to be run, the chart, the instances behind a mark, the numbers."""
    st.markdown(
        "The same papers with one part moved: to the start, the middle, the end, or removed; the gold moves along. "
        "Opportunity is the same wherever the part stands, so what changes is the retriever's doing."
    )
    part, scope = _controls(view.state)
    if not view.runs:
        return
    moved = _moved_runs(view, part)
    _draw_start(view, part, moved)
    answered = tuple(sorted((key, run.tasks.get(view.task.name, 0)) for key, run in moved.items()))
    if not any(n for _, n in answered):
        st.info("No arrangement of the chosen part has been run yet.")
        return
    dataset, ids = view.dataset, [run.id for run in view.runs]
    report = view.report(
        "needle",
        (part, answered),
        lambda: needle(
            resources.store(), dataset.name, ids, view.task, (part,), n_resamples=resamples(dataset)
        ),
    )
    rows = report.tables["needle"]
    rows = rows[rows["scope"] == scope]
    rows = rows.assign(label=rows["run"].map({run.id: run.label for run in view.runs}))
    view.draw_conclusion(needle_conclusion(rows))
    figure = needle_chart(_with_original(rows), run_colours(view.runs))
    alt = "; ".join(
        f"{row['label']} {row['place']}: {100 * row['recall']:.1f}%, {100 * row['difference']:+.1f} points"
        for row in rows.to_dict("records")
    )
    event = view.draw_chart("moved", (part, scope), figure, f"Recall by the place of the {part}. {alt}")
    st.caption(
        f"Recall of {SCOPES[scope]}, mean over instances, with 95% intervals over papers (n = "
        f"{rows['n_aspects'].max():,} aspects in {rows['n_instances'].max():,} instances). At removed, "
        f"{int(rows['n_left_out'].max()):,} aspects that only removed sentences cover are in no denominator, and the "
        "hollow mark is the recall of the same aspects with the paper as it stands. Click a mark to see its instances."
    )
    if mark := view.clicked_mark(event):
        _draw_behind(view, part, scope, moved, mark)
    with st.expander("What this stands on, and the numbers", expanded=True):
        draw_notes(report.notes)
        st.dataframe(in_words(rows), hide_index=True, key="numbers-needle")


def _controls(state: PageState) -> tuple[Part, str]:
    part: Part = next((known for known in PARTS if known == state["part"]), "abstract")
    reset = ("mark",)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Part that is moved", list(PARTS), width=220, **state.widget("part", part, reset=reset))
        scope = option_switch(
            state,
            "scope",
            "Aspects",
            _SCOPE_WORDS,
            reset=reset,
            help="of the moved part: those that a sentence of it covers; of the rest: the others.",
        )
    return part, scope


def _moved_runs(view: View, part: Part) -> Moved:
    """The runs over arranged papers that the store has, by original run and place."""
    runs = RunStore(resources.store()).runs(view.dataset.name, variants=True)
    there = {run.id: run for run in runs}
    keys = [(run, place) for run in view.runs for place in PLACES]
    ids = {(run.id, place): arrangement_run(run, view.dataset.sha256, part, place) for run, place in keys}
    return {key: there[run_id] for key, run_id in ids.items() if run_id in there}


def _draw_start(view: View, part: Part, moved: Moved) -> None:
    """The button that runs what has not been run, and the jobs."""
    waiting = [
        run
        for run in view.runs
        if any((run.id, p) not in moved or not moved[run.id, p].tasks.get(view.task.name) for p in PLACES)
    ]
    problems = {run.id: live.problem_of(run) for run in waiting}
    for run in waiting:
        if problems[run.id]:
            st.caption(f"{literal(run.label)} is left out: {literal(problems[run.id])}")
    waiting = [run for run in waiting if not problems[run.id]]
    served = {run.id for run in waiting if retriever_entry(run.retriever).asks_server}
    if served and not draw_agreement("moved"):
        waiting = [run for run in waiting if run.id not in served]
    names = ", ".join(literal(run.label) for run in waiting)
    if waiting and st.button(f"Run the {part} at its four places: {names}", type="primary"):
        for run in waiting:
            _start(view, run, part)
        st.rerun()
    job_panel("needle")


def _start(view: View, run: RunInfo, part: Part) -> None:
    store, dataset, task = resources.store(), view.dataset.name, view.task

    def work(job: Job) -> str:
        (setup,) = setups_of(store, [run.id], task)
        variants = [None, *(needle_variant(part, place) for place in PLACES)]
        before = n_unanswered(store, setup, variants)
        for step in run_variants(store, setup, variants, job.cancelled):
            job.report(step.done, step.total, step.text)
        return f"{before - n_unanswered(store, setup, variants):,} answers."

    title = f"{run.label} on {dataset}, {task.title}: {part} moved"
    resources.jobs().start("needle", f"{run.id}/{task.name}/{part}", title, work)


def _with_original(rows: pd.DataFrame) -> pd.DataFrame:
    """A row of the paper as it stands before the others of each run."""
    first = rows[rows["place"] != "removed"].drop_duplicates("run")
    original = first.assign(
        place="original", recall=first["original"], low=first["original_low"], high=first["original_high"]
    )
    return pd.concat([original, rows], ignore_index=True)


def _draw_behind(view: View, part: Part, scope: str, moved: Moved, mark: Mark) -> None:
    panel, run_id, named = mark
    run = view.run(run_id)
    place = cast("Place", "start" if named == "original" else named)
    if panel != "needle" or run is None or (run_id, place) not in moved:
        return
    in_part = cached.in_part(view.dataset, view.task.name, part)
    there = view.picks(moved[run.id, place])
    frame = behind_place(view.aspects, in_part, view.picks(run), there, place, scope)
    where = "removed" if place == "removed" else f"at the {place}"
    columns = (
        Column("n_aspects", "Aspects", "number"),
        Column("original", "As it stands", "percent"),
        Column("recall", f"{part.capitalize()} {where}", "percent"),
        Column("difference", "Difference, points", "number", digits=1),
    )
    title = f"{literal(run.label)}, {part} {where}: largest differences first"
    frame = frame.assign(difference=100 * frame["difference"])
    view.draw_instances(f"{part}-{scope}-{','.join(mark)}", title, columns, frame, run)
