"""One answer of a model beside the paper that it cites."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.answers.cited_scores import draw_scores
from components.answers.labels import Badge
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.view import words_of
from components.markdown import literal
from components.paper_view import PaperEvent, paper_view
from components.state import PageState
from evidencebench_core.analyses import Report
from evidencebench_core.answers.brackets import CitedSentence
from evidencebench_core.answers.cited import NO_ANSWER, CitedAnswer
from evidencebench_core.data import Instance
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

_GOLD: Final = Badge("●", "gold", "good")
_NOT_GOLD: Final = Badge("○", "not gold", "plain")


def draw_answer(
    state: PageState, instance: Instance, run: RunInfo, answer: CitedAnswer, report: Report
) -> None:
    """One answer beside the paper, in which its citations are marked, and its figures against gold."""
    focus = run.settings["settings"]["focus"]
    gold = frozenset[int]().union(*instance.evidence.covers(focus))
    citing = next((place for place, cited in enumerate(answer.cited, 1) if cited), 1)
    sentence = min(state.number("sentence") or citing, max(1, len(answer.sentences)))
    cited = answer.cited[sentence - 1] if answer.sentences else ()
    index = state.number("document") if state["document"] else next(iter(cited), None)
    st.markdown(f"## {literal(instance.hypothesis)}")
    left, right = st.columns((9, 11), gap="medium")
    with left:
        if answer.verdict:
            st.caption(f"The model's verdict: {literal(answer.verdict)}. There is no gold for that.")
        if answer.outcome != "answer":
            st.info(NO_ANSWER[answer.outcome])
            st.code(words_of(run, instance.id), language=None, wrap_lines=True)
        answer_prose(
            [_prose(place, part, gold) for place, part in enumerate(answer.sentences, 1)],
            key="cited",
            chosen=str(sentence),
            document="" if index is None else str(index),
            on_choice=lambda place, document: state.put(sentence=place, document=document or None),
        )
        draw_scores(instance, run, report)
    with right:
        aspect = state.number("aspect")
        view = view_of(
            instance,
            systems=[System(run.settings["model"], answer.selection)],
            focus=focus,
            selected=index,
            aspect=aspect if aspect in range(len(instance.evidence.aspects)) else None,
            is_main=False,
        )

        def put(event: PaperEvent) -> None:
            state.put(document=event.sentence, aspect=event.aspect)

        paper_view(view, key="cited-paper", height=700, on_event=put)


def _prose(place: int, sentence: CitedSentence, gold: frozenset[int]) -> Sentence:
    """A sentence of an answer, marked as gold if any of its citations is."""
    citations = tuple(
        Citation(str(index), _GOLD if index in gold else _NOT_GOLD) for index in sentence.citations
    )
    is_gold = not gold.isdisjoint(sentence.citations)
    mark = _GOLD if is_gold else _NOT_GOLD
    unknown = f"{quantity(sentence.n_unknown, 'citation')} of no sentence of the paper"
    note = unknown if sentence.n_unknown else ""
    return Sentence(str(place), sentence.text, mark if citations else None, note, not is_gold, citations)
