"""Up to four runs side by side: choosing them, their colours, and a link to the reader with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.app.state import PageState
from components.charts.palette import ASPECTS, retriever_hue
from components.widgets.chart import is_dark
from components.widgets.markdown import literal
from components.widgets.retriever_picker import Choice, changed_settings, choices_text
from components.widgets.run_choice import answered_runs, chosen_of, run_multiselect
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

__all__ = ["MOST", "reader_link", "run_colours", "run_picker"]

MOST = 4
_READER = 3  # systems that the reader tells apart


def run_picker(state: PageState, dataset: DatasetInfo, task: Task) -> tuple[RunInfo, ...]:
    """The runs that the address names, with a picker; the first three where it names none."""
    there = answered_runs(dataset, task)
    if not there:
        st.info(
            f"No run has answers for {literal(task.title)} on {literal(dataset.name)} yet. Below is what the gold "
            "alone says; the Leaderboard starts runs."
        )
        return ()
    chosen = chosen_of(state, "runs", there, task, most=MOST, at_first=3)
    return run_multiselect(state, dataset, there, chosen, MOST, ("mark",))


def run_colours(runs: Sequence[RunInfo]) -> Mapping[str, str]:
    """By run id the retriever's colour; a second run of a retriever gets a colour that is still free."""
    taken: list[str] = []
    for run in runs:
        free = [hue.on(is_dark()) for hue in (retriever_hue(run.retriever), *ASPECTS)]
        taken.append(next((colour for colour in free if colour not in taken), free[0]))
    return dict(zip([run.id for run in runs], taken, strict=True))


def reader_link(
    dataset: DatasetInfo, task: Task, instance_id: str, runs: Sequence[RunInfo]
) -> dict[str, str]:
    """Query parameters of the reader: the instance with as many of the runs' retrievers as it can show."""
    choices = [Choice(run.retriever, changed_settings(run.retriever, run.settings)) for run in runs]
    values = {"dataset": dataset.name, "instance": instance_id, "task": task.name}
    return values | ({"r": choices_text(choices[:_READER])} if choices else {})
