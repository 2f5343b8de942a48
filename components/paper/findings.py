"""The findings in papers: by a retriever, or a model that is asked on a click; as a list, and as files to take away."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.asking import Question, answers_or_button, stored_answers
from components.calls import outcome_line
from components.caps import session_llm
from components.component import component, sentence_event
from components.markdown import literal
from components.paper.opened import OpenPaper, pdf_of
from components.retrievers import Choice
from components.server import session_model
from components.state import PageState
from evidencebench_core.answers.cited import NO_ANSWER, CitedAnswer
from evidencebench_core.answers.of_paper import answer_about, stance_of
from evidencebench_core.data.model import Focus
from evidencebench_core.export import csv_text, findings_html, pick_documents
from evidencebench_core.export.findings import NOTHING, STANCE_WORDS, highlights_pdf, passage_documents
from evidencebench_core.papers.find import Findings, findings_in, query_in
from evidencebench_core.retrievers import RETRIEVERS, make_retriever
from evidencebench_core.retrievers.llm.retriever import LanguageModel, LanguageModelSettings
from evidencebench_core.words import clipped_text, file_stem, quantity

_MOST_SENTENCES: Final = 20  # of an answer; it is asked for five at most

_component = component(
    "findings_list", Path(__file__).parent, '<ol class="findings"></ol>', palette=".findings"
)


def findings_of(
    papers: Sequence[OpenPaper], hypothesis: str, retriever: str, budget: int, *, focus: Focus
) -> dict[str, Findings]:
    """Findings by the paper's ref; a search that is broken off goes on with the next paper."""
    if RETRIEVERS[retriever].asks_server:
        return _asked_findings(papers, hypothesis, budget, focus)
    findings, progress = {}, st.empty()
    with st.spinner(f"{retriever} reads {quantity(len(papers), 'paper')} …"):
        for done, opened in enumerate(papers):
            if done:
                progress.progress(done / len(papers), literal(clipped_text(opened.title, 60)))
            findings[opened.ref] = _findings(opened, hypothesis, Choice(retriever), budget, focus)
    progress.empty()
    return findings


@resources.cached(entries=256)
def _findings(opened: OpenPaper, hypothesis: str, choice: Choice, budget: int, focus: Focus) -> Findings:
    return findings_in(opened.read, hypothesis, make_retriever(choice.name), budget, focus=focus)


def _asked_findings(
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


def draw_findings(
    state: PageState, findings: Findings, answer: CitedAnswer | None, *, large: bool = False
) -> None:
    """A model's answer, and the passages; a click, or the keys n and p, show a sentence in the paper."""
    if not findings.picks and (line := outcome_line(findings.retrieval)):
        st.caption(f"The model's answer to the search: {line}.")
    if findings.picks and not findings.is_close:
        best = "" if findings.best is None else f" Closest: {findings.best:.2f} of 1."
        st.warning(f"{NOTHING}{best}")
    passages = [
        {
            **passage,
            "index": min(passage["picks"], key=findings.picks.index),
            "why": "" if large else passage["why"],
        }
        for passage in passage_documents(findings)
    ]
    cited = answer.selection if answer else ()
    _component(
        key="findings",
        data={
            "passages": passages,
            "selected": state.number("sentence"),
            "large": large,
            "stances": STANCE_WORDS,
            "model": session_model(),
            "answer": answer and _answer_data(answer),
            "cited": {index: findings.read.paper.sentences[index] for index in cited},
        },
        on_event_change=sentence_event(
            "findings", {*findings.picks, *cited}, lambda index: state.put(sentence=index, page=None)
        ),
    )


def _answer_data(answer: CitedAnswer) -> dict[str, Any]:
    sentences = [
        {**asdict(sentence), "text": clipped_text(sentence.text, 2000)}
        for sentence in answer.sentences[:_MOST_SENTENCES]
    ]
    problem = NO_ANSWER.get(answer.outcome, "")
    return {"verdict": answer.verdict or "none", "problem": problem, "sentences": sentences}


def draw_files(opened: OpenPaper, findings: Findings, budget: int) -> None:
    """What to take home, and the picks as CSV; each file is made when it is asked for."""
    stem = file_stem(f"evidence {opened.title}")

    def draw(label: str, ending: str, mime: str, make: Callable[[], str | bytes]) -> None:
        st.download_button(label, make, f"{stem}.{ending}", mime, on_click="ignore", width="stretch")

    if opened.has_pages:
        draw(
            "PDF with highlights", "pdf", "application/pdf", lambda: highlights_pdf(findings, pdf_of(opened))
        )
    draw("Web page (HTML)", "html", "text/html", lambda: take_home_page(opened, findings, budget))
    draw("CSV", "csv", "text/csv", lambda: csv_text(pd.DataFrame(pick_documents(findings))))


def take_home_page(opened: OpenPaper, findings: Findings, budget: int) -> str:
    words = ["find", opened.given or "PAPER", findings.hypothesis, "--k", str(budget)]
    words += ["--retriever", findings.retriever.name]
    if findings.retriever.asks_server:
        words += ["--set", f"model={findings.retriever.settings.values()['model']}"]
    command = "evidencebench " + shlex.join(words)
    return findings_html(findings, datetime.now(UTC), pdf=pdf_of(opened), command=command)
