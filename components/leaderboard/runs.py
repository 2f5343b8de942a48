"""The runs on a dataset, best first, between the ceiling and chance, and the paper's own figures below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import pandas as pd
import streamlit as st
from components.leaderboard.start import resume_dialog, start_run

from components.app import live, resources
from components.app.state import PageState
from components.charts.dots import interval_chart
from components.models.ranker.seen import tell_of_seen
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import csv_button, frame_rows, frame_table, intervals
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, TableEvent, table
from evidencebench_core.data import DatasetInfo, published_results
from evidencebench_core.palette import retriever_hue
from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.retrievers.llm import outdated_prompts
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Score, Task, task_named

_COLUMNS: Final = (
    Column("run", "Run"),
    Column("recall", "Aspect Recall (95% interval)", "interval", "Mean over instances; percentile bootstrap"),
    Column(
        "se",
        "SE, points",
        "number",
        "Standard deviation over instances / square root of their number",
        digits=1,
    ),
    Column("scored", "Scored", "number", "Instances behind the mean"),
    Column("skipped", "Skipped", "number", "Without anything to cover on this task"),
    Column("missing", "Missing", "number", "Not answered, or failed; left out of the mean"),
    Column("ceiling", "Ceiling", "percent", "Best possible on the same instances"),
    Column("random", "Random", "percent", "Expected of as many sentences drawn at random, same instances"),
    Column("id", "Id", "id"),
)
OUTCOME_COLUMNS: Final[Mapping[str, tuple[str, str]]] = {  # by the keys of `OutcomeCounts.as_dict`
    "selection": ("Selection", "A list of sentences that were shown"),
    "empty": ("Empty", "The model said that it chooses nothing"),
    "unknown": ("Not shown", "It chose, but only indices that it was not shown"),
    "no_list": ("No list", "It did not say what it chooses"),
    "refusal": ("Refused", "It declined to answer"),
    "cut_off": ("Cut off", "Its tokens ran out before it chose"),
    "failed": ("Failed", "The call got no answer; a resumed run tries again"),
    "partly": (
        "Part lost",
        "Selections without one section of the paper, or one point searched for: the answer about it was "
        "refused, cut off or without a list",
    ),
    "over": ("Over K", "Selections of more than K: scored by expectation"),
    "unknown_indices": ("Some not shown", "Instances with at least one index that was not shown"),
    "regenerated": ("Asked again", "Told once that it had chosen too many"),
}
_FRAME: Final = (
    *("id", "run", "recall", "low", "high", "se"),
    *("scored", "skipped", "missing", "ceiling", "random", "colour"),
)
_PUBLISHED: Final = (
    Column("system", "System"),
    Column("aspect_recall", "Aspect Recall", "percent"),
    Column("points", "SE, points", "number", digits=1),
    Column("strategy", "Strategy"),
    Column("dataset", "Instances"),
    Column("source", "Source"),
)


def draw_run_table(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Table and chart; a click ticks a run, two ticked are compared."""
    scores = {run.id: resources.run_score(run, task.name) for run in runs if run.tasks.get(task.name)}
    others = [run for run in runs if any(run.tasks.values()) and run.id not in scores]
    if others:
        named = "; ".join(f"{run.label} (has {_titles(run)})" for run in others)
        st.caption(f"Without answers for {literal(task.title)}: {literal(named, 400)}.")
    if not scores:
        st.info(
            f"No run has answers for {literal(task.title)} on {literal(dataset.name)} yet. "
            "Start one above: bm25 takes seconds."
        )
        return
    bounds = resources.bounds(dataset, task.name)
    answered = [run for run in runs if run.id in scores]
    ranked = sorted(answered, key=lambda run: -(scores[run.id].aspect_recall or 0))
    frame = _frame(ranked, scores)
    chosen = [run_id for run_id in state.many("compare") if run_id in scores]

    def tick(event: TableEvent) -> None:
        others = [run_id for run_id in chosen if run_id != event.value]
        state.put(compare=others if len(others) < len(chosen) else [*chosen, event.value][-2:])

    tell_of_seen(ranked)
    st.caption(
        "Intervals here are over instances; those of Compare are over papers, which may hold several instances. "
        "Click two runs to compare them below; a third takes the place of the first."
    )
    table(
        _COLUMNS,
        [
            _bound("Ceiling (optimal selection)", bounds, _ceiling(bounds)),
            *frame_rows(_COLUMNS, frame.assign(recall=intervals(frame, "recall")), "id"),
            _bound("Random expectation", bounds, bounds.random_expectation),
        ],
        key="runs",
        action="tick",
        chosen=chosen,
        on_event=tick,
        caption=f"Runs on {dataset.name}, {task.title}",
    )
    csv_button("Export (CSV)", f"{dataset.name}-{task.name}", lambda: frame.drop(columns="colour"))
    _draw_resume(dataset, [run for run in ranked if scores[run.id].n_missing], task)
    _draw_outcomes(task, ranked)
    first = scores[ranked[0].id]
    if first.skipped:
        named = ", ".join(list(first.skipped)[:5]) + (" …" if len(first.skipped) > 5 else "")
        why = next(iter(first.skipped.values()))
        st.caption(f"Skipped on {literal(task.title)}: {literal(named)} ({literal(why)}).")
    title, scored = f"Aspect Recall on {task.title},\u00a0%", frame.dropna(subset="recall").to_dict("records")
    draw_chart(
        resources.figure(
            interval_chart,
            frame.rename(columns={"run": "name", "scored": "n"}),
            title,
            first.random_expectation,
            first.ceiling_range,
        ),
        key="leaderboard",
        alt="Mean Aspect Recall of each run: "
        + "; ".join(f"{row['run']} {100 * row['recall']:.1f}%" for row in scored),
    )


def _titles(run: RunInfo) -> str:
    return ", ".join(task_named(name).title for name, n in run.tasks.items() if n)


def draw_keeping(runs: Sequence[RunInfo]) -> None:
    """Rename or delete one of the runs on a dataset."""
    if not runs:
        return
    by_id = {run.id: run for run in runs}
    with st.popover("Rename or delete a run", key=f"keeping.{len(runs)}"):
        run = by_id[
            st.selectbox(
                "Run",
                list(by_id),
                format_func=lambda one: f"{by_id[one].label} ({one[:4]})",
                key="keeping.run",
            )
        ]
        store = RunStore(resources.store())
        note = "Without a name it is called after its retriever and settings."
        name = store.run(run.id).label  # without the warning of a trained one
        draw_rename(name, lambda new: store.rename(run, new), f"{run.id}.{name}", note)
        draw_delete(run.label, store.dependents(run), lambda: store.delete(run), run.id)


def _frame(runs: Sequence[RunInfo], scores: Mapping[str, Score]) -> pd.DataFrame:
    rows = []
    for run in runs:
        score = scores[run.id]
        total = score.n_scored + score.n_missing
        state = "answers for" if live.problem_of(run) else "unfinished,"  # where nobody can go on with it
        name = f"{run.label} ({state} {score.n_scored:,} of {total:,})" if score.n_missing else run.label
        recall = (score.aspect_recall, *(score.ci95 or (None, None)))
        se = None if score.standard_error is None else 100 * score.standard_error
        counts = (score.n_scored, score.n_skipped, score.n_missing)
        bounds = (_ceiling(score), score.random_expectation)
        rows.append((run.id, name, *recall, se, *counts, *bounds, retriever_hue(run.retriever).on(is_dark())))
    frame = pd.DataFrame(rows, columns=_FRAME)
    return frame.astype({"recall": float, "low": float, "high": float})


def _ceiling(score: Score) -> float | str:
    return score.ceiling_text if score.ceiling is None else score.ceiling


def _bound(name: str, score: Score, share: float | str | None) -> Row:
    mean = Interval(share) if isinstance(share, float) else share
    return Row(name, (name, mean, None, score.n_scored, score.n_skipped, None, None, None, None), muted=True)


def _draw_resume(dataset: DatasetInfo, unfinished: Sequence[RunInfo], task: Task) -> None:
    """A button for every run that has not answered all and can; one that asks a server is estimated first."""
    for run in (run for run in unfinished if not live.problem_of(run)):
        if st.button(f"Resume {literal(run.label)} on {task.title}", key=f"resume-{run.id}"):
            if run.retriever in RETRIEVERS and RETRIEVERS[run.retriever].asks_server:
                resume_dialog(dataset, task, run)
                continue
            start_run(dataset.name, run.retriever, run.settings, [task])
            st.rerun()


def _draw_outcomes(task: Task, runs: Sequence[RunInfo]) -> None:
    """Outcomes of asking models, one row a run that asked one."""
    store = RunStore(resources.store())
    outcomes = [(run, store.outcomes(run.id).get(task.name)) for run in runs]
    rows = [{"id": run.id, "run": run.label, **of.as_dict()} for run, of in outcomes if of is not None]
    if not rows:
        return
    st.markdown("## What came back from the models")
    kinds = (Column(kind, label, "number", text) for kind, (label, text) in OUTCOME_COLUMNS.items())
    frame_table(
        (Column("run", "Run"), *kinds),
        pd.DataFrame(rows),
        key="outcomes",
        ids="id",
        action="none",
        caption=f"What came back on {task.title}, in instances",
    )
    st.caption(
        "Numbers of instances. Without a selection an instance counts as answered with nothing, so it scores 0; "
        "failed calls are missing."
    )
    if old := [run.label for run, of in outcomes if of is not None and outdated_prompts(run.settings)]:
        st.caption(
            f"Asked with earlier versions of the prompts: {literal(', '.join(old))}. Started again they are other runs."
        )


def draw_published(task: Task) -> None:
    """The paper's figures for a task, best first, set apart: they were measured on other instances."""
    figures = pd.DataFrame([asdict(figure) for figure in published_results() if figure.task == task.name])
    if figures.empty:
        return
    label = "Published figures: other instances, the paper's test set"
    with st.expander(label, on_change="rerun") as fold:
        if not fold.open:
            return
        st.caption(
            "From the EvidenceBench paper. They stand on other instances than the runs above (the paper's test "
            "set of 293, 288 on the Result tasks, or a sample of EvidenceBench-100k), so they are never paired "
            "with them."
        )
        frame_table(
            _PUBLISHED,
            figures.assign(points=100 * figures["standard_error"].astype(float)).sort_values(
                "aspect_recall", ascending=False, kind="stable"
            ),
            key="published",
            muted=True,
            action="none",
            caption="Published figures",
            height=520,
        )
