"""The nuggets of one answer against the expert's: squares, matches from a threshold on, pairs that a person marks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.answers import cached
from components.answers.judge import judge_name, judges_of
from components.answers.unit import keep_mark
from components.app import resources
from components.app.page import percent
from components.app.session import session_text_widget, widget_value
from components.app.state import PageState
from components.charts.answers import match_squares
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from evidencebench_core.answers.matching import THRESHOLD, Matcher, matches
from evidencebench_core.answers.model import Answer
from evidencebench_core.answers.nugget_scores import NuggetMatrix
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo

NUGGET_DEFAULTS: Final = {"matcher": "cosine", "threshold": "", "nuggets": ""}
_MATCHERS: Final = {"cosine": "Cosine", "mixture": "Chance of a match"}


def draw_nuggets(state: PageState, info: AnswerSetInfo, answer: Answer) -> None:
    """The matrix of the answer's nuggets and the expert's, with a threshold that redraws at once."""
    answers = cached.answer_set(info)
    runs = judges_of(info, "nuggets")
    if not answers.questions[answer.question_id].nuggets or not (answer.nuggets or runs):
        return
    st.markdown("## Nuggets")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = nugget_run(state, info)
        matcher = matcher_switch(state)
        threshold = threshold_slider(state, matcher)
    try:
        matrix = cached.nugget_matrix(info, answer.question_id, answer.system, run)
        mixture = cached.nugget_scores(info, matcher, run).mixture if matcher == "mixture" else None
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return
    if matrix is None or not matrix.predicted:
        st.caption(
            "Nobody has listed the nuggets of this answer." if matrix is None else "It states no fact."
        )
        return
    p = mixture.posterior(matrix.similarity) if mixture else matrix.similarity
    matched = {(one.predicted, one.gold) for one in matches(p, matrix.similarity, threshold)}
    n_predicted, n_gold = len(matrix.predicted), len(matrix.gold)
    figure = match_squares(p, matched, (matrix.predicted, matrix.gold), SYSTEMS[0].on(is_dark()))
    pairs = "; ".join(f"{matrix.predicted[i]} = {matrix.gold[j]}" for i, j in sorted(matched))
    event = draw_chart(
        figure,
        key=f"answers-nuggets-{info.sha256[:8]}-{answer.id}-{matcher}-{threshold}-{run and run.id}-{is_dark()}",
        alt=f"{len(matched)} of {n_gold} gold nuggets matched: {pairs}",
        clickable=True,
    )
    st.caption(
        f"Recall {percent(len(matched) / n_gold)} ({len(matched)} of {n_gold} gold nuggets), precision "
        f"{percent(len(matched) / n_predicted)} (of {n_predicted}). Were every pair the same, recall would be "
        f"{percent(min(n_predicted, n_gold) / n_gold)}. An outline is a match; click a square for its texts."
    )
    if point := picked_point(event):
        i, j = map(int, point["customdata"][:2])
        nuggets = answers.questions[answer.question_id].nuggets or ()
        original = [one for one in nuggets if one.strip()][j]
        _draw_pair(info, matrix, float(p[i, j]), (i, j), original)


def _draw_pair(
    info: AnswerSetInfo, matrix: NuggetMatrix, p: float, place: tuple[int, int], original: str
) -> None:
    """Two nuggets, and a person's word on whether they are the same."""
    i, j = place
    pair = (matrix.predicted[i], matrix.gold[j])
    unit = json.dumps(pair)
    known = {mark.unit: mark.value for mark in marks(resources.store(), info.sha256, "nuggets")}.get(unit, "")
    cosine = matrix.similarity[i, j]
    chance = f", chance of a match {p:.2f}" if p != cosine else ""
    with st.container(border=True):
        original = f" (in the file: {literal(original)})" if original != pair[1] else ""
        st.markdown(
            f"Answer: {literal(pair[0])}  \nGold: {literal(pair[1])}{original}  \nCosine {cosine:.2f}{chance}"
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.segmented_control(
                "Do they say the same?",
                ["same", "different"],
                default=known or None,
                key=f"pair-{unit}",
                on_change=_keep_pair,
                args=(info.sha256, unit, f"{p:.4f}"),
            )
            st.text_input(
                "Your name", max_chars=200, placeholder="Initials", width=200, **session_text_widget("author")
            )


def _keep_pair(subject: str, unit: str, before: str) -> None:
    keep_mark(subject, "nuggets", unit, widget_value(f"pair-{unit}") or "", before)


# -- what this and the view of all systems choose -----------------------------------------------------


def nugget_run(state: PageState, info: AnswerSetInfo) -> ChatRunInfo | None:
    """The run that lists the nuggets of answers that bring none: that of the address, else the newest."""
    runs: Mapping[str, ChatRunInfo] = judges_of(info, "nuggets")
    if not runs:
        return None
    wanted = state["nuggets"] if state["nuggets"] in runs else next(iter(runs))
    if len(runs) > 1:
        st.selectbox(
            "Nuggets listed by",
            list(runs),
            format_func=lambda one: judge_name(runs[one]),
            **state.widget("nuggets", wanted),
        )
    return runs[wanted]


def matcher_switch(state: PageState) -> Matcher:
    chosen = option_switch(
        state,
        "matcher",
        "Matched by",
        _MATCHERS,
        reset=("threshold",),
        fallback="cosines are",
        help="The cosine of two nuggets; or the chance that such a cosine is one of a match, from two bell curves "
        "fitted to all cosines of these answers.",
    )
    return "mixture" if chosen == "mixture" else "cosine"


def threshold_slider(state: PageState, matcher: Matcher) -> float:
    hundredths = state.number("threshold")
    threshold = min(100, round(100 * THRESHOLD) if hundredths is None else hundredths) / 100
    st.slider(
        f"{_MATCHERS[matcher]} from which two are the same",
        0.0,
        1.0,
        step=0.01,
        width=360,
        **state.widget("threshold", threshold, lambda now: round(100 * now)),
    )
    return threshold
