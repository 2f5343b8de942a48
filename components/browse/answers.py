"""The systems that read an instance: asked, or looked up in a run, each with its letter where there are several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice, choice_of
from components.app.reading import Reading, retrieval
from components.models.asking import answers_or_button, reading_question, stored_answers
from components.models.ranker import has_seen
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers import ELSEWHERE, RETRIEVERS, Retrieval
from evidencebench_core.retrievers.encoding import is_loaded
from evidencebench_core.runs import RunInfo, RunStore

_ENCODING: Final = ("dense", "hybrid", "structure", "evidence-ranker")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system picked; ``choice`` is who was asked, the retriever itself where a run has no answer."""

    choice: Choice
    retrieval: Retrieval
    letter: str = ""  # where several systems are read side by side

    @property
    def label(self) -> str:
        return self.choice.label

    @property
    def name(self) -> str:
        """``A bm25``."""
        return f"{self.letter} {self.label}".strip()


def answers_to(reading: Reading, choices: Sequence[Choice]) -> list[Answer]:
    """Ask every system; one that fails, or that waits for a click, is said and left out."""
    answers: list[Answer] = []
    for choice in choices:
        try:
            answer = _answer(reading, choice)
            if answer is not None:
                answers.append(answer)
                _warn_if_seen(reading, answer)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
    if len(answers) < 2:
        return answers
    return [replace(answer, letter=letter) for letter, answer in zip("ABC", answers, strict=False)]


def answer_at_hand(reading: Reading, choice: Choice) -> Retrieval | None:
    """An answer for which no server is asked: stored, or by a retriever that runs here; else ``None``."""
    if choice.run and (stored := _of_run(reading, choice.run)):
        return stored
    if choice.name in ELSEWHERE:
        return None
    if RETRIEVERS[choice.name].asks_server:
        (answer,), _ = stored_answers(reading_question(reading, choice))
        return answer
    return retrieval(reading, choice)


def _answer(reading: Reading, choice: Choice) -> Answer | None:
    if choice.run:
        if stored := _of_run(reading, choice.run):
            return Answer(choice, stored)
        lacks = f"{literal(choice.label)} has no stored answer to this hypothesis and task"
        if choice.name in ELSEWHERE:
            st.caption(f"{lacks}, and its system is not here to be asked.")
            return None
        st.caption(f"{lacks}: its retriever is asked.")
        return _answer(reading, choice_of(choice.name, choice.settings))
    if RETRIEVERS[choice.name].asks_server:
        (answer,) = answers_or_button(reading_question(reading, choice))
        return Answer(choice, answer) if answer else None
    loads = choice.name in _ENCODING and not is_loaded()
    text = "Loading the embedding model …" if loads else f"{choice.name} reads the paper …"
    with st.spinner(text, show_time=True):
        return Answer(choice, retrieval(reading, choice))


def _of_run(reading: Reading, run: RunInfo) -> Retrieval | None:
    """The answer of a run to this reading; ``None`` where it was asked for another hypothesis, or not at all."""
    if reading.hypothesis != reading.instance.hypothesis:
        return None
    return RunStore(resources.store()).retrieval(run, reading.task, reading.instance.id)


def _warn_if_seen(reading: Reading, answer: Answer) -> None:
    choice = answer.choice
    entry = RETRIEVERS.get(choice.name)
    if choice.run is None and entry is not None and (entry.sees_gold or entry.asks_server):
        return
    if has_seen(reading.dataset, reading.instance, choice.name, choice.settings, choice.run):
        st.warning(
            f"**{literal(choice.name)}** was trained on this paper: its picks here tell what it remembers, not how "
            "it does on papers that it has not seen. Its cross-validated run is the honest figure.",
            icon=":material/warning:",
        )
