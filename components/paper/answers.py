"""What the chosen retrievers answer about a reader's own paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.app import resources
from components.models.asking import Question
from components.models.live import answer_or_button
from components.models.ranker.first_use import offered_training
from components.models.server import session_connection
from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from components.widgets.retriever_picker import Choice
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers import Query, Retrieval, query_of, retriever_entries
from evidencebench_core.tasks import task_named

__all__ = ["PaperQuestion", "answers_to"]


@dataclass(frozen=True, slots=True)
class PaperQuestion(Question):
    """A question to a server about a paper that is in no dataset; ``source`` has the hypothesis."""

    source: Instance

    def query(self) -> Query:
        return query_of(self.source, self.task.focus, self.task.budget_for(self.source.evidence))


def answers_to(
    opened: OpenPaper, choices: Sequence[Choice], hypothesis: str, budget: int, plain: bool = False
) -> tuple[dict[str, Retrieval], dict[str, PaperQuestion]]:
    """The answers by label, and the questions of those retrievers that ask a server.

    One that fails, or that waits for a click, is said and left out of the answers. ``plain`` names none
    while it works.
    """
    answers: dict[str, Retrieval] = {}
    questions: dict[str, PaperQuestion] = {}
    entries = retriever_entries()
    waiting = offered_training(choices)
    for choice in choices:
        try:
            if entries[choice.name].asks_server:
                question = questions[choice.label] = _question(opened, choice, hypothesis, budget)
                found = answer_or_button(question, choice.label)
                if found is not None:
                    answers[choice.label] = found
                continue
            if choice in waiting:
                continue
            who = "The paper is being searched" if plain else f"{choice.name} reads the paper"
            with st.spinner(f"{who}. The first time, a model may have to be loaded …", show_time=True):
                answers[choice.label] = resources.paper_retrieval(
                    opened, hypothesis, budget, choice.name, choice.settings
                )
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
    return answers, questions


def _question(opened: OpenPaper, choice: Choice, hypothesis: str, budget: int) -> PaperQuestion:
    nowhere = DatasetInfo(
        name="own papers",
        sha256=opened.digest,
        n_instances=1,
        n_papers=1,
        n_result_instances=0,
        synthetic=False,
        source="",
        ingested_at="",
        id=0,
        n_bytes=0,
    )
    return PaperQuestion(
        nowhere,
        opened.ref,
        task_named(f"er@{budget}"),
        choice.name,
        dict(choice.settings),
        hypothesis,
        session_connection(),
        opened.instance(hypothesis),
    )
