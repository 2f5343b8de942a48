"""A model's short answer to a hypothesis from a paper, and a judge of its citations; both are asked on a click only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.app.state import PageState
from components.models.asking import Question, answer_or_button, stored_answer
from components.models.server import session_connection, session_model
from components.widgets.chips import go_to
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.answers.cited import CitedAnswer, Pair, Support, cited_answer
from evidencebench_core.answers.judging import citation_labels
from evidencebench_core.answers.model import has_words
from evidencebench_core.llm import Spending
from evidencebench_core.words import quantity

Labels = Mapping[Pair, Support | None]

_SIGNS: Final[Mapping[Support | None, str]] = {
    "supports": "▲ supports", "contradicts": "▼ contradicts", "neutral": "● does not support",
    None: "? could not be judged",
}  # fmt: skip
_OUTCOMES: Final = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
    "failed": "The call failed. Ask again.",
}
_COLUMNS: Final = (
    Column("says", "Answer"),
    Column("cites", "Rests on", "chips", "Sentences of the paper; a click shows one"),
)


def citation_words(is_gold: bool, *label: Support | None) -> str:
    """Of a citation whether it is gold, and what a judge said, if one did: ``gold, ▲ supports``."""
    return f"{'gold' if is_gold else 'not gold'}, {_SIGNS[label[0]] if label else 'unchecked'}"


def asked_answer(hypothesis: str, sentences: Sequence[str]) -> CitedAnswer | None:
    """The answer of the session's model; where there is none yet the button that asks for it is drawn."""
    model, paper = session_model(), tuple(sentences)
    question: Question[CitedAnswer] = Question(
        model,
        f"{model} answers from {len(paper):,} sentences",
        model,
        session_connection(),
        ("answer", hypothesis, paper, model),
        lambda: lambda llm: cited_answer(llm, model, hypothesis, paper),
    )
    words = "What does this paper find on the hypothesis, and in which sentences?"
    return answer_or_button(question, words, "Ask for an answer")


def citations_question(answer: CitedAnswer, sentences: Sequence[str]) -> Question[Labels] | None:
    """The question to the session's model; ``None`` where there is no model, or nothing to ask."""
    model = session_model()
    pairs = {
        (u, s): (statement.text, sentences[s])
        for u, statement in enumerate(answer.sentences)
        for s in statement.citations
        if has_words(statement.text)
    }
    if not (model and pairs):
        return None
    return Question(
        model,
        f"{model} judges {quantity(len(pairs), 'citation')}",
        model,
        session_connection(),
        ("citations", tuple(pairs.items()), model),
        lambda: lambda llm: citation_labels(llm, model, pairs),
    )


def known_labels(question: Question[Labels] | None) -> Labels:
    """The model's verdicts so far; empty if it was not asked about all citations."""
    if question is None:
        return {}
    labels = stored_answer(question)
    return {} if isinstance(labels, Spending) else labels


def draw_judging(question: Question[Labels] | None) -> None:
    """Whose opinion the labels are; or the button that asks for them, and the answer as it comes."""
    words = "Does each cited sentence say what the answer says?"
    if question is not None and answer_or_button(question, words, "Judge the citations") is not None:
        st.caption(f"▲ ▼ ● are the opinion of {literal(question.model)} on each citation: it can be wrong.")


def draw_answer(state: PageState, answer: CitedAnswer, chip: Callable[[int, int], Chip], key: str) -> bool:
    """Draw the sentences of an answer with a chip for each citation; returns whether there are any."""
    if answer.verdict:
        st.markdown(f"**{answer.verdict.capitalize()}**, it says: a model's opinion, not scored.")
    if answer.outcome != "answer":
        st.info(_OUTCOMES[answer.outcome])
        return False
    rows = [
        Row(str(u), (one.text, tuple(chip(u, s) for s in one.citations)))
        for u, one in enumerate(answer.sentences)
    ]
    table(
        _COLUMNS,
        rows,
        key=key,
        action="none",
        on_event=partial(go_to, state),
        caption="The answer, and the sentences that it rests on",
    )
    return True
