"""Sets of questions, runs over them and their scores, cached (see `components.app.resources`)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

import streamlit as st

from components.app import resources
from components.app.resources import Keys
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
from evidencebench_core.runs import ChatRuns


def _answers_of(sha256: str, *models: str) -> tuple[object, ...]:
    """A key that changes with models' answers to a set, judges' labels of them and of pairs, and reviews."""
    runs = [one for one in ChatRuns(resources.store()).runs("reliability") if one.n_answered + one.n_failed]
    own = {one.id for one in runs if one.subject == sha256 and one.settings["model"] in models}
    wanted = (one for one in runs if one.id in own or one.subject in own or one.settings["task"] == "judge")
    counts = ((one.id, one.n_answered, one.n_failed) for one in wanted)
    return (*counts, decisions_about(resources.store(), sha256))


_ITEM_SET_KEYS: Final[Keys] = {ItemSetInfo: lambda info: (info.name, info.sha256)}

_RELIABILITY_KEYS: Final[Keys] = {
    ReliabilityRun: lambda run: (run.id, _answers_of(run.items_sha256, run.model))
}


def item_sets() -> tuple[ItemSetInfo, ...]:
    """The store's sets of questions; not cached, they change."""
    return stored_item_sets(resources.store())


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=_ITEM_SET_KEYS)
def item_set(info: ItemSetInfo) -> ItemSet:
    """A set with its items."""
    return stored_item_set(resources.store(), info.name)


def problems(info: ItemSetInfo) -> Mapping[str, str]:
    """Why each task cannot be run on a set as it is, by task name; "" where it can."""
    drafts = ItemDrafts(resources.store(), info.name)
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


def runs(info: ItemSetInfo) -> tuple[ReliabilityRun, ...]:
    """The runs over a set; not cached, they change."""
    return stored_reliability_runs(resources.store(), info.name)


def card(info: ItemSetInfo, model: str, as_published: bool) -> Card:
    """Every test of a model on a set, by the answers so far."""
    return _card(info, model, as_published, _answers_of(info.sha256, model))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_ITEM_SET_KEYS)
def _card(info: ItemSetInfo, model: str, as_published: bool, answers: tuple[object, ...]) -> Card:
    return model_card(resources.store(), info.name, model, as_published)


def pairs(info: ItemSetInfo, a: str, b: str, as_published: bool) -> tuple[ComparisonRow, ...]:
    """Two models on a set, test by test, by the answers so far."""
    return _pairs(info, a, b, as_published, _answers_of(info.sha256, a, b))


@st.cache_resource(max_entries=16, show_spinner="Comparing …", hash_funcs=_ITEM_SET_KEYS)
def _pairs(
    info: ItemSetInfo, a: str, b: str, as_published: bool, answers: tuple[object, ...]
) -> tuple[ComparisonRow, ...]:
    return compare_models(resources.store(), info.name, a, b, as_published)


@st.cache_resource(max_entries=16, show_spinner="Scoring …", hash_funcs=_RELIABILITY_KEYS)
def score(run: ReliabilityRun) -> TaskScore:
    """The score of what a run has answered so far."""
    return score_reliability(resources.store(), run.id)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_RELIABILITY_KEYS)
def texts(run: ReliabilityRun) -> Mapping[str, str]:
    """The model's own words by probe id, or in one line why none came."""
    results = results_of(resources.store(), run)
    return MappingProxyType(
        {
            one: of if isinstance(of, str) else str(of["text"] or of.get("refusal") or "")
            for one, of in results.items()
        }
    )
