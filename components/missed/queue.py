"""The queue that the address asks for: which misses, in which order, and what was noted on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.app import resources
from components.app.state import PageState
from components.missed import cached
from evidencebench_core.analyses.causes import Thresholds
from evidencebench_core.analyses.missed_report import Binning, bin_of
from evidencebench_core.data import DatasetInfo, Filter
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo
from evidencebench_core.runs.notes import Note, NoteStore
from evidencebench_core.tasks import Task

READ_AT_ONCE: Final = 2_000  # instances of a dataset whose papers are read without being asked to

QUEUE_DEFAULTS: Final = {
    "all": "",
    "section": "",
    "type": "",
    "decile": "",
    "n": "",
    "cause": "",
    "noted": "",
    "q": "",
    "where": "",
    "rules": "",
    "words": "",
    "sort": "distance",
    "desc": "",
    "page": "1",
}
FILTERS: Final = ("section", "type", "decile", "n", "cause", "noted", "q", "where")
_OF_MISSES: Final = ("cause", "noted")
BINNING_OF: Final[Mapping[str, Binning]] = {
    "section": "section",
    "decile": "decile",
    "n": "n_covering",
    "cause": "cause",
}
RANGES: Final = {
    "n_sentences": "Sentences",
    "n_aspects": "Study aspects",
    "n_result_aspects": "Result aspects",
    "optimal": "Optimal K",
    "ends_coverage": "Ends coverage, %",
}
SORTS: Final = ("distance", "file", "best_rank", "overlap", "position", "n_covering")

Key = tuple[str, str]  # instance id and aspect id


@dataclass(frozen=True, slots=True)
class Queue:
    """The aspects of a run to work through."""

    run: RunInfo
    task: Task
    results_only: bool  # whether the page is about result aspects only
    outcomes: pd.DataFrame  # found and missed aspects that the task asks for
    asked: NDArray[np.bool_]  # which of them the page is about
    passing: Mapping[str, NDArray[np.bool_]]  # which of them each filter that is set leaves
    shown: NDArray[np.intp]  # rows of the missed ones that the filters leave, in the order asked for
    with_words: bool  # whether the papers were read: then sections, overlaps and causes are known
    limits: Thresholds
    notes: Mapping[Key, tuple[Note, ...]]  # of each author the newest

    @property
    def n_asked(self) -> int:
        return int(self.asked.sum())

    @property
    def n_missed(self) -> int:
        """How many of those the page is about are missed, whatever the filters."""
        return int((self.asked & self.outcomes["missed"].to_numpy()).sum())

    @property
    def n_instances(self) -> int:
        """How many instances they belong to."""
        return int(self.outcomes["instance"][self.asked].nunique())

    def share_behind(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The aspects that the filters leave, and which of all aspects count as missed, but for the filter ``name``.

        What filters can ask of a miss only (its cause, a note) leaves every aspect and fewer misses.
        """
        others = [one for one in self.passing if one != name]
        left = [self.passing[one] for one in others if one not in _OF_MISSES]
        misses = [self.passing[one] for one in others if one in _OF_MISSES]
        missed = self.outcomes["missed"].to_numpy(dtype=bool)
        return np.logical_and.reduce([self.asked, *left]), np.logical_and.reduce([missed, *misses])

    @property
    def noted(self) -> NDArray[np.intp]:
        """The rows that have a note, missed and shown or not."""
        return _noted(self.outcomes, self.notes)

    @property
    def n_noted(self) -> int:
        """How many of those shown have a note."""
        return int(np.isin(self.shown, self.noted).sum())

    def key_at(self, place: int) -> Key:
        """Instance and aspect id of what is shown there."""
        row = self.outcomes.iloc[self.shown[place]]
        return row["instance"], row["aspect"]

    def rows_of(self, key: Key) -> NDArray[np.intp]:
        """The row of an aspect, if it is among those that the task asks for."""
        return _rows_of(self.outcomes, key)

    def place_of(self, key: Key) -> int | None:
        """Where an aspect stands among those shown."""
        places = np.flatnonzero(np.isin(self.shown, self.rows_of(key)))
        return int(places[0]) if places.size else None


def _rows_of(outcomes: pd.DataFrame, key: Key) -> NDArray[np.intp]:
    rows: NDArray[np.intp] = np.flatnonzero(outcomes["instance"] == key[0])
    return rows[(outcomes["aspect"].iloc[rows] == key[1]).to_numpy(dtype=bool)]


def _noted(outcomes: pd.DataFrame, notes: Collection[Key]) -> NDArray[np.intp]:
    rows: NDArray[np.intp] = np.flatnonzero(
        outcomes["instance"].isin({instance_id for instance_id, _ in notes})
    )
    keys = zip(outcomes["instance"].iloc[rows], outcomes["aspect"].iloc[rows], strict=True)
    noted: NDArray[np.intp] = rows[np.array([key in notes for key in keys], dtype=bool)]
    return noted


def ranges_of(state: PageState) -> dict[str, tuple[float, float]]:
    """The ranges in the address, of the columns that this queue has."""
    ranges = {}
    for part in state["where"].split(","):
        column, _, span = part.partition(":")
        low, _, high = span.partition("-")
        with suppress(ValueError):
            ranges[column] = (float(low), float(high))
    return {column: bounds for column, bounds in ranges.items() if column in RANGES}


def queue_from(state: PageState, dataset: DatasetInfo, run: RunInfo, task: Task) -> Queue:
    """The queue of a run as the address filters and sorts it."""
    with_words = dataset.n_instances <= READ_AT_ONCE or state["words"] == "1"
    try:
        limits = Thresholds.from_text(state["rules"])
    except SettingError:  # the defaults where the address names none that can be
        limits = Thresholds()
    outcomes = cached.missed_outcomes(run, task.name, limits.text() if with_words else None)
    results_only = task.focus == "results" or state["all"] != "1"
    asked = outcomes["is_result"].to_numpy() if results_only else np.ones(len(outcomes), dtype=bool)
    notes: dict[Key, tuple[Note, ...]] = {}
    for note in NoteStore(resources.store()).notes(run.id, task.name):
        key = (note.instance_id, note.aspect_id)
        notes[key] = (*notes.get(key, ()), note)
    passing = _passing(state, dataset, outcomes, with_words, notes)
    missed = outcomes["missed"].to_numpy(dtype=bool)
    shown = np.flatnonzero(np.logical_and.reduce([asked, missed, *passing.values()]))
    by, sign = state["sort"], -1 if state["desc"] == "1" else 1
    if by == "file":
        shown = shown[::sign]
    else:  # equals stay in the order of their distance
        by = by if by in outcomes.columns and by in SORTS else "distance"
        for column, direction in (("distance", 1), (by, sign)):
            values = outcomes[column].to_numpy(dtype=float, na_value=np.nan)[shown]
            shown = shown[np.argsort(direction * values, kind="stable")]
    return Queue(run, task, results_only, outcomes, asked, passing, shown, with_words, limits, notes)


def _passing(
    state: PageState, dataset: DatasetInfo, outcomes: pd.DataFrame, with_words: bool, notes: Collection[Key]
) -> dict[str, NDArray[np.bool_]]:
    """Of each filter that is set, which aspects it leaves."""
    passing: dict[str, NDArray[np.bool_]] = {}
    ranges = ranges_of(state)
    if state["q"] or ranges:
        left = resources.matching(dataset, Filter(hypothesis=state["q"], ranges=ranges))
        passing["instances"] = outcomes["instance"].isin(left).to_numpy()
    for name, by in BINNING_OF.items():
        wanted = state.many(name)
        if wanted and (with_words or by in {"decile", "n_covering"}):
            passing[name] = bin_of(outcomes, by, wanted)
    if state["type"] and with_words:
        passing["type"] = np.array([state["type"] in types for types in outcomes["types"]], dtype=bool)
    if state["noted"] in {"no", "yes"}:
        noted = np.isin(np.arange(len(outcomes)), _noted(outcomes, notes))
        passing["noted"] = noted == (state["noted"] == "yes")
    return passing
