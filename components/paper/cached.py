"""The papers that readers bring, cached (see `components.app.resources`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import streamlit as st

from components.app import resources
from components.app.resources import KEYS, SAMPLE, Keys
from components.paper.opened import OF_DATASET, OpenPaper, OpenPapers, of_instance, of_kept, of_samples
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.papers import DEFAULT_LIMITS, Limits, PageImage
from evidencebench_core.papers import page_image as drawn_page
from evidencebench_core.papers.own import OwnPaper
from evidencebench_core.runs import PaperPicks

_MIB: Final = 1024 * 1024
_LOOKED_AT: Final = 2000  # instances among which the first papers of a dataset are looked for
_MOST_ACROSS: Final = 16
_KEYS: Final[Keys] = {**KEYS, OwnPaper: repr, OpenPaper: lambda opened: opened.ref}


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
    for row in resources.store().rows(dataset.name, resources.store().ids(dataset.name, _LOOKED_AT)):
        ids.setdefault(row.paper_id, row.id)
    found = resources.store().get_many(dataset.name, list(ids.values())[:limit])
    return tuple(_of_dataset(dataset, instance) for instance in found)


def dataset_paper(ref: str) -> OpenPaper | None:
    """The paper that the ref of one of `dataset_papers` names; ``None`` where it is not in the store any more."""
    number, _, instance_id = ref.removeprefix(OF_DATASET).partition(":")
    dataset = next((info for info in resources.store().datasets() if str(info.id) == number), None)
    if dataset is None or instance_id not in resources.hypotheses(dataset, [instance_id]):
        return None
    return _of_dataset(dataset, resources.instance(dataset, instance_id))


def _of_dataset(dataset: DatasetInfo, found: Instance) -> OpenPaper:
    ref = f"{OF_DATASET}{dataset.id}:{found.id}"
    return of_instance(ref, found, f"{found.paper_id} of {dataset.name}")


class AnswersAcross:
    """Picks in several papers, by a digest of the question; the oldest make room."""

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


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=_KEYS)
def own_paper(own: OwnPaper) -> OpenPaper:
    """A kept paper with its text."""
    return of_kept(own, resources.own_papers().paper(own.id))


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def page_image(opened: OpenPaper, page: int, scale: float) -> PageImage:
    """A page of a paper that has pages, from 1; a file that is not the paper's is never looked at."""
    content = opened.pdf or resources.own_papers().pdf(int(opened.ref))
    return drawn_page(content, page, scale, opened.name, paper_limits())
