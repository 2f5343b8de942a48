"""The queue that the address asks for: which misses, in which order, and what was noted on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from components.app import resources
from components.app.state import PageState
from evidencebench_core.analyses.causes import Thresholds
from evidencebench_core.analyses.missed import queue_of
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
    asked: pd.DataFrame  # those of them that the page is about
    shown: pd.DataFrame  # the missed ones that the filters leave, in the order asked for
    with_words: bool  # whether the papers were read: then sections, overlaps and causes are known
    limits: Thresholds
    notes: Mapping[Key, tuple[Note, ...]]  # of each author the newest

    @property
    def keys(self) -> list[Key]:
        """Instance and aspect id of what is shown, in its order."""
        return list(zip(self.shown["instance"], self.shown["aspect"], strict=True))

    @property
    def n_noted(self) -> int:
        """How many of those have a note."""
        return sum(key in self.notes for key in self.keys)


def ranges_of(state: PageState) -> dict[str, tuple[float, float]]:
    """The ranges in the address, of the columns that this queue has."""
    return {column: bounds for column, bounds in state.ranges("where").items() if column in RANGES}


def queue_from(state: PageState, dataset: DatasetInfo, run: RunInfo, task: Task) -> Queue:
    """The queue of a run as the address filters and sorts it."""
    with_words = dataset.n_instances <= READ_AT_ONCE or state["words"] == "1"
    try:
        limits = Thresholds.from_text(state["rules"])
    except SettingError:  # the defaults where the address names none that can be
        limits = Thresholds()
    outcomes = resources.missed_outcomes(run, task.name, limits.text() if with_words else None)
    results_only = task.focus == "results" or state["all"] != "1"
    asked = outcomes[outcomes["is_result"]] if results_only else outcomes
    notes: dict[Key, tuple[Note, ...]] = {}
    for note in NoteStore(resources.store()).notes(run.id, task.name):
        key = (note.instance_id, note.aspect_id)
        notes[key] = (*notes.get(key, ()), note)
    missed = _left_by_filters(state, dataset, queue_of(asked, results_only), with_words, notes)
    by, descending = state["sort"], state["desc"] == "1"
    if by == "file":
        shown = missed.sort_index(ascending=not descending)
    else:  # equals stay as they were
        by = by if by in missed.columns and by in SORTS else "distance"
        shown = missed.sort_values(by, kind="stable", ascending=not descending, na_position="last")
    return Queue(run, task, results_only, outcomes, asked, shown, with_words, limits, notes)


def _left_by_filters(
    state: PageState,
    dataset: DatasetInfo,
    missed: pd.DataFrame,
    with_words: bool,
    notes: Mapping[Key, tuple[Note, ...]],
) -> pd.DataFrame:
    ranges = ranges_of(state)
    if state["q"] or ranges:
        left = set(resources.matching(dataset, Filter(hypothesis=state["q"], ranges=ranges)))
        missed = missed[missed["instance"].isin(left)]
    for name, by in BINNING_OF.items():
        wanted = state.many(name)
        if wanted and (with_words or by in {"decile", "n_covering"}):
            missed = missed[np.any([bin_of(missed, by, one) for one in wanted], axis=0)]
    if state["type"] and with_words:
        missed = missed[[state["type"] in types for types in missed["types"]]]
    if state["noted"] in {"no", "yes"}:
        pairs = zip(missed["instance"], missed["aspect"], strict=True)
        missed = missed[[(pair in notes) == (state["noted"] == "yes") for pair in pairs]]
    return missed
