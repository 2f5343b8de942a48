"""The runs on a dataset, best first, between the ceiling and chance."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.dots import interval_chart
from components.charts.palette import retriever_hue
from components.leaderboard.run_starter import resume_dialog
from components.leaderboard.run_work import start_run
from components.models.outcomes import draw_outcomes
from components.models.ranker.seen import seen_mark, tell_of_seen
from components.widgets.chart import draw_chart, is_dark
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, TableEvent, table
from evidencebench_core.data import DatasetInfo
from evidencebench_core.retrievers import retriever_entries
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Score, Task

__all__ = ["draw_run_table"]

_COLUMNS = (
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


def draw_run_table(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Table and chart; a click ticks a run, two ticked are compared."""
    scores = {run.id: resources.run_score(run, task.name) for run in runs if run.tasks.get(task.name)}
    if not scores:
        st.info(
            f"No run has answers for {literal(task.title)} on {literal(dataset.name)} yet. "
            "Start one above: bm25 takes seconds."
        )
        return
    whole = resources.bounds(dataset, task.name)
    ranked = sorted(
        (run for run in runs if run.id in scores), key=lambda run: -(scores[run.id].aspect_recall or 0)
    )
    names = {run.id: _name(run, scores[run.id]) for run in ranked}
    chosen = [run_id for run_id in state.many("compare") if run_id in scores]

    def heard(event: TableEvent) -> None:
        kept = [run_id for run_id in chosen if run_id != event.value]
        state.put(compare=kept if len(kept) < len(chosen) else [*chosen, event.value][-2:])

    tell_of_seen(dataset, ranked)
    st.caption("Click two runs to compare them below; a third takes the place of the first.")
    table(
        _COLUMNS,
        [
            _bound("Ceiling (optimal selection)", whole, whole.ceiling),
            *(_row(run, names[run.id], scores[run.id]) for run in ranked),
            _bound("Random expectation", whole, whole.random_expectation),
        ],
        key="runs",
        action="tick",
        chosen=chosen,
        on_event=heard,
        caption=f"Runs on {dataset.name}, {task.title}",
    )
    _resume(dataset, [run for run in ranked if scores[run.id].n_missing], task)
    draw_outcomes(task, ranked)
    _skipped_note(scores[ranked[0].id], task)
    _chart(ranked, names, scores, task)


def _bound(name: str, whole: Score, share: float | None) -> Row:
    mean = None if share is None else Interval(share)
    return Row(name, (name, mean, None, whole.n_scored, whole.n_skipped, None, None, None, None), muted=True)


def _resume(dataset: DatasetInfo, unfinished: Sequence[RunInfo], task: Task) -> None:
    """A button for every run that has not answered all, unless it is at work."""
    for run in unfinished:
        if st.button(f"Resume {literal(run.label)} on {task.title}", key=f"resume-{run.id}"):
            if run.retriever in retriever_entries() and retriever_entries()[run.retriever].asks_server:
                resume_dialog(dataset, task, run)  # it may cost
                continue
            start_run(dataset.name, run.retriever, run.settings, [task])
            st.rerun()


def _name(run: RunInfo, score: Score) -> str:
    total = score.n_scored + score.n_missing
    unfinished = f" (unfinished, {score.n_scored:,} of {total:,})" if score.n_missing else ""
    return f"{run.label}{unfinished}{seen_mark(run)}"


def _row(run: RunInfo, name: str, score: Score) -> Row:
    low, high = score.ci95 or (None, None)
    mean = None if score.aspect_recall is None else Interval(score.aspect_recall, low, high)
    se = None if score.standard_error is None else 100 * score.standard_error
    return Row(
        run.id,
        (
            name,
            mean,
            se,
            score.n_scored,
            score.n_skipped,
            score.n_missing,
            score.ceiling,
            score.random_expectation,
            run.id,
        ),
    )


def _skipped_note(score: Score, task: Task) -> None:
    if score.skipped:
        named = ", ".join(list(score.skipped)[:5]) + (" …" if len(score.skipped) > 5 else "")
        st.caption(
            f"Skipped on {literal(task.title)}: {literal(named)} ({literal(next(iter(score.skipped.values())))})."
        )


def _chart(runs: Sequence[RunInfo], names: dict[str, str], scores: dict[str, Score], task: Task) -> None:
    dark = is_dark()
    frame = pd.DataFrame(
        [
            {
                "name": names[run.id],
                "recall": scores[run.id].aspect_recall,
                "low": (scores[run.id].ci95 or (None, None))[0],
                "high": (scores[run.id].ci95 or (None, None))[1],
                "n": scores[run.id].n_scored,
                "colour": retriever_hue(run.retriever).on(dark),
            }
            for run in runs
        ]
    )
    first = scores[runs[0].id]
    draw_chart(
        interval_chart(frame, f"Aspect Recall on {task.title}, %", first.random_expectation, first.ceiling),
        key="leaderboard",
        alt="Mean Aspect Recall of each run: "
        + "; ".join(
            f"{row['name']} {100 * row['recall']:.1f}%" for _, row in frame.dropna(subset="recall").iterrows()
        ),
    )
