"""Resources that sessions share.

Everything cached is frozen, so that one session cannot change what another sees, and every cache has a bound.
What a dataset, a run or a search is to a cache, `KEYS` says: the stamps of dataset and run, the digest of a
trained model. So nothing stale is ever shown.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import pandas as pd
import streamlit as st

from components.app.choices import Choice
from components.app.jobs import JobBoard
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.analyses.sample import ingest_sample
from evidencebench_core.annotation.provenance import GoldMakers
from evidencebench_core.annotation.provenance import gold_makers as makers_of_gold
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import DatasetInfo, Instance, Store, open_store
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.perturb import added_wordings, hypothesis_variants
from evidencebench_core.runs import RunInfo, RunStore, score_run
from evidencebench_core.tasks import Score, score
from evidencebench_core.words import WARNING

if TYPE_CHECKING:
    import plotly.graph_objects as go

SAMPLE: Final = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"


def _run_key(run: RunInfo) -> object:
    """Changes with a run's answers, its name and the content of its dataset."""
    return run.stamp, run.label, store().dataset(run.dataset).stamp if run.dataset else ""


_F = TypeVar("_F", bound=Callable[..., Any])
Keys = dict[str | type[Any], Callable[[Any], object]]
KEYS: Final[Keys] = {
    DatasetInfo: lambda dataset: (dataset.name, dataset.stamp),
    RunInfo: _run_key,
    Choice: lambda choice: choice.key,
}


def cached(function: _F, keys: Keys = KEYS) -> _F:
    """The decorator of what is computed of datasets, runs and readings."""
    return cast("_F", st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=keys)(function))


def _cached_with(table: str, newest: str) -> Callable[[_F], _F]:
    """The same for what changes when a row of a dataset is added to a table, or goes from it."""

    def key(dataset: DatasetInfo) -> object:
        query = f"SELECT count(*), max({newest}) FROM {table} WHERE dataset_id = ?"
        with store().read() as db:
            return dataset.name, dataset.stamp, tuple(db.execute(query, (dataset.id,)).fetchone())

    return lambda function: cached(function, {**KEYS, DatasetInfo: key})


@st.cache_resource
def store() -> Store:
    """The store of this server (``EVIDENCEBENCH_STORE``, or the user's data folder).

    ``EVIDENCEBENCH_SAMPLE``, set by ``evidencebench app --sample``, brings the sample's runs into it behind the first
    page.
    """
    opened = open_store()
    if os.environ.get("EVIDENCEBENCH_SAMPLE"):
        threading.Thread(target=ingest_sample, args=(opened, SAMPLE), name="sample", daemon=True).start()
    return opened


@st.cache_resource
def jobs() -> JobBoard:
    """The long work of this server."""
    return JobBoard()


@cached
def instance(dataset: DatasetInfo, instance_id: str) -> Instance:
    """An instance; ``UnknownNameError`` where the dataset has none of that id."""
    return store().get(dataset.name, instance_id)


@cached
def gold_makers(dataset: DatasetInfo) -> GoldMakers:
    """Who made a dataset's gold, as far as its instances say."""
    return makers_of_gold(store(), dataset.name)


@cached
def matching(dataset: DatasetInfo, hypothesis: str = "", sentences: str = "") -> tuple[str, ...]:
    """The ids that a search leaves, in the file's order."""
    return store().matching(dataset.name, hypothesis, sentences)


@_cached_with("notes", "id")
def notes(dataset: DatasetInfo) -> Mapping[str, tuple[Note, ...]]:
    """The notes on a dataset, on misses too, by instance id: of each author the newest on each thing."""
    by_instance: dict[str, tuple[Note, ...]] = {}
    for note in NoteStore(store()).notes_on(dataset.name):
        by_instance[note.instance_id] = (*by_instance.get(note.instance_id, ()), note)
    return MappingProxyType(by_instance)


@cached
def instances(dataset: DatasetInfo) -> pd.DataFrame:
    """A row an instance, in the file's order: ``id``, ``hypothesis`` and its counts. Nobody may change it."""
    return pd.DataFrame(store().rows(dataset.name, store().ids(dataset.name)))


def hypotheses(dataset: DatasetInfo, ids: Iterable[str]) -> dict[str, str]:
    """By instance id, of those that the dataset has."""
    return {row.id: row.hypothesis for row in store().rows(dataset.name, dict.fromkeys(ids))}


@_cached_with("wordings", "added_at")
def wordings(dataset: DatasetInfo) -> dict[str, dict[str, str]]:
    """Other wordings of the hypotheses, from the data and from files, by variant and instance id."""
    return hypothesis_variants(store(), dataset.name)


@_cached_with("wordings", "added_at")
def wording_origins(dataset: DatasetInfo) -> dict[tuple[str, str], str]:
    """By name and instance id where those of `wordings` are from that did not come with the data."""
    return {(one.name, one.instance_id): one.origin for one in added_wordings(store(), dataset.name)}


def runs(dataset: DatasetInfo) -> tuple[RunInfo, ...]:
    """The store's runs over a dataset; not cached, they change."""
    return tuple(map(_with_warning, RunStore(store()).runs(dataset.name)))


def _with_warning(run: RunInfo) -> RunInfo:
    """The run; where its model has learnt from instances that it is scored on, its label says so."""
    if not run.n_trained_on:
        return run
    return replace(run, label=f"{run.label} {WARNING} trained on {run.n_trained_on:,} of these")


@cached
def run_score(run: RunInfo, task: str) -> Score:
    """The score of what a run has answered so far."""
    return score_run(store(), run, task)


@cached
def recalls(run: RunInfo, task: str, ids: tuple[str, ...]) -> Mapping[str, float]:
    """The recalls of a few instances, where the run has answered them and the task scores them."""
    picks = RunStore(store()).selections(run, task)
    gold = store().evidence_sets(run.dataset, ids)
    return score(task, gold, {name: picks[name] for name in ids if name in picks}).per_instance


@cached
def bounds(dataset: DatasetInfo, task: str) -> Score:
    """Ceiling and random expectation over every instance of a dataset that a task can score."""
    return score(task, store().evidence_sets(dataset), {}, missing="zero")


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=KEYS)
def report(name: str, key: tuple[object, ...], _make: Callable[[], Report]) -> Report:
    """The report of ``_make``, cached under a name and a key, which must hold all that it depends on.

    Datasets and runs stand in it as such.

    Every caller gets a copy of its own: the tables may be changed.
    """
    return _make()


@st.cache_resource(max_entries=64, show_spinner=False)
def _figure(
    _chart: Callable[..., go.Figure], name: str, arguments: Sequence[Any], named: Mapping[str, Any]
) -> go.Figure:
    return _chart(*arguments, **named)


def figure(chart: Callable[..., go.Figure], *arguments: object, **named: object) -> go.Figure:
    """The figure that a function of `components.charts` makes of these; nobody may change it.

    Making one is most of what a page costs that has been computed before.
    """
    return _figure(chart, f"{chart.__module__}.{chart.__name__}", arguments, named)


def own_papers() -> OwnPapers:
    """The kept papers of the store."""
    return OwnPapers(store())


def paper_annotations() -> Annotations:
    """People's marks in papers."""
    return Annotations(store())
