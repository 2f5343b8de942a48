"""A model asked about the paper, on a click: to search it, what it says, and which sentences are for or against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from components import resources
from components.ask import session_llm
from components.asking import Question, answers_or_button, stored_answers
from components.markdown import literal
from components.paper.opened import OpenPaper
from components.server import session_model
from evidencebench_core.answers.cited import CitedAnswer
from evidencebench_core.answers.of_paper import answer_about, stance_of
from evidencebench_core.data.model import Focus
from evidencebench_core.papers.find import Findings, findings_in, query_in
from evidencebench_core.retrievers.llm.retriever import LanguageModel, LanguageModelSettings


def asked_findings(
    papers: Sequence[OpenPaper], hypothesis: str, budget: int, focus: Focus
) -> dict[str, Findings]:
    """The findings of a model in the papers that it has read; for the others the button that asks it is drawn."""
    model, llm = session_model(), session_llm()
    retriever = LanguageModel(LanguageModelSettings.read("llm", {"model": model}), store=resources.store())
    wanted: dict[str, Any] = {"hypothesis": hypothesis, "budget": budget, "focus": focus}
    works = [partial(retriever.answer, query=query_in(opened.paper, **wanted)) for opened in papers]
    about = (tuple(opened.ref for opened in papers), *wanted.values())
    retrievals = answers_or_button(Question(f"llm model={model}", model, about, works))
    return {
        opened.ref: findings_in(opened.read, retriever=retriever, llm=llm, **wanted)
        for opened, retrieval in zip(papers, retrievals, strict=True)
        if retrieval is not None
    }


def draw_questions(
    opened: OpenPaper, findings: Findings, focus: Focus, *, can_ask: bool
) -> tuple[Findings, CitedAnswer | None]:
    """The findings with a model's stances, and its answer, as far as they are kept; buttons that ask for the rest."""
    model, hypothesis = session_model(), findings.hypothesis
    if not model:
        return findings, None
    answering = partial(answer_about, read=opened.read, hypothesis=hypothesis, focus=focus, model=model)
    answering_about = (opened.ref, hypothesis, focus)
    saying = Question("What does this paper say?", model, answering_about, [answering])
    judging = partial(stance_of, hypothesis=hypothesis, model=model)
    works = [partial(judging, sentence=opened.paper.sentences[index]) for index in findings.picks]
    siding = Question("For or against?", model, (opened.ref, hypothesis, findings.picks), works)
    if can_ask:
        (answer,), labels = answers_or_button(saying, small=True), answers_or_button(siding, small=True)
    else:
        (answer,), labels = stored_answers(saying)[0], stored_answers(siding)[0]
    if can_ask and any(label is not None for label in labels):
        counts = Counter(labels)
        sides = f"{counts['supports']} for the statement, {counts['against']} against it, {counts['neither']} neither"
        unread = f", {counts['']} could not be read" if counts[""] else ""
        st.caption(f"{literal(model)} on the sentences: {sides}{unread}.")
    stances = {index: label for index, label in zip(findings.picks, labels, strict=True) if label}
    return replace(findings, stances=stances, stances_by=model), answer
