"""The subject of the page: a set of questions, the runs on it, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from components.app.choices import setting_text
from components.app.page import set_picker
from components.app.state import PageState
from components.reliability import cached
from components.widgets.chart import is_dark
from evidencebench_core.palette import ASPECTS
from evidencebench_core.reliability.card import Card, CardRow, ComparisonRow
from evidencebench_core.reliability.items import ItemSet, ItemSetInfo
from evidencebench_core.reliability.runs import ReliabilityRun
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS

PROBE_FILTERS: Final = {"cell": "", "null": "", "label": "", "variant": "", "differ": "", "page": "1"}
VIEW_DEFAULTS: Final = {
    "items": "",
    "task": "",
    "run": "",
    "beside": "",
    "card": "",
    "item": "",
    **PROBE_FILTERS,
}


@dataclass(frozen=True, slots=True)
class View:
    """A set of questions with the runs on it, judges' own left out."""

    info: ItemSetInfo
    items: ItemSet
    runs: tuple[ReliabilityRun, ...]

    @property
    def systems(self) -> Mapping[str, tuple[str, bool]]:
        """Model and whether the construction is the paper's, by what the page calls that."""
        systems = {system_of(run): (run.model, run.as_published) for run in self.runs}
        return dict(sorted(systems.items()))

    def card(self, system: str) -> Card:
        """Every test of a system, by the answers that there are so far."""
        model, as_published = self.systems[system]
        return cached.card(self.info, model, as_published)

    def score(self, run: ReliabilityRun) -> TaskScore:
        """The score of what a run has answered so far."""
        on_card = (row.score for row in self.card(system_of(run)).rows if row.score.run == run.id)
        return next(on_card, None) or cached.score(run)

    def run(self, run_id: str) -> ReliabilityRun | None:
        return next((run for run in self.runs if run.id == run_id), None)

    def of_task(self, task: str) -> tuple[ReliabilityRun, ...]:
        """The runs of a task, the fullest and newest first."""
        runs = [run for run in self.runs if run.task.name == task]
        return tuple(sorted(runs, key=lambda run: (run.n_answered, run.created_at), reverse=True))


def view_of(state: PageState) -> View | None:
    """The set that the address names (an unknown one is reported), with a picker; ``None`` without any."""
    sets = {info.name: info for info in cached.item_sets()}
    if not sets:
        return None
    described = {name: f"{name} ({info.n_items:,})" for name, info in sets.items()}
    reset = ("run", "beside", "item", "card", *PROBE_FILTERS)
    info = sets[set_picker(state, "items", "Questions", described, "set of questions", reset)]
    return View(info, cached.item_set(info), cached.runs(info))


def colours(names: Sequence[str]) -> Mapping[str, str]:
    """A colour for each name."""
    return {name: ASPECTS[place % len(ASPECTS)].on(is_dark()) for place, name in enumerate(names)}


def system_of(run: ReliabilityRun) -> str:
    """The model, and the construction where it is the paper's."""
    return f"{run.model}, as published" if run.as_published else run.model


def label_of(run: ReliabilityRun) -> str:
    """The model, what sets the run apart from others of its task, and the beginning of the id."""
    return f"{' '.join(filter(None, (run.model, run.label)))} ({run.id[:4]})"


def title_of(task: str) -> str:
    """A task as the page calls it."""
    return RELIABILITY_TASKS[task].title


def row_title(row: CardRow | ComparisonRow) -> str:
    """A row of a card or comparison: its task, and the settings that are not the defaults."""
    return ", ".join(
        [row.task.title, *(f"{name}={setting_text(value)}" for name, value in row.differs.items())]
    )
