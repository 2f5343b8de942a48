"""A model's short answer to the hypothesis: its sentences, what they cite, and whether that is gold and supports."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.models.server import session_model
from components.models.short_answer import (
    Labels,
    asked_answer,
    citation_words,
    citations_question,
    draw_answer,
    draw_judging,
    known_labels,
)
from components.widgets.chips import sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Chip
from evidencebench_core.answers.asking import answer_in, pair_labels
from evidencebench_core.answers.cited import CitedAnswer, CitedScore, cited_score
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.data.model import Focus
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

ANSWER_DEFAULTS: Final = {"answer": "", "judge": ""}

_HERE: Final = "here"  # by the session's model


def draw_cited_answer(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """The answer to this instance, of a run or asked for here; nothing where there is neither run nor model."""
    runs: dict[str, RunInfo | None] = {one.id: one for one in resources.answer_runs(dataset.sha256)}
    if session_model():
        runs = {_HERE: None, **runs}
    if not runs:
        return
    chosen = state["answer"] if state["answer"] in runs else list(runs)[-1]
    run = runs[chosen]
    st.markdown(f"## Answer by {literal(_label(run))}")
    with st.container(horizontal=True):
        if len(runs) > 1:
            st.selectbox(
                "Answered by",
                list(runs),
                format_func=lambda one: _label(runs[one]),
                **state.widget("answer", chosen),
            )
        judge = None if run is None else _picked_judge(state, run)
    if run is None:
        answer = asked_answer(instance.hypothesis, instance.sentences)
    else:
        answer = answer_in(resources.store(), run, instance.id, len(instance.sentences))
        if answer is None:
            st.caption(f"{literal(_label(run))} was not asked about this instance.")
    if answer is None:
        return
    question = None if judge else citations_question(answer, instance.sentences)
    labels = (
        pair_labels(resources.store(), judge, {instance.id: answer})[instance.id]
        if judge
        else known_labels(question)
    )
    focus: Focus = "all" if run is None else run.settings["focus"]
    if not _draw(state, instance, focus, answer, labels):
        return
    covers = instance.evidence.covers(focus)
    score = cited_score(answer.cited, covers, len(instance.sentences), labels if judge or labels else None)
    _figures(score, answer)
    draw_judging(question)


def _picked_judge(state: PageState, run: RunInfo) -> str:
    """The run that judges the citations of a run; empty where nobody does."""
    judges = {"none": None} | {one.id: one for one in resources.answer_runs(run.id)}
    judge = state["judge"] if state["judge"] in judges else list(judges)[-1]
    if len(judges) > 1:
        st.selectbox(
            "Citations judged by",
            list(judges),
            format_func=lambda one: _label(of) if (of := judges[one]) else "nobody",
            **state.widget("judge", judge),
        )
    return judge if judges[judge] else ""


def _draw(state: PageState, instance: Instance, focus: Focus, answer: CitedAnswer, labels: Labels) -> bool:
    gold = frozenset().union(*instance.evidence.covers(focus))

    def chip(u: int, s: int) -> Chip:
        """Filled where it is gold."""
        words = citation_words(s in gold, *([labels[u, s]] if (u, s) in labels else []))
        return sentence_chip(s, instance.sentences[s], f" {words}", filled=s in gold)

    return draw_answer(state, answer, chip, "cited-answer")


def _figures(score: CitedScore, answer: CitedAnswer) -> None:
    """The figures of the citations, in words."""
    lines = []
    if score.cited_recall is not None:
        covered = round(score.cited_recall * score.n_aspects)
        line = f"Its citations cover {covered} of {quantity(score.n_aspects, 'aspect')}"
        if score.grounded_recall is not None:
            grounded = round(score.grounded_recall * score.n_aspects)
            line += f", {grounded} of them by a citation that supports its sentence"
        lines.append(f"{line}.")
    if score.evidence_precision is not None and score.chance is not None:
        n_gold = round(score.evidence_precision * score.n_pairs)
        lines.append(
            f"{n_gold} of {quantity(score.n_pairs, 'citation')} are gold, as are {percent(score.chance)} of the paper's"
            " sentences; not gold is not wrong."
        )
    if score.n_unjudged:
        lines.append(f"{quantity(score.n_unjudged, 'citation')} without a label of the judge.")
    if answer.n_unknown:
        what = "1 cited index is" if answer.n_unknown == 1 else f"{answer.n_unknown:,} cited indices are"
        lines.append(f"{what} not in the paper, and left out.")
    st.caption(literal(" ".join(lines)))


def _label(run: RunInfo | None) -> str:
    if run is None:
        return f"{session_model()}, asked here"
    what = ", findings only" if run.settings.get("focus") == "results" else ""
    return f"{run.settings['model']}{what}"
