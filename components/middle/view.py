"""The frame of the page's three questions: the runs they are asked of, charts, and what stands behind a mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.middle import cached
from components.widgets.chart import draw_chart, picked_point
from components.widgets.frame_table import first_shown, instance_table
from components.widgets.markdown import literal
from components.widgets.runs import answer_key
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

Mark = tuple[str, str, str]  # panel, run id, place


@dataclass(frozen=True, slots=True)
class View:
    """A dataset, a task and the runs that were chosen."""

    state: PageState
    dataset: DatasetInfo
    task: Task
    runs: tuple[RunInfo, ...]

    @property
    def aspects(self) -> AspectTable:
        return cached.aspects(self.dataset, self.task.name)

    def picks(self, run: RunInfo) -> RunPicks:
        return cached.picks(self.dataset, run, self.task.name)

    def run(self, run_id: str) -> RunInfo | None:
        return next((run for run in self.runs if run.id == run_id), None)

    def report(self, name: str, settings: object, make: Callable[[], Report]) -> Report:
        """The report that ``make`` computes of the answers there are."""
        answers = answer_key(self.runs, self.task)
        key = (self.dataset.version, self.dataset.name, self.task.name, answers, settings)
        return resources.report(name, key, make)

    def draw_conclusion(self, sentence: str) -> None:
        """The conclusion of a chart, above it."""
        if sentence:
            st.markdown(f"**In words.** {literal(sentence)}")

    def draw_chart(self, name: str, settings: object, figure: go.Figure, alt: str) -> Any:
        """A chart whose marks can be clicked; its event, for `clicked_mark`."""
        shown = [self.dataset.id, self.task.name, settings, *(run.id for run in self.runs)]
        return draw_chart(figure, key="-".join(map(str, (name, *shown))), alt=alt, clickable=True)

    def clicked_mark(self, event: Any, param: str = "mark") -> Mark | None:
        """The mark just clicked, or the one that the address names."""
        point = picked_point(event)
        if point and point.get("customdata"):
            self.state.put(**{param: ",".join(map(str, point["customdata"]))})
        parts = self.state[param].split(",")
        return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None

    def draw_instances(
        self, key: str, title: str, columns: Sequence[Column], frame: pd.DataFrame, run: RunInfo | None
    ) -> None:
        """A titled table of instances; a click opens the reader with the run, or with all."""
        st.markdown(f"## {title}")
        instance_table(
            columns,
            frame,
            (self.dataset, self.task),
            self.runs if run is None else (run,),
            key=f"behind-{key}",
            caption=f"{title}; a click opens the reader",
            empty="No instance is behind this mark.",
            height=420,
        )
        st.caption(f"{len(frame):,} instances{first_shown(frame)}. A click opens one in the reader.")
