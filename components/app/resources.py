"""Resources that sessions share: the only place that caches.

Everything cached here is frozen, so that one session cannot change what another sees, and every cache has a
bound. What a dataset, a run or a question is to a cache, `_KEYS` says: a dataset's content hash, the number
of answers in a run, the digest of a trained model. So nothing stale is ever shown.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from components.app.choices import Choice
from components.app.jobs import JobBoard
from components.app.reading import Reading
from components.paper.opened import OF_DATASET, OpenPaper, OpenPapers, of_instance, of_kept, of_samples
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.buckets import buckets_of
from evidencebench_core.analyses.causes import Thresholds, with_causes
from evidencebench_core.analyses.conditions import dataset_slices, recalls_of
from evidencebench_core.analyses.missed import aspect_outcomes
from evidencebench_core.analyses.missed_report import SHARED_COLUMNS, Binning
from evidencebench_core.analyses.missed_report import missed_shares as shares_of_missed
from evidencebench_core.analyses.missed_text import with_text
from evidencebench_core.analyses.needle import Part, part_places
from evidencebench_core.analyses.sample import ingest_sample
from evidencebench_core.analyses.slices import Slices
from evidencebench_core.analyses.systems import Systems, systems_of_runs
from evidencebench_core.analyses.wording import WORDING_VARIANTS
from evidencebench_core.answers.agreement import JudgeAgreement, human_units
from evidencebench_core.answers.agreement import judge_agreement as agreement_of
from evidencebench_core.answers.correctness import Correctness, correctness, said_in
from evidencebench_core.answers.differences import system_differences
from evidencebench_core.answers.disagreements import LabelPair, label_pairs
from evidencebench_core.answers.judged import judge_labels as labels_of_judge
from evidencebench_core.answers.judged import scale_of, tokens_of
from evidencebench_core.answers.judging import nearest
from evidencebench_core.answers.matching import Matcher
from evidencebench_core.answers.model import AnswerSet, Precedence
from evidencebench_core.answers.nugget_scores import NuggetMatrix, NuggetScores
from evidencebench_core.answers.nugget_scores import nugget_scores as scores_by_nuggets
from evidencebench_core.answers.nuggets import Nuggets
from evidencebench_core.answers.set_judging import listed_nuggets as nuggets_of_run
from evidencebench_core.answers.set_judging import said_support
from evidencebench_core.answers.store import AnswerSetInfo, stored_answers
from evidencebench_core.answers.systems import SystemScores, judged_labels, ranking
from evidencebench_core.answers.systems import system_scores as scores_of_systems
from evidencebench_core.construction import Harvest, harvest
from evidencebench_core.data import DatasetInfo, Filter, Instance, Store, open_store
from evidencebench_core.data.hits import Hit
from evidencebench_core.data.hits import sentence_hits as find_hits
from evidencebench_core.data.model import Focus
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, UnknownNameError
from evidencebench_core.papers import DEFAULT_LIMITS, Limits, PageImage
from evidencebench_core.papers import page_image as drawn_page
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.citations import citing_article
from evidencebench_core.papers.own import OwnPaper, OwnPapers
from evidencebench_core.perturb import Wording, added_wordings, hypothesis_variants
from evidencebench_core.reliability.card import Card, ComparisonRow, compare_models, model_card
from evidencebench_core.reliability.card import run_score as score_reliability
from evidencebench_core.reliability.drafts import ItemDrafts, decisions_about, wordings_digest
from evidencebench_core.reliability.items import ItemSet, ItemSetInfo, ItemWordings
from evidencebench_core.reliability.items import item_set as stored_item_set
from evidencebench_core.reliability.items import item_sets as stored_item_sets
from evidencebench_core.reliability.probes import problem_of as task_problem
from evidencebench_core.reliability.runs import ReliabilityRun, results_of
from evidencebench_core.reliability.runs import reliability_runs as stored_reliability_runs
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    make_retriever,
    retriever_entries,
    retriever_entry,
)
from evidencebench_core.runs import ChatRunInfo, ChatRuns, PaperPicks, RunInfo, RunStore, Variant, score_run
from evidencebench_core.runs.notes import Note, NoteStore
from evidencebench_core.stats import RankCorrelation
from evidencebench_core.tasks import Score, score, task_named
from evidencebench_core.words import WARNING

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from evidencebench_core.retrievers.ranker.weighing import Weighing

SAMPLE: Final = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"
_MIB: Final = 1024 * 1024
_LOOKED_AT: Final = 2000  # instances among which the first papers of a dataset are looked for
Corrections = tuple[tuple[str, str], ...]  # units of a judge, and what a person says instead
_MOST_ACROSS: Final = 16
_FIRST_PAGE: Final = 2.0  # seconds that are left to the first page


def _dataset_key(dataset: DatasetInfo) -> object:
    return dataset.name, dataset.version


def _run_key(run: RunInfo) -> object:
    content = store().dataset(run.dataset).version
    return (
        run.id,
        run.label,
        run.created_at,
        sorted(run.tasks.items()),
        run.n_failed,
        run.n_trained_on,
        content,
    )


def _key_with_other_runs(run: RunInfo) -> object:
    """For what is made of every run over a run's dataset."""
    return run.id, [_run_key(other) for other in RunStore(store()).runs(run.dataset)]


def _key_with_wordings(dataset: DatasetInfo) -> object:
    """For what changes when a wording is added to a dataset."""
    with store().read() as db:
        newest = db.execute(
            "SELECT count(*), max(added_at) FROM hypothesis_variants WHERE dataset_id = ?", (dataset.id,)
        ).fetchone()
    return dataset.name, dataset.version, tuple(newest)


def _key_with_notes(dataset: DatasetInfo) -> object:
    """For what changes when a note is added to a dataset, or goes with its run."""
    with store().read() as db:
        newest = db.execute(
            "SELECT count(*), max(id) FROM notes WHERE dataset_id = ?", (dataset.id,)
        ).fetchone()
    return dataset.name, dataset.version, tuple(newest)


def _filter_key(wanted: Filter) -> object:
    ranges = sorted(wanted.ranges.items())
    return wanted.hypothesis, wanted.sentences, ranges, wanted.sort, wanted.descending


_Keys = dict[str | type[Any], Callable[[Any], object]]
_KEYS: Final[_Keys] = {
    DatasetInfo: _dataset_key,
    RunInfo: _run_key,
    Filter: _filter_key,
    Reading: lambda reading: reading.key,
    Choice: lambda choice: choice.key,
    OwnPaper: repr,
    AnswerSetInfo: lambda info: info.sha256,
    ChatRunInfo: lambda run: (run.id, run.n_answered, run.n_failed),
    OpenPaper: lambda opened: opened.ref,
}
_KEYS_WITH_OTHER_RUNS: Final[_Keys] = {**_KEYS, RunInfo: _key_with_other_runs, np.ndarray: np.ndarray.tobytes}
_KEYS_WITH_WORDINGS: Final = {**_KEYS, DatasetInfo: _key_with_wordings}
_KEYS_WITH_NOTES: Final = {**_KEYS, DatasetInfo: _key_with_notes}


@st.cache_resource
def store() -> Store:
    """The store of this server (``EVIDENCEBENCH_STORE``, or the user's data folder).

    ``EVIDENCEBENCH_SAMPLE``, set by ``evidencebench app --sample``, brings the sample's runs into it behind the first
    page.
    """
    threading.Thread(target=_prepare, daemon=True).start()
    # Walking over what is cached by default takes a quarter of the time of a page on 100,000 instances.
    gc.set_threshold(20_000, 10, 10)
    opened = open_store()
    if os.environ.get("EVIDENCEBENCH_SAMPLE") and not opened.is_read_only:
        threading.Thread(target=ingest_sample, args=(opened, SAMPLE), name="sample", daemon=True).start()
    return opened


@cache
def _prepare() -> None:
    """What would otherwise be paid for in clicks."""
    import_module("scipy.optimize")  # the solver behind the optimal selections: a quarter of a second
    gc.freeze()  # after every run Streamlit has the collector walk over everything: not over modules
    time.sleep(_FIRST_PAGE)
    import_module(
        "plotly.subplots"
    ).make_subplots().add_scatter().to_json()  # the first chart takes 0.2 s more
    gc.freeze()


@st.cache_resource
def jobs() -> JobBoard:
    """The long work of this server."""
    return JobBoard()


@st.cache_resource
def asked_servers() -> list[str]:
    """Addresses of the servers that were asked, the last one at the end."""
    return []


@st.cache_resource
def weighings() -> dict[tuple[str, str, Focus], Weighing]:
    """Weights of a trained model's features, where they were measured: by digest, the dataset's hash and focus."""
    return {}


# -- datasets and their instances --------------------------------------------------------------------


def named_dataset(name: str) -> DatasetInfo:
    """A dataset of the store, the first where ``name`` is empty; ``UnknownNameError`` where there is none."""
    if name:
        return store().dataset(name)
    datasets = store().datasets()
    if not datasets:
        raise UnknownNameError("store", "holds no dataset", "Add one on the Home page.")
    return datasets[0]


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def instance(dataset: DatasetInfo, instance_id: str) -> Instance:
    """An instance; ``UnknownNameError`` where the dataset has none of that id."""
    return store().get(dataset.name, instance_id)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_KEYS)
def matching(dataset: DatasetInfo, wanted: Filter) -> tuple[str, ...]:
    """The ids that a filter leaves, in its order."""
    return store().matching(dataset.name, wanted)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS)
def ids(dataset: DatasetInfo) -> NDArray[np.object_]:
    """The ids of all instances, in the order of the file."""
    names = np.array(store().gold(dataset.name).ids, dtype=object)
    names.setflags(write=False)
    return names


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS)
def row_numbers(dataset: DatasetInfo) -> Mapping[str, int]:
    """The place of every instance in `ids`."""
    return MappingProxyType({name: row for row, name in enumerate(ids(dataset))})


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_KEYS)
def matching_rows(dataset: DatasetInfo, wanted: Filter) -> NDArray[np.intp]:
    """The `row_numbers` of `matching`."""
    numbers = row_numbers(dataset)
    return np.array([numbers[name] for name in matching(dataset, wanted)], dtype=np.intp)


@st.cache_resource(max_entries=8, show_spinner="Reading the slices …", hash_funcs=_KEYS)
def slices(dataset: DatasetInfo) -> tuple[Mapping[str, Slices], tuple[str, ...]]:
    """The slices of a whole dataset by family, over `ids`, and which were left out and why."""
    return dataset_slices(store(), dataset.name)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS_WITH_NOTES)
def notes(dataset: DatasetInfo) -> Mapping[str, tuple[Note, ...]]:
    """The notes on a dataset, on misses too, by instance id: of each author the newest on each thing."""
    by_instance: dict[str, tuple[Note, ...]] = {}
    for note in NoteStore(store()).notes_on(dataset.name):
        by_instance[note.instance_id] = (*by_instance.get(note.instance_id, ()), note)
    return MappingProxyType(by_instance)


def hypotheses(dataset: DatasetInfo, ids: Iterable[str]) -> dict[str, str]:
    """By instance id, of those that the dataset has."""
    return {row.id: row.hypothesis for row in store().rows(dataset.name, dict.fromkeys(ids))}


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_KEYS)
def sentence_hits(dataset: DatasetInfo, ids: tuple[str, ...], words: str) -> dict[str, Hit]:
    """Where a search for sentences is met, by instance id."""
    papers = {paper.id: paper.sentences for paper in store().get_many(dataset.name, ids)} if words else {}
    return find_hits(papers, words)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def largest(dataset: DatasetInfo, column: str) -> int:
    """The largest value of a column of counts, at least 1."""
    return store().largest(dataset.name, column) or 1


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS_WITH_WORDINGS)
def wordings(dataset: DatasetInfo) -> dict[str, dict[str, str]]:
    """Other wordings of the hypotheses, from the data and from files, by variant and instance id."""
    return hypothesis_variants(store(), dataset.name)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS_WITH_WORDINGS)
def wording_origins(dataset: DatasetInfo) -> dict[str, dict[str, Wording]]:
    """Where those of `wordings` are from that did not come with the data."""
    return added_wordings(store(), dataset.name)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_KEYS_WITH_WORDINGS)
def wording_variants(dataset: DatasetInfo, question: str) -> tuple[Variant, ...]:
    """The variants behind a question of the page Wording."""
    return WORDING_VARIANTS[question](store(), dataset.name)


# -- retrievers, asked live --------------------------------------------------------------------------


def problem_of(run: RunInfo) -> str:
    """Why a run's retriever can be asked nothing more (it was cross-validated, say, or is not installed), or ""."""
    try:
        if not retriever_entry(run.retriever).sees_gold:
            make_retriever(run.retriever, run.settings)
    except EvidenceBenchError as error:
        return str(error)
    return ""


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_KEYS)
def _retriever(choice: Choice) -> Retriever:
    return make_retriever(choice.name, choice.settings)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=_KEYS)
def retrieval(reading: Reading, choice: Choice) -> Retrieval:
    """Picks of a retriever, right now.

    ``RetrieverError`` for one that asks a server: it may cost, so it is asked on a click (`models.asking`).
    """
    entry = retriever_entries()[choice.name]
    if entry.asks_server:
        raise RetrieverError(
            f"retriever {choice.name}", "is not asked by itself", "Ask it on the page Browse."
        )
    if entry.sees_gold and reading.dataset is not None:
        retriever = make_retriever(choice.name, choice.settings, evidence=reading.instance.evidence)
    else:
        retriever = _retriever(choice)
    return retriever.retrieve(reading.query())


def stored_retrieval(reading: Reading, run: RunInfo) -> Retrieval | None:
    """What a run has answered to this reading; ``None`` where it was asked for another hypothesis, or not at all."""
    if reading.hypothesis != reading.instance.hypothesis:
        return None
    return RunStore(store()).retrieval(run.id, reading.task.name, reading.instance.id)


_warmed: set[str] = set()


def warm(choice: Choice) -> None:
    """Load a retriever's model in the background, once: it is ready when the paper is."""
    if choice.label in _warmed:
        return
    _warmed.add(choice.label)

    def load() -> None:
        fresh = f"These words are new, {os.getpid()} {time.time()}."  # known ones would need no model
        sentences = ("There are two sentences to try it with.", fresh)
        query = Query("Models are tried.", sentences, ("abstract",) * 2, ("Abstract",) * 2, "all", 1)
        with suppress(EvidenceBenchError):  # the one who asks it gets the error
            make_retriever(choice.name, choice.settings).retrieve(query)
        gc.freeze()  # as in `_prepare`: a model's libraries are many modules

    threading.Thread(target=load, name="warm", daemon=True).start()


# -- runs and what is computed of them ---------------------------------------------------------------


def runs(dataset: DatasetInfo) -> tuple[RunInfo, ...]:
    """The store's runs over a dataset; not cached, they change."""
    return tuple(map(_marked, RunStore(store()).runs(dataset.name)))


def answer_runs(subject: str) -> tuple[ChatRunInfo, ...]:
    """Runs in which a model answers a dataset's hypotheses, or judges such a run; not cached, they change."""
    tasks = ("cited-answer", "citations")
    return tuple(one for one in ChatRuns(store()).runs("answers", subject) if one.settings["task"] in tasks)


def run(run_id: str) -> RunInfo:
    """The run of this id; ``UnknownNameError`` where there is none."""
    return _marked(RunStore(store()).run(run_id))


def _marked(run: RunInfo) -> RunInfo:
    """The run; where its model has learnt from instances that it is scored on, its label says so."""
    if not run.n_trained_on:
        return run
    return replace(run, label=f"{run.label} {WARNING} trained on {run.n_trained_on:,} of these")


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=_KEYS)
def run_score(run: RunInfo, task: str, missing: Literal["report", "zero"] = "report") -> Score:
    """The score of what a run has answered so far."""
    return score_run(store(), run.id, task_named(task), missing=missing)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def recalls(dataset: DatasetInfo, run: RunInfo, task: str) -> NDArray[np.float64]:
    """The recalls of `run_score` over `ids`; NaN where an instance has none."""
    return recalls_of(run_score(run, task), ids(dataset))


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_KEYS)
def bounds(dataset: DatasetInfo, task: str) -> Score:
    """Ceiling and random expectation over every instance of a dataset that a task can score."""
    return score(task_named(task), store().gold(dataset.name), {}, missing="zero")


@st.cache_resource(max_entries=9, show_spinner=False, hash_funcs=_KEYS_WITH_OTHER_RUNS)
def missed_outcomes(run: RunInfo, task: str, limits: str | None) -> pd.DataFrame:
    """The aspects that a run found or missed, beside other runs; nobody may change the frame.

    With the papers' words where ``limits`` is a text, and with causes where it is not empty.
    """
    if limits is None:
        return aspect_outcomes(store(), run.id, task)
    if not limits:
        return with_text(store(), missed_outcomes(run, task, None))
    return with_causes(missed_outcomes(run, task, ""), Thresholds.from_text(limits))


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS_WITH_OTHER_RUNS)
def missed_share(
    run: RunInfo,
    task: str,
    limits: str | None,
    by: Binning,
    left: NDArray[np.bool_],
    missed: NDArray[np.bool_],
) -> pd.DataFrame:
    """Missed shares of a run by bin, with intervals, of the aspects ``left``; nobody may change the frame."""
    outcomes = missed_outcomes(run, task, limits)
    columns = [name for name in SHARED_COLUMNS if name in outcomes]
    return shares_of_missed(outcomes.loc[left, columns].assign(missed=missed[left]), by)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS)
def aspects(dataset: DatasetInfo, task: str) -> AspectTable:
    """The gold of a task as arrays."""
    return aspect_table(store(), dataset.name, task_named(task))


@st.cache_resource(max_entries=8, show_spinner="Counting tokens …", hash_funcs=_KEYS)
def buckets(dataset: DatasetInfo, task: str, n_buckets: int, by: str) -> NDArray[np.uint8]:
    """The bucket of every place of `aspects`."""
    table = aspects(dataset, task)
    places = buckets_of(store(), dataset.name, table, n_buckets, by)
    places.setflags(write=False)
    return places


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def picks(dataset: DatasetInfo, run: RunInfo, task: str) -> RunPicks:
    """Where a run looked and what it found, in the rows of `aspects`."""
    return run_picks(aspects(dataset, task), RunStore(store()).packed_selections(run.id, task))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS)
def in_part(dataset: DatasetInfo, task: str, part: Part) -> NDArray[np.bool_]:
    """Whether the sentence at each place of `aspects` belongs to a part of its paper."""
    return part_places(store(), dataset.name, aspects(dataset, task), (part,))[part]


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_KEYS)
def systems(runs: tuple[RunInfo, ...], task: str) -> Systems:
    """Recalls of runs over one dataset, on the instances that all have answered."""
    return systems_of_runs(store(), runs, task_named(task))


@st.cache_data(max_entries=64, show_spinner=False)
def report(name: str, key: tuple[object, ...], _make: Callable[[], Report]) -> Report:
    """The report of ``_make``, cached under a name and a key, which must hold all that it depends on.

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


# -- reliability of language models ------------------------------------------------------------------


def _answers_of(sha256: str, *models: str) -> tuple[object, ...]:
    """What changes with the answers of models to a set, the judges' of them and of pairs, and reviews of wordings."""
    runs = [one for one in ChatRuns(store()).runs("reliability") if one.n_answered + one.n_failed]
    own = {one.id for one in runs if one.subject == sha256 and one.settings["model"] in models}
    wanted = (one for one in runs if one.id in own or one.subject in own or one.settings["task"] == "judge")
    counts = ((one.id, one.n_answered, one.n_failed) for one in wanted)
    return (*counts, decisions_about(store(), sha256))


_ITEM_SET_KEYS: Final[_Keys] = {ItemSetInfo: lambda info: (info.name, info.sha256)}
_RELIABILITY_KEYS: Final[_Keys] = {
    ReliabilityRun: lambda run: (run.id, _answers_of(run.items_sha256, run.model))
}


def item_sets() -> tuple[ItemSetInfo, ...]:
    """The store's sets of questions; not cached, they change."""
    return stored_item_sets(store())


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=_ITEM_SET_KEYS)
def item_set(info: ItemSetInfo) -> ItemSet:
    """A set with its items."""
    return stored_item_set(store(), info.name)


def reliability_problems(info: ItemSetInfo) -> Mapping[str, str]:
    """Why each task cannot be run on a set as it is, by task name; "" where it can."""
    drafts = ItemDrafts(store(), info.name)
    wordings: ItemWordings = {}
    if info.kind == "questions":
        by_item = [drafts.wordings(kind) for kind in ("paraphrase", "negation")]
        wordings = {
            one: tuple(chain.from_iterable(of.get(one, ()) for of in by_item))
            for one in set().union(*by_item)
        }
    return _problems(info, wordings_digest(wordings) if wordings else "", wordings)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_ITEM_SET_KEYS)
def _problems(info: ItemSetInfo, digest: str, _wordings: ItemWordings) -> Mapping[str, str]:
    items = item_set(info)
    return {name: task_problem(items, task, wordings=_wordings) for name, task in RELIABILITY_TASKS.items()}


def reliability_runs(info: ItemSetInfo) -> tuple[ReliabilityRun, ...]:
    """The runs over a set; not cached, they change."""
    return stored_reliability_runs(store(), info.name)


def reliability_card(info: ItemSetInfo, model: str, as_published: bool) -> Card:
    """Every test of a model on a set, by the answers so far."""
    return _card(info, model, as_published, _answers_of(info.sha256, model))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_ITEM_SET_KEYS)
def _card(info: ItemSetInfo, model: str, as_published: bool, answers: tuple[object, ...]) -> Card:
    return model_card(store(), info.name, model, as_published)


def reliability_pairs(info: ItemSetInfo, a: str, b: str, as_published: bool) -> tuple[ComparisonRow, ...]:
    """Two models on a set, test by test, by the answers so far."""
    return _pairs(info, a, b, as_published, _answers_of(info.sha256, a, b))


@st.cache_resource(max_entries=16, show_spinner="Comparing …", hash_funcs=_ITEM_SET_KEYS)
def _pairs(
    info: ItemSetInfo, a: str, b: str, as_published: bool, answers: tuple[object, ...]
) -> tuple[ComparisonRow, ...]:
    return compare_models(store(), info.name, a, b, as_published)


@st.cache_resource(max_entries=16, show_spinner="Scoring …", hash_funcs=_RELIABILITY_KEYS)
def reliability_score(run: ReliabilityRun) -> TaskScore:
    """The score of what a run has answered so far."""
    return score_reliability(store(), run.id)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_RELIABILITY_KEYS)
def reliability_texts(run: ReliabilityRun) -> Mapping[str, str]:
    """The model's own words by probe id, or in one line why none came."""
    results = results_of(store(), run)
    return MappingProxyType(
        {
            one: of if isinstance(of, str) else str(of["text"] or of.get("refusal") or "")
            for one, of in results.items()
        }
    )


# -- papers that readers bring -----------------------------------------------------------------------


def paper_limits() -> Limits:
    """Limits of reading a paper; ``EVIDENCEBENCH_PAPER_MIB`` sets the largest file in MiB."""
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
    return MappingProxyType(of_samples(SAMPLE))


@st.cache_resource(max_entries=4, show_spinner="Reading the papers …", hash_funcs=_KEYS)
def dataset_papers(dataset: DatasetInfo, limit: int) -> tuple[OpenPaper, ...]:
    """The first papers of a dataset, each once, with their instances' hypotheses and without gold."""
    ids: dict[str, str] = {}
    for row in store().rows(dataset.name, store().ids(dataset.name, _LOOKED_AT)):
        ids.setdefault(row.paper_id, row.id)
    found = store().get_many(dataset.name, list(ids.values())[:limit])
    return tuple(_of_dataset(dataset, instance) for instance in found)


def dataset_paper(ref: str) -> OpenPaper | None:
    """The paper that the ref of one of `dataset_papers` names; ``None`` where it is not in the store any more."""
    number, _, instance_id = ref.removeprefix(OF_DATASET).partition(":")
    dataset = next((info for info in store().datasets() if str(info.id) == number), None)
    if dataset is None or instance_id not in hypotheses(dataset, [instance_id]):
        return None
    return _of_dataset(dataset, instance(dataset, instance_id))


def _of_dataset(dataset: DatasetInfo, found: Instance) -> OpenPaper:
    ref = f"{OF_DATASET}{dataset.id}:{found.id}"
    return of_instance(ref, found, f"{found.paper_id} of {dataset.name}")


class AnswersAcross:
    """What was found in several papers, by a digest of the question; the oldest make room."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[PaperPicks, ...]] = {}

    def put(self, key: str, found: tuple[PaperPicks, ...]) -> None:
        self._found[key] = found
        for old in list(self._found)[:-_MOST_ACROSS]:
            del self._found[old]

    def get(self, key: str) -> tuple[PaperPicks, ...] | None:
        return self._found.get(key)


@st.cache_resource
def answers_across() -> AnswersAcross:
    """Answers over several papers."""
    return AnswersAcross()


def own_papers() -> OwnPapers:
    """The kept papers of the store."""
    return OwnPapers(store())


def paper_annotations() -> Annotations:
    """People's marks in papers."""
    return Annotations(store())


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=_KEYS)
def own_paper(own: OwnPaper) -> OpenPaper:
    """A kept paper with its text."""
    return of_kept(own, own_papers().paper(own.id))


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def page_image(opened: OpenPaper, page: int, scale: float) -> PageImage:
    """A page of a paper that has pages, from 1; a file that is not the paper's is never looked at."""
    content = opened.pdf or own_papers().pdf(int(opened.ref))
    return drawn_page(content, page, scale, opened.name, paper_limits())


@st.cache_resource(max_entries=4, show_spinner="Reading the review …")
def review_citations(content: bytes, name: str) -> Harvest:
    """What a review's file says of the papers that it cites."""
    return harvest(citing_article(content, name))


# -- answers with citations -------------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner="Reading the answers …", hash_funcs=_KEYS)
def answer_set(info: AnswerSetInfo) -> AnswerSet:
    """A set of answers with its documents and labels."""
    return stored_answers(store(), info.name)


@st.cache_resource(max_entries=8, show_spinner="Scoring the systems …", hash_funcs=_KEYS)
def system_scores(info: AnswerSetInfo, official: bool = False) -> SystemScores:
    """The systems of a set by the labels of people, with intervals; ``official``: a share of nothing is 0."""
    return scores_of_systems(answer_set(info), official=official, rng=np.random.default_rng(0))


@st.cache_resource(max_entries=16, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def judge_labels(
    run: ChatRunInfo, corrections: Corrections = (), threshold: float | None = None
) -> Mapping[str, str | None]:
    """A judge's labels by unit, with people's corrections; of one that gives scores by another threshold."""
    return MappingProxyType(labels_of_judge(store(), run, corrections, threshold))


@st.cache_resource(max_entries=16, show_spinner="Comparing the labels …", hash_funcs=_KEYS)
def judge_agreement(
    info: AnswerSetInfo,
    run: ChatRunInfo,
    corrections: Corrections = (),
    precedence: Precedence = "support-first",
    unparsed: Literal["wrong", "leave_out"] = "wrong",
    threshold: float | None = None,
) -> JudgeAgreement:
    """A judge's labels against those of people, as far as both are there."""
    answers, labels = answer_set(info), judge_labels(run, corrections, threshold)
    rng = np.random.default_rng(0)
    return agreement_of(answers, labels, scale_of(run), precedence=precedence, unparsed=unparsed, rng=rng)


@st.cache_resource(max_entries=16, show_spinner="Scoring the systems …", hash_funcs=_KEYS)
def judged_scores(info: AnswerSetInfo, run: ChatRunInfo, corrections: Corrections = ()) -> SystemScores:
    """The systems of a set by a judge's labels, with intervals."""
    answers, labels = answer_set(info), judge_labels(run, corrections)
    judged = judged_labels(answers, **{run.settings["task"]: labels})
    return scores_of_systems(answers, judged, rng=np.random.default_rng(0))


def scores_by(info: AnswerSetInfo, run: ChatRunInfo | None, corrections: Corrections = ()) -> SystemScores:
    """The systems of a set by the labels of people, or of a judge."""
    return system_scores(info) if run is None else judged_scores(info, run, corrections)


@st.cache_resource(max_entries=16, show_spinner="Comparing the systems …", hash_funcs=_KEYS)
def differences_of_systems(
    info: AnswerSetInfo, metric: str, run: ChatRunInfo | None = None, corrections: Corrections = ()
) -> pd.DataFrame:
    """Every pair of systems by a metric, from people's labels or a judge's."""
    return system_differences(scores_by(info, run, corrections), metric, np.random.default_rng(0))


@st.cache_resource(max_entries=64, show_spinner="Ranking the systems …", hash_funcs=_KEYS)
def rank_correlation(
    info: AnswerSetInfo, metric: str, other: str, run: ChatRunInfo | None, corrections: Corrections = ()
) -> RankCorrelation:
    """The systems by a metric from people's labels against another metric from people's labels, or a judge's."""
    scores = system_scores(info), scores_by(info, run, corrections)
    return ranking(*scores, metric, other, np.random.default_rng(0), 2_000)


@st.cache_resource(max_entries=16, show_spinner="Comparing the labels …", hash_funcs=_KEYS)
def judged_pairs(
    info: AnswerSetInfo, run: ChatRunInfo, corrections: Corrections = ()
) -> tuple[LabelPair, ...]:
    """Unit by unit what people and a judge said, the worst disagreement first."""
    form = scale_of(run)
    return label_pairs(human_units(answer_set(info), form), judge_labels(run, corrections), form)


@st.cache_resource(max_entries=16, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def judged_correctness(info: AnswerSetInfo, run: ChatRunInfo) -> Mapping[str, Correctness]:
    """By system the share of sentences that a judge found correct."""
    return MappingProxyType(correctness(answer_set(info), said_in(store(), run)))


@st.cache_resource(max_entries=16, show_spinner="Adding up the calls …", hash_funcs=_KEYS)
def judge_tokens(run: ChatRunInfo) -> tuple[int, int]:
    """Tokens of the prompts and of the answers of a judge's run."""
    return tokens_of(store(), run)


@st.cache_resource(max_entries=512, show_spinner=False)
def closest_sentence(claim: str, sentences: tuple[str, ...]) -> int | None:
    """The place of the sentence that is most similar to a claim; ``None`` where no encoder is at hand."""
    try:
        return nearest(claim, sentences, 1)[0]
    except EvidenceBenchError:
        return None


@st.cache_resource(max_entries=8, show_spinner="Reading the nuggets …", hash_funcs=_KEYS)
def listed_nuggets(run: ChatRunInfo) -> Mapping[str, Nuggets]:
    """By answer id the nuggets that a run lists."""
    return MappingProxyType(nuggets_of_run(store(), run))


@st.cache_resource(max_entries=8, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def nugget_support(run: ChatRunInfo) -> Mapping[str, tuple[str | None, ...]]:
    """By answer id what a judge said of each of the expert's nuggets."""
    return MappingProxyType(said_support(store(), run))


@st.cache_resource(max_entries=128, show_spinner="Comparing the nuggets …", hash_funcs=_KEYS)
def nugget_matrix(
    info: AnswerSetInfo, question_id: str, system: str, run: ChatRunInfo | None = None
) -> NuggetMatrix | None:
    """The nuggets of an answer, its own or those that a run lists, against the gold ones, by their cosines."""
    answers, key = answer_set(info), (question_id, system)
    one = AnswerSet({question_id: answers.questions[question_id]}, {key: answers.answers[key]})
    return scores_by_nuggets(one, listed_nuggets(run) if run else None).matrices.get(key)


@st.cache_resource(max_entries=4, show_spinner="Comparing the nuggets of all answers …", hash_funcs=_KEYS)
def nugget_scores(info: AnswerSetInfo, matcher: Matcher, run: ChatRunInfo | None = None) -> NuggetScores:
    """Every answer of a set by its nuggets, its own or those that a run lists; matched at any threshold (`at`)."""
    listed = listed_nuggets(run) if run else None
    return scores_by_nuggets(answer_set(info), listed, matcher=matcher, threshold=0.0)


@st.cache_resource(max_entries=4, show_spinner="Drawing the thresholds …", hash_funcs=_KEYS)
def nugget_curve(info: AnswerSetInfo, matcher: Matcher, run: ChatRunInfo | None = None) -> pd.DataFrame:
    """Recall, precision and similarity of all answers over the threshold."""
    return pd.DataFrame(nugget_scores(info, matcher, run).curve())
