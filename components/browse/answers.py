"""An instance as it is read, with a hypothesis that may be edited, and the systems that read it: runs or retrievers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import resources
from components.asking import Question, answers_or_button, stored_answers
from components.markdown import literal
from components.ranker import has_seen
from components.resources import cached
from components.retrievers import MOST_CHOICES, Choice, choice_of
from components.run_links import run_name
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError
from evidencebench_core.retrievers import (
    ELSEWHERE,
    RETRIEVERS,
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    make_retriever,
    query_of,
)
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

_ENCODING: Final = ("dense", "hybrid", "structure", "evidence-ranker")  # what takes its time


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper, the hypothesis that it is searched for, and the task, which says how many may be picked."""

    dataset: DatasetInfo
    instance: Instance
    hypothesis: str
    task: Task

    @property
    def cache_key(self) -> tuple[str, str, str, str]:
        """Tells it from other readings, whatever its paper is called."""
        return (self.dataset.stamp, self.instance.id, self.task.name, self.hypothesis)

    def query(self) -> Query:
        """The question to retrievers; the gold stays behind."""
        budget = self.task.budget_for(self.instance.evidence)
        return query_of(self.instance, self.task.focus, budget, self.hypothesis)


@dataclass(frozen=True, slots=True)
class System:
    """A retriever to be asked, or a run of it to be looked up."""

    choice: Choice
    run: RunInfo | None = None

    @property
    def label(self) -> str:
        return run_name(self.run) if self.run else self.choice.label


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system picked; its ``run`` is ``None`` where the run had no answer and its retriever was asked."""

    system: System
    retrieval: Retrieval
    letter: str = ""  # where several systems are read side by side

    @property
    def label(self) -> str:
        return self.system.label

    @property
    def name(self) -> str:
        """``A bm25``."""
        return f"{self.letter} {self.label}".strip()


def systems_of(runs: Sequence[RunInfo], live: Sequence[Choice]) -> tuple[list[System], list[System]]:
    """The systems that are read side by side, runs first, and the runs for which live retrievers leave no room."""
    of_runs = [System(Choice(run.retriever, run.settings), run) for run in runs]
    asked = [System(choice) for choice in live or ([] if runs else [Choice("bm25")])]
    n_runs = MOST_CHOICES - len(asked)
    return [*of_runs[:n_runs], *asked], of_runs[n_runs:]


def answers_to(reading: Reading, systems: Sequence[System]) -> tuple[list[Answer], list[Choice]]:
    """What the systems picked, and the retrievers that are still to read the paper.

    A system that fails, or that waits for a click, is said and left out.
    """
    answers: list[Answer] = []
    waiting: list[Choice] = []
    for system in systems:
        try:
            answer = _answer(reading, system)
            if isinstance(answer, Choice):
                waiting.append(answer)
            elif answer is not None and answer.system not in [other.system for other in answers]:
                answers.append(answer)
                _warn_if_seen(reading, answer.system)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
    if len(answers) < 2:
        return answers, waiting
    return [replace(answer, letter=letter) for letter, answer in zip("ABC", answers, strict=False)], waiting


def read_now(reading: Reading, waiting: Sequence[Choice], place: DeltaGenerator) -> bool:
    """Let the waiting retrievers read the paper, which may take a while; whether any has answered."""
    n_read = 0
    with place:
        for choice in waiting:
            try:
                with st.spinner(f"{choice.name} reads the paper …", show_time=True):
                    retrieval(reading, choice)
                n_read += 1
            except EvidenceBenchError as error:
                st.error(literal(str(error)))
    return n_read > 0


def answer_at_hand(reading: Reading, choice: Choice) -> Retrieval | None:
    """An answer for which no server is asked: stored, or by a retriever that runs here; else ``None``."""
    if choice.name in ELSEWHERE:
        return None
    if RETRIEVERS[choice.name].asks_server:
        (answer,), _ = stored_answers(reading_question(reading, choice))
        return answer
    return retrieval(reading, choice)


def _answer(reading: Reading, system: System) -> Answer | Choice | None:
    """The answer of a run, else of its retriever; who is to be waited for; nothing where nobody can be asked."""
    if system.run and (stored := _of_run(reading, system.run)):
        return Answer(system, stored)
    if system.choice.name in ELSEWHERE:
        st.caption(
            f"{literal(system.label)} has no stored answer to this hypothesis and task, and cannot be asked here."
        )
        return None
    choice = choice_of(system.choice.name, system.choice.settings) if system.run else system.choice
    if RETRIEVERS[choice.name].asks_server:
        (answer,) = answers_or_button(reading_question(reading, choice))
        return Answer(System(choice), answer) if answer else None
    if choice.name in _ENCODING and not _computed(reading, choice):
        return choice
    return Answer(System(choice), retrieval(reading, choice))


def _of_run(reading: Reading, run: RunInfo) -> Retrieval | None:
    """The answer of a run to this reading; ``None`` where it was asked for another hypothesis, or not at all."""
    if reading.hypothesis != reading.instance.hypothesis:
        return None
    return RunStore(resources.store()).retrieval(run, reading.task, reading.instance.id)


def _warn_if_seen(reading: Reading, system: System) -> None:
    choice = system.choice
    entry = RETRIEVERS.get(choice.name)
    if system.run is None and entry is not None and (entry.sees_gold or entry.asks_server):
        return
    if has_seen(reading.dataset, reading.instance, choice.name, choice.settings, system.run):
        st.warning(
            f"**{literal(choice.name)}** was trained on this paper: its picks here show what it remembers, not how "
            "well it does on unseen papers. Its cross-validated run gives the honest figure.",
            icon=":material/warning:",
        )


def reading_question(reading: Reading, choice: Choice) -> Question[Retrieval]:
    about = (reading.cache_key, choice.name, sorted(choice.settings.items(), key=str))
    model = str(choice.settings.get("model") or "")
    if not model:
        return Question(choice.label, model, about, ())
    retriever = make_retriever(choice.name, choice.settings, store=resources.store())
    if not isinstance(retriever, ServedRetriever):
        raise SettingError(f"retriever {choice.name}", "asks no server", "Choose one that does.")
    return Question(choice.label, model, about, [partial(retriever.answer, query=reading.query())])


@cached(entries=16)
def _retriever(choice: Choice) -> Retriever:
    return make_retriever(choice.name, choice.settings)


@cached(entries=512)
def _computed(reading: Reading, choice: Choice) -> dict[str, Retrieval]:
    """Where `retrieval` keeps its answer, so that one can see whether there is one."""
    return {}


def retrieval(reading: Reading, choice: Choice) -> Retrieval:
    """Picks of a retriever, right now.

    ``RetrieverError`` for one that asks a server: it may cost, so it is asked on a click (`components.asking`).
    """
    computed = _computed(reading, choice)
    if "answer" in computed:
        return computed["answer"]
    entry = RETRIEVERS[choice.name]
    if entry.asks_server:
        raise RetrieverError(
            f"retriever {choice.name}", "is not asked by itself", "Ask it on the page Browse."
        )
    if entry.sees_gold:
        retriever = make_retriever(choice.name, choice.settings, gold=reading.instance.evidence)
    else:
        retriever = _retriever(choice)
    computed["answer"] = retriever.retrieve(reading.query())
    return computed["answer"]
