"""Resources that sessions share, and `cached`, the decorator of everything that is kept for them.

What depends on datasets, runs and readings is kept under their stamps, so nothing stale is ever shown. What is handed
out is frozen, or a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from components.jobs import JobBoard
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.annotation.provenance import GoldMakers
from evidencebench_core.annotation.provenance import gold_makers as makers_of_gold
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import DatasetInfo, Instance, Store, open_store
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.perturb import added_wordings, hypothesis_variants
from evidencebench_core.runs import RunInfo, RunStore, score_run
from evidencebench_core.tasks import Score, score

if TYPE_CHECKING:
    import plotly.graph_objects as go

_P = ParamSpec("_P")
_T = TypeVar("_T")
_NEWEST: Final = {"notes": "id", "wordings": "added_at"}
_WARNING: Final = "\N{WARNING SIGN}\N{VARIATION SELECTOR-15}"


def cached(
    *, entries: int = 64, spinner: str = "", beside: str = ""
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """The decorator of what is computed once and kept, for all sessions, under the keys of its arguments.

    ``spinner`` is shown meanwhile. With ``beside``, a table of `_NEWEST`, the results also depend on its rows about a
    dataset, which is the first argument.
    """

    def decorator(function: Callable[_P, _T]) -> Callable[_P, _T]:
        def computed(key: object, _arguments: tuple[Any, ...], _named: Mapping[str, Any]) -> Any:
            return function(*_arguments, **_named)

        computed.__module__, computed.__qualname__ = function.__module__, function.__qualname__
        cache = st.cache_resource(max_entries=entries, show_spinner=spinner or False, show_time=True)(
            computed
        )

        @wraps(function)
        def read(*arguments: Any, **named: Any) -> Any:
            stamp = _table_stamp(beside, arguments[0]) if beside else ()
            return _copy(cache((cache_key(arguments), cache_key(named), stamp), arguments, named))

        return read

    return decorator


def _run_key(run: RunInfo) -> object:
    return run.id, run.stamp, run.label, store().dataset(run.dataset).stamp if run.dataset else ""


_KEYS: Final[Mapping[type, Callable[[Any], object]]] = {
    DatasetInfo: lambda dataset: (dataset.name, dataset.stamp),
    RunInfo: _run_key,
    FunctionType: lambda function: (function.__module__, function.__qualname__),
}


def cache_key(value: Any) -> object:
    """What tells a value from others: a ``cache_key`` of its own, a stamp, else all that it is made of."""
    if hasattr(value, "cache_key"):
        return value.cache_key
    if type(value) in _KEYS:
        return _KEYS[type(value)](value)
    if isinstance(value, Mapping):
        value = tuple(value.items())
    elif isinstance(value, frozenset):
        value = sorted(value)
    elif is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, tuple | list):
        return tuple(map(cache_key, value))
    if value is None or isinstance(value, str | bytes | int | float | pd.DataFrame):
        return value
    raise TypeError(f"{type(value).__name__} is no argument of anything cached: it has no cache_key")


def _table_stamp(table: str, dataset: DatasetInfo) -> tuple[object, ...]:
    """Changes when a row of a dataset is added to a table, or goes from it; the columns are the newest row's."""
    query = f"SELECT count(*), max({_NEWEST[table]}), * FROM {table} WHERE dataset_id = ?"
    with store().read() as db:
        return tuple(db.execute(query, (dataset.id,)).fetchone())


def _copy(value: Any) -> Any:
    """Frames and reports as copies, which take no room until they are changed."""
    if isinstance(value, pd.DataFrame):
        return value.copy(deep=False)
    if isinstance(value, Report):
        return replace(value, tables={name: table.copy(deep=False) for name, table in value.tables.items()})
    return value


@cached()
def store() -> Store:
    """The store of this server (``EVIDENCEBENCH_STORE``, or the user's data folder)."""
    return open_store()


@cached()
def jobs() -> JobBoard:
    return JobBoard()


@cached()
def instance(dataset: DatasetInfo, instance_id: str) -> Instance:
    """An instance; ``UnknownNameError`` where the dataset has none of that id."""
    return store().get(dataset.name, instance_id)


@cached()
def gold_makers(dataset: DatasetInfo) -> GoldMakers:
    """Who made a dataset's gold, as far as its instances say."""
    return makers_of_gold(store(), dataset.name)


@cached()
def matching(dataset: DatasetInfo, hypothesis: str = "", sentences: str = "") -> tuple[str, ...]:
    """The ids that a search leaves, in the file's order."""
    return store().matching(dataset.name, hypothesis, sentences)


@cached(beside="notes")
def notes(dataset: DatasetInfo) -> Mapping[str, tuple[Note, ...]]:
    """The notes on a dataset, on misses too, by instance id: of each author the newest on each thing."""
    by_instance: dict[str, tuple[Note, ...]] = {}
    for note in NoteStore(store()).notes_on(dataset.name):
        by_instance[note.instance_id] = (*by_instance.get(note.instance_id, ()), note)
    return MappingProxyType(by_instance)


@cached()
def instances(dataset: DatasetInfo) -> pd.DataFrame:
    """A row an instance, in the file's order: ``id``, ``hypothesis`` and its counts. Nobody may change it."""
    return pd.DataFrame(store().rows(dataset.name, store().ids(dataset.name)))


def hypotheses(dataset: DatasetInfo, ids: Iterable[str]) -> dict[str, str]:
    """By instance id, of those that the dataset has."""
    return {row.id: row.hypothesis for row in store().rows(dataset.name, dict.fromkeys(ids))}


@cached(beside="wordings")
def wordings(dataset: DatasetInfo) -> dict[str, dict[str, str]]:
    """Other wordings of the hypotheses, from the data and from files, by variant and instance id."""
    return hypothesis_variants(store(), dataset.name)


@cached(beside="wordings")
def wording_makers(dataset: DatasetInfo) -> dict[tuple[str, str], str]:
    """By name and instance id who made those of `wordings` that did not come with the data."""
    added = added_wordings(store(), dataset.name)
    return {(wording.name, wording.instance_id): wording.made_by for wording in added}


def runs(dataset: DatasetInfo) -> tuple[RunInfo, ...]:
    """The store's runs over a dataset; not cached, they change."""
    return tuple(map(_with_warning, RunStore(store()).runs(dataset.name)))


def _with_warning(run: RunInfo) -> RunInfo:
    """The run; where its model has learnt from instances that it is scored on, its label says so."""
    if not run.n_trained_on:
        return run
    return replace(run, label=f"{run.label} {_WARNING} trained on {run.n_trained_on:,} of these")


@cached()
def run_score(run: RunInfo, task: str) -> Score:
    """The score of what a run has answered so far."""
    return score_run(store(), run, task)


@cached()
def recalls(run: RunInfo, task: str, ids: tuple[str, ...]) -> Mapping[str, float]:
    """The recalls of a few instances, where the run has answered them and the task scores them."""
    picks = RunStore(store()).selections(run, task)
    gold = store().evidence_sets(run.dataset, ids)
    return score(task, gold, {name: picks[name] for name in ids if name in picks}).per_instance


@cached()
def bounds(dataset: DatasetInfo, task: str) -> Score:
    """Ceiling and random expectation over every instance of a dataset that a task can score."""
    return score(task, store().evidence_sets(dataset), {}, missing="zero")


@cached(spinner="Computing …")
def report(analysis: Callable[..., Report], *arguments: Any, also: object = None, **settings: Any) -> Report:
    """The report of an analysis of the store; a dataset is given to it by its name.

    ``also`` is what it depends on beside its arguments.
    """
    given = [argument.name if isinstance(argument, DatasetInfo) else argument for argument in arguments]
    return analysis(store(), *given, **settings)


@cached()
def figure(chart: Callable[..., go.Figure], *arguments: Any, **settings: Any) -> go.Figure:
    """The figure that a function of `components.charts` makes of these; nobody may change it."""
    return chart(*arguments, **settings)


def own_papers() -> OwnPapers:
    return OwnPapers(store())


def paper_annotations() -> Annotations:
    return Annotations(store())
