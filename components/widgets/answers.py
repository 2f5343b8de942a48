"""Reading on *Browse* and *Your paper*: retrievers are asked, and their picks are marked in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components.app import live
from components.app.choices import Choice, choice_of
from components.app.reading import Reading
from components.app.state import PageState
from components.models.asking import Question, answer_or_button, retriever_question, stored_answer
from components.models.ranker.first_use import offer_training
from components.models.ranker.seen import tell_if_run_has_seen, tell_if_seen
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from components.widgets.sentence_note import LETTERS
from evidencebench_core.data import Instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.retrievers import IMPORTED, RETRIEVERS, Retrieval, make_retriever, query_of
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.retrievers.encoding import is_loaded
from evidencebench_core.retrievers.shared_words import SharedWords, shared_words

_ENCODING: Final = ("dense", "hybrid", "structure", "evidence-ranker")


def answers_to(
    reading: Reading | None, choices: Sequence[Choice], plain: bool = False
) -> tuple[dict[str, Retrieval], dict[str, Question[Retrieval]]]:
    """The answers by label, and the questions to those retrievers that ask a server; none without a reading.

    A run answers with what is stored; where that is nothing, its retriever is asked. One that fails, or that
    waits for a click, is said and left out of the answers. ``plain`` names none while it works.
    """
    answers: dict[str, Retrieval] = {}
    questions: dict[str, Question[Retrieval]] = {}
    if reading is None:
        return answers, questions
    entries = RETRIEVERS
    stored = {
        choice.label: answer
        for choice in choices
        if choice.run and (answer := live.stored_retrieval(reading, choice.run))
    }
    lacking_training = offer_training([choice for choice in choices if choice.label not in stored])
    for choice in choices:
        try:
            if choice.label in stored and choice.run:
                answers[choice.label] = stored[choice.label]
                tell_if_run_has_seen(choice.run, reading.instance.id)
                continue
            if choice.run:
                lacks = f"{literal(choice.label)} has no stored answer to this hypothesis and task"
                if choice.name == IMPORTED:
                    st.caption(f"{lacks}, and its system is not here to be asked.")
                    continue
                st.caption(f"{lacks}: its retriever is asked.")
                choice = choice_of(choice.name, choice.settings)  # noqa: PLW2901
            if entries[choice.name].asks_server:
                question = questions[choice.label] = retriever_question(reading, choice)
                answer = answer_or_button(question)
                if answer is not None:
                    answers[choice.label] = answer
            elif choice not in lacking_training:
                who = "The paper is being searched …" if plain else f"{choice.name} reads the paper …"
                loads = choice.name in _ENCODING and not is_loaded()
                with st.spinner("Loading the embedding model …" if loads else who, show_time=True):
                    answers[choice.label] = live.retrieval(reading, choice)
                if reading.dataset is not None and not entries[choice.name].sees_gold:
                    tell_if_seen(reading.dataset, reading.instance, choice.name, choice.settings)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
    return answers, questions


def answer_at_hand(reading: Reading, choice: Choice) -> Retrieval | None:
    """An answer for which no server is asked: stored, or by a retriever that runs here; else ``None``."""
    if choice.run and (stored := live.stored_retrieval(reading, choice.run)):
        return stored
    if choice.name == IMPORTED:
        return None
    if RETRIEVERS[choice.name].asks_server:
        found = stored_answer(retriever_question(reading, choice))
        return found if isinstance(found, Retrieval) else None
    return live.retrieval(reading, choice)


def choice_behind(label: str, choices: Sequence[Choice]) -> Choice | None:
    """The choice whose answer has that label: its own, or its retriever's, which was asked in a run's place."""
    own = next((choice for choice in choices if choice.label == label), None)
    runs = (choice for choice in choices if choice.run and choice.name != IMPORTED)
    return own or next((run for run in runs if choice_of(run.name, run.settings).label == label), None)


def active_system(state: PageState, answers: Mapping[str, Retrieval]) -> int | None:
    """Position of the retriever whose picks are marked; ``None`` without any answer."""
    return min(state.number("system") or 0, len(answers) - 1) if answers else None


def system_switch(state: PageState, answers: Mapping[str, Retrieval], active: int, part: str = "") -> None:
    """Draw a choice of the retriever whose picks are marked; nothing where there is one only.

    ``part`` tells apart two on one page.
    """
    labels = list(answers)
    if len(labels) > 1:
        st.segmented_control(
            "Picks of",
            range(len(labels)),
            format_func=lambda n: f"{LETTERS[n]} {labels[n]}",
            label_visibility="collapsed",
            required=True,
            **state.widget("system", active, lambda n: n or None, part=part),
        )


def words_to_underline(
    state: PageState,
    instance: Instance,
    hypothesis: str,
    choices: Sequence[Choice],
    answers: Mapping[str, Retrieval],
    active: int | None,
) -> SharedWords | None:
    """Words that sentences share with the hypothesis, as the active retriever weighs them; ``None`` where it is off."""
    if state["words"] != "1" or not hypothesis:
        return None
    choice = None if active is None else choice_behind(list(answers)[active], choices)
    weighs = choice is not None and choice.name == Bm25.name
    retriever = make_retriever(choice.name, choice.settings) if choice is not None and weighs else None
    return shared_words(query_of(instance, "all", None, hypothesis), retriever)


def draw_paper(
    state: PageState,
    instance: Instance,
    answers: Mapping[str, Retrieval],
    active: int | None,
    **shown: Any,
) -> None:
    """Draw the paper with the picks, and the gold if it has any, marked; it stays in sight.

    ``shown`` are other fields of `PaperView`. The sentence, aspect and system that are clicked go into the state.
    """
    labels = [aspect.label for aspect in instance.evidence.aspects]
    systems = [System(label, answer.selection) for label, answer in answers.items()]

    def put(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, system=event.system or None)
        if labels:
            state.put(aspect=None if event.aspect is None else labels[event.aspect])

    with st.container(key="paper-stays-in-sight"):
        view = view_of(
            instance,
            systems=systems if systems or labels else [System("", ())],
            active=0 if active is None and not labels else active,
            selected=state.number("sentence"),
            aspect=labels.index(state["aspect"]) if labels and state["aspect"] in labels else None,
            **shown,
        )
        paper_view(view, key="reader", height=780, on_event=put)
