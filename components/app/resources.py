"""What sessions share: the only place that caches.

Everything cached here is frozen, so that one session cannot change what another sees, and every
cache has a bound. Keys hold a dataset's content hash and the number of answers in a run, so
nothing stale is ever shown.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import streamlit as st

from components.app.jobs import JobBoard
from components.paper.opened import OpenPaper, OpenPapers, of_kept, of_samples
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.arrangements import Part
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.buckets import bucket_of_places, token_counts
from evidencebench_core.analyses.needle import part_places
from evidencebench_core.analyses.sensitivity import WORDING_VARIANTS
from evidencebench_core.analyses.systems import Systems, systems_of_runs
from evidencebench_core.data import DatasetInfo, Filter, Instance, Store, open_store
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, UnknownNameError
from evidencebench_core.papers import DEFAULT_LIMITS, Limits, Paper
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.perturb import Wording, added_wordings, hypothesis_variants
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    make_retriever,
    query_of,
    retriever_entries,
)
from evidencebench_core.retrievers.ranker.default import trained_model
from evidencebench_core.runs import RunInfo, RunStore, Variant, score_run
from evidencebench_core.tasks import Score, score, task_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from components.models.ranker.training import Weighings
    from evidencebench_core.analyses.missed_shares import Binning

__all__ = [
    "aspects",
    "bounds",
    "buckets",
    "in_part",
    "instance",
    "jobs",
    "largest",
    "live_retrieval",
    "matching",
    "missed_outcomes",
    "missed_share",
    "named_dataset",
    "open_papers",
    "own_paper",
    "own_papers",
    "paper_annotations",
    "paper_limits",
    "paper_retrieval",
    "picks",
    "report",
    "run_score",
    "runs",
    "sample_papers",
    "store",
    "systems",
    "warm",
    "weighings",
    "wording_origins",
    "wording_variants",
    "wordings",
]


@st.cache_resource
def store() -> Store:
    """The store of this server (``EVIDENCEBENCH_STORE``, or the user's data folder)."""
    # The solver behind the optimal selections takes a quarter of a second to import: not in a user's click.
    threading.Thread(target=import_module, args=("scipy.optimize",), daemon=True).start()
    return open_store()


@st.cache_resource
def jobs() -> JobBoard:
    """The long work of this server."""
    return JobBoard()


@st.cache_resource
def weighings() -> Weighings:
    """What the trained ranker goes by, as far as it was measured."""
    from components.models.ranker.training import Weighings

    return Weighings()


def named_dataset(name: str) -> DatasetInfo:
    """A dataset of the store; the first one where ``name`` is empty.

    Raises
    ------
    UnknownNameError
        Where there is none of that name, or none at all.
    """
    if name:
        return store().dataset(name)
    datasets = store().datasets()
    if not datasets:
        raise UnknownNameError("store", "holds no dataset", "Add one on the Home page.")
    return datasets[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def _instance(sha256: str, name: str, instance_id: str) -> Instance:
    return store().get(name, instance_id)


def instance(dataset: DatasetInfo, instance_id: str) -> Instance:
    """An instance; ``UnknownNameError`` where the dataset has none of that id."""
    return _instance(dataset.sha256, dataset.name, instance_id)


@st.cache_resource(max_entries=32, show_spinner=False)
def _matching(sha256: str, name: str, canonical: str) -> tuple[str, ...]:
    wanted = json.loads(canonical)
    wanted["ranges"] = {column: tuple(bounds) for column, bounds in wanted["ranges"].items()}
    return store().matching(name, Filter(**wanted))


def matching(dataset: DatasetInfo, wanted: Filter) -> tuple[str, ...]:
    """The ids that a filter leaves, in its order."""
    fields = ("hypothesis", "sentences", "ranges", "sort", "descending")
    canonical = json.dumps({field: getattr(wanted, field) for field in fields}, default=dict, sort_keys=True)
    return _matching(dataset.sha256, dataset.name, canonical)


@st.cache_resource(max_entries=16, show_spinner=False)
def _retriever(name: str, settings: str) -> Retriever:
    return make_retriever(name, json.loads(settings))


def _canonical(retriever: str, settings: Mapping[str, object]) -> str:
    """Settings as a key; with the digest of the trained model that is there now, where one is used."""
    given = dict(settings)
    member = "evidence-ranker." if retriever == "hybrid" else ""
    if retriever == "evidence-ranker" or "evidence-ranker" in str(given.get("of", "")):
        trained = trained_model() if given.get(f"{member}model", "default") == "default" else None
        if trained is not None:
            given[f"{member}weights"] = trained[1]
    return json.dumps(given, sort_keys=True)


@st.cache_resource(max_entries=512, show_spinner=False)
def _live(
    sha256: str, dataset: str, instance_id: str, task: str, name: str, settings: str, hypothesis: str
) -> Retrieval:
    source = _instance(sha256, dataset, instance_id)
    asked = task_named(task)
    query = query_of(source, asked.focus, asked.budget_for(source.evidence), hypothesis)
    if retriever_entries()[name].sees_gold:
        return make_retriever(name, json.loads(settings), evidence=source.evidence).retrieve(query)
    return _retriever(name, settings).retrieve(query)


def live_retrieval(
    dataset: DatasetInfo,
    instance_id: str,
    task: str,
    retriever: str,
    settings: dict[str, object],
    hypothesis: str,
) -> Retrieval:
    """What a retriever answers right now, for this hypothesis.

    Raises
    ------
    RetrieverError
        For one that asks a server: it may cost, so Browse asks it, on a click (`llm.asking`).
    """
    if retriever_entries()[retriever].asks_server:
        raise RetrieverError(f"retriever {retriever}", "is not asked by itself", "Ask it on the page Browse.")
    canonical = _canonical(retriever, settings)
    return _live(dataset.sha256, dataset.name, instance_id, task, retriever, canonical, hypothesis)


@st.cache_resource(max_entries=64, show_spinner=False)
def _largest(sha256: str, name: str, column: str) -> int:
    first = store().matching(name, Filter(sort=column, descending=True))[:1]
    return max((int(getattr(row, column)) for row in store().rows(name, first)), default=1)


def largest(dataset: DatasetInfo, column: str) -> int:
    """The largest value of a column of counts, at least 1."""
    return max(1, _largest(dataset.sha256, dataset.name, column))


def runs(dataset: DatasetInfo) -> tuple[RunInfo, ...]:
    """The store's runs over a dataset; not cached, they change."""
    return RunStore(store()).runs(dataset.name)


@st.cache_resource(max_entries=128, show_spinner=False)
def _score(run_id: str, task: str, answered: int, failed: int, missing: str) -> Score:
    return score_run(store(), run_id, task_named(task), missing="zero" if missing == "zero" else "report")


def run_score(run: RunInfo, task: str, missing: str = "report") -> Score:
    """The score of what a run has answered so far."""
    return _score(run.id, task, run.tasks.get(task, 0), run.n_failed, missing)


@st.cache_resource(max_entries=32, show_spinner=False)
def _bounds(sha256: str, name: str, task: str) -> Score:
    return score(task_named(task), store().evidence_sets(name), {}, missing="zero")


def bounds(dataset: DatasetInfo, task: str) -> Score:
    """Ceiling and random expectation over every instance of a dataset that a task can score."""
    return _bounds(dataset.sha256, dataset.name, task)


@st.cache_resource(max_entries=9, show_spinner=False)
def _missed_outcomes(run_id: str, task: str, others: str, with_words: bool, limits: str) -> pd.DataFrame:
    from evidencebench_core.analyses.causes import Thresholds, with_causes_of_missed
    from evidencebench_core.analyses.missed import aspect_outcomes, with_text

    if not with_words:
        return aspect_outcomes(store(), run_id, task)
    if limits:
        plain = _missed_outcomes(run_id, task, others, True, "")
        return with_causes_of_missed(plain, Thresholds.from_text(limits))
    return with_text(store(), _missed_outcomes(run_id, task, others, False, ""))


def missed_outcomes(run: RunInfo, task: str, limits: str | None) -> pd.DataFrame:
    """The aspects that a run found or missed; with the papers' words and causes where ``limits`` is given.

    Other runs are part of the table, so their answers are part of the key. Nobody may change the frame.
    """
    answered = {other.id: other.tasks.get(task, 0) for other in RunStore(store()).runs(run.dataset)}
    key = json.dumps(answered, sort_keys=True)
    return _missed_outcomes(run.id, task, key, limits is not None, limits or "")


@st.cache_resource(max_entries=32, show_spinner=False)
def _missed_shares(
    run_id: str, task: str, others: str, limits: str | None, by: Binning, results_only: bool
) -> pd.DataFrame:
    from evidencebench_core.analyses.missed_shares import missed_shares

    outcomes = _missed_outcomes(run_id, task, others, limits is not None, limits or "")
    return missed_shares(outcomes[outcomes["is_result"]] if results_only else outcomes, by)


def missed_share(
    run: RunInfo, task: str, limits: str | None, by: Binning, results_only: bool
) -> pd.DataFrame:
    """Missed shares of a run by bin, with intervals; nobody may change the frame."""
    answered = {other.id: other.tasks.get(task, 0) for other in RunStore(store()).runs(run.dataset)}
    key = json.dumps(answered, sort_keys=True)
    return _missed_shares(run.id, task, key, limits, by, results_only)


@st.cache_resource(max_entries=8, show_spinner=False)
def _aspect_table(sha256: str, name: str, task: str) -> AspectTable:
    return aspect_table(store(), name, task_named(task))


def aspects(dataset: DatasetInfo, task: str) -> AspectTable:
    """The gold of a task as arrays."""
    return _aspect_table(dataset.sha256, dataset.name, task)


@st.cache_resource(max_entries=8, show_spinner="Counting tokens …")
def _buckets(sha256: str, name: str, task: str, n_buckets: int, by: str) -> NDArray[np.int64]:
    table = _aspect_table(sha256, name, task)
    tokens = token_counts(store(), name, table) if by == "token" else None
    found = bucket_of_places(table, n_buckets, tokens)
    found.setflags(write=False)
    return found


def buckets(dataset: DatasetInfo, task: str, n_buckets: int, by: str) -> NDArray[np.int64]:
    """The bucket of every place of `aspects`."""
    return _buckets(dataset.sha256, dataset.name, task, n_buckets, by)


@st.cache_resource(max_entries=64, show_spinner=False)
def _picks(sha256: str, name: str, task: str, run_id: str, answered: int) -> RunPicks:
    return run_picks(_aspect_table(sha256, name, task), RunStore(store()).selections(run_id, task))


def picks(dataset: DatasetInfo, run: RunInfo, task: str) -> RunPicks:
    """Where a run looked and what it found, in the rows of `aspects`."""
    return _picks(dataset.sha256, dataset.name, task, run.id, run.tasks.get(task, 0))


@st.cache_data(max_entries=64, show_spinner=False)
def report(name: str, key: tuple[object, ...], _make: Callable[[], Report]) -> Report:
    """What ``_make`` computes, kept under a name and a key, which must hold all that it depends on.

    Every caller gets a copy of its own: the tables may be changed.
    """
    return _make()


@st.cache_resource(max_entries=8, show_spinner=False)
def _systems(runs: tuple[tuple[str, int, int], ...], task: str) -> Systems:
    known = RunStore(store())
    return systems_of_runs(store(), [known.run(run_id) for run_id, _, _ in runs], task_named(task))


def systems(runs: tuple[RunInfo, ...], task: str) -> Systems:
    """Recalls of runs over one dataset, on the instances that all have answered."""
    return _systems(tuple((run.id, run.tasks.get(task, 0), run.n_failed) for run in runs), task)


@st.cache_resource(max_entries=8, show_spinner=False)
def _in_part(sha256: str, name: str, task: str, part: Part) -> NDArray[np.bool_]:
    return part_places(store(), name, _aspect_table(sha256, name, task), (part,))[part]


def in_part(dataset: DatasetInfo, task: str, part: Part) -> NDArray[np.bool_]:
    """Whether the sentence at each place of `aspects` belongs to a part of its paper."""
    return _in_part(dataset.sha256, dataset.name, task, part)


@st.cache_resource(max_entries=8, show_spinner=False)
def _wordings(sha256: str, name: str, stamp: str) -> dict[str, dict[str, str]]:
    return hypothesis_variants(store(), name)


def _wording_stamp(dataset: DatasetInfo) -> str:
    """Changes whenever a wording is added to the dataset."""
    with store().read() as db:
        count, newest = db.execute(
            "SELECT count(*), max(added_at) FROM hypothesis_variants WHERE dataset_id = ?", (dataset.id,)
        ).fetchone()
    return f"{count} {newest}"


def wordings(dataset: DatasetInfo) -> dict[str, dict[str, str]]:
    """Other wordings of the hypotheses, from the data and from files, by variant and instance id."""
    return _wordings(dataset.sha256, dataset.name, _wording_stamp(dataset))


@st.cache_resource(max_entries=8, show_spinner=False)
def _wording_origins(sha256: str, name: str, stamp: str) -> dict[str, dict[str, Wording]]:
    return added_wordings(store(), name)


def wording_origins(dataset: DatasetInfo) -> dict[str, dict[str, Wording]]:
    """Where those of `wordings` are from that did not come with the data."""
    return _wording_origins(dataset.sha256, dataset.name, _wording_stamp(dataset))


@st.cache_resource(max_entries=16, show_spinner=False)
def _wording_variants(sha256: str, name: str, stamp: str, question: str) -> tuple[Variant, ...]:
    return WORDING_VARIANTS[question](store(), name)


def wording_variants(dataset: DatasetInfo, question: str) -> tuple[Variant, ...]:
    """The variants behind a question of the page Wording."""
    return _wording_variants(dataset.sha256, dataset.name, _wording_stamp(dataset), question)


# -- papers that readers bring ---------------------------------------------------------------------

_SAMPLE_PAPERS = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"
_MIB = 1024 * 1024


def paper_limits() -> Limits:
    """What reading a paper may cost; ``EVIDENCEBENCH_PAPER_MIB`` sets the largest file in MiB."""
    given = os.environ.get("EVIDENCEBENCH_PAPER_MIB", "")
    if given.isascii() and given.isdigit() and 0 < int(given) <= 1024:
        return replace(DEFAULT_LIMITS, max_bytes=int(given) * _MIB)
    return DEFAULT_LIMITS


@st.cache_resource
def open_papers() -> OpenPapers:
    """The papers that are being read and are not kept."""
    return OpenPapers()


@st.cache_resource
def sample_papers() -> Mapping[str, OpenPaper]:
    """Our sample papers by instance id."""
    return MappingProxyType(of_samples(_SAMPLE_PAPERS))


def own_papers() -> OwnPapers:
    """The kept papers of the store."""
    return OwnPapers(store())


def paper_annotations() -> Annotations:
    """What people marked in papers."""
    return Annotations(store())


@st.cache_resource(max_entries=32, show_spinner=False)
def _kept_paper(place: str, number: int, added_at: str) -> Paper:
    return own_papers().paper(number)


def own_paper(number: int) -> OpenPaper:
    """A kept paper; ``UnknownNameError`` where there is none of that number."""
    own = own_papers().get(number)
    return of_kept(own, _kept_paper(str(store().path), own.id, own.added_at))


@st.cache_resource(max_entries=256, show_spinner=False)
def _paper_retrieval(
    digest: str, hypothesis: str, budget: int, name: str, settings: str, _paper: OpenPaper
) -> Retrieval:
    query = query_of(_paper.instance(hypothesis), "all", budget)
    began = time.perf_counter()
    found = _retriever(name, settings).retrieve(query)
    return replace(found, seconds=time.perf_counter() - began)


def paper_retrieval(
    paper: OpenPaper, hypothesis: str, budget: int, retriever: str, settings: Mapping[str, object]
) -> Retrieval:
    """What a retriever that asks no server picks of a paper for a hypothesis."""
    canonical = _canonical(retriever, settings)
    return _paper_retrieval(paper.digest, hypothesis, budget, retriever, canonical, paper)


_warmed: set[str] = set()


def warm(retriever: str, settings: Mapping[str, object]) -> None:
    """Load a retriever's model in the background, once: it is ready when the paper is."""
    canonical = json.dumps({"name": retriever, **settings}, sort_keys=True)
    if canonical in _warmed:
        return
    _warmed.add(canonical)

    def load() -> None:
        fresh = f"These words are new, {os.getpid()} {time.time()}."  # known ones would need no model
        sentences = ("There are two sentences to try it with.", fresh)
        query = Query("Models are tried.", sentences, ("abstract",) * 2, ("Abstract",) * 2, "all", 1)
        with suppress(EvidenceBenchError):  # whoever asks it is told
            make_retriever(retriever, dict(settings)).retrieve(query)

    threading.Thread(target=load, name="warm", daemon=True).start()
