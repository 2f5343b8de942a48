"""Nuggets, the single facts of an answer, against those of the expert: one answer's matrix, and all systems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.answers.judge import judge_name, judges_of
from components.answers.unit import keep_mark
from components.app import resources
from components.app.page import percent
from components.app.state import PageState, session_text_widget, widget_value
from components.charts.answers import match_squares, threshold_lines
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.matching import THRESHOLD, Matcher, matches
from evidencebench_core.answers.model import Answer
from evidencebench_core.answers.nugget_scores import (
    NuggetMatrix,
    NuggetScores,
    marked_threshold,
    support_scores,
)
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.stats import Mixture
from evidencebench_core.words import quantity

NUGGET_DEFAULTS: Final = {"matcher": "cosine", "threshold": "", "nuggets": ""}
_MATCHERS: Final = {"cosine": "Cosine", "mixture": "Chance of a match"}
_MEANS: Final = (
    Column("system", "System", "title"),
    Column("precision", "Precision", "percent", "Matched / nuggets of the answer"),
    Column("recall", "Recall", "percent", "Matched / nuggets of the expert"),
    Column("f1", "F1", "percent"),
    Column("counting", "Recall by counting", "percent", "Were every pair the same: what numbers alone give"),
    Column("similarity", "Cosine of matches", "number", digits=2),
    Column("n", "n", "number", "Questions with a recall"),
)


def draw_all_nuggets(state: PageState, info: AnswerSetInfo) -> None:
    """Systems by their nuggets, what another threshold would give, and the one that people's pairs ask for."""
    answers = resources.answer_set(info)
    if not any(question.nuggets for question in answers.questions.values()):
        st.info("No question has nuggets of an expert, so there is nothing to match with.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = _listing(state, info)
        matcher = _matcher(state)
        threshold = _threshold(state, matcher)
    try:
        scores = resources.nugget_scores(info, matcher, run).at(threshold)
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return
    if not scores.scores:
        st.info("These answers bring no nuggets along. Have a model list them: Judge the answers, above.")
    else:
        _draw_means(state, info, scores)
        st.markdown("## Another threshold")
        curve = resources.nugget_curve(info, matcher, run)
        if len(curve):
            draw_chart(
                threshold_lines(curve, threshold, [hue.on(is_dark()) for hue in SYSTEMS]),
                key=f"answers-curve-{info.sha256[:8]}-{matcher}-{threshold}-{is_dark()}",
                alt="Mean recall, precision and cosine of the matches over the threshold",
            )
        st.caption(
            "A lower threshold never lowers recall: no curve says where it should stand. Pairs that people marked do."
        )
    _draw_marked(info, scores.mixture, threshold)
    _draw_support(info)


def _draw_means(state: PageState, info: AnswerSetInfo, scores: NuggetScores) -> None:
    systems = list(dict.fromkeys(system for _, system in scores.scores))
    means = {system: scores.means(system) for system in systems}
    ordered = sorted(systems, key=lambda system: -(means[system]["recall"] or 0.0))
    names = [column.key for column in _MEANS[1:-1]]
    rows = [Row(one, (one, *(means[one][name] for name in names), means[one]["n_recall"])) for one in ordered]
    rows.append(
        Row("all", ("All", *(scores.means()[name] for name in names), scores.means()["n_recall"]), muted=True)
    )
    table(
        _MEANS,
        rows,
        key=f"answers-nugget-means-{info.sha256[:8]}",
        on_open=lambda system: state.put(part="answers", system=system, sentence=None),
        caption="Systems by their nuggets; a click shows an answer",
        height=480,
    )
    missing = f" {quantity(len(scores.missing), 'answer')} without nuggets." if scores.missing else ""
    unfit = (
        f" {scores.n_unfit:,} of {scores.n_triples:,} nuggets of experts are no triples."
        if 0 < scores.n_unfit < scores.n_triples
        else ""
    )
    st.caption(f"Unweighted means over questions.{missing}{unfit}")
    for warning in scores.mixture.warnings if scores.mixture else ():
        st.warning(literal(f"The fitted chance of a match: {warning}."))


def _draw_marked(info: AnswerSetInfo, mixture: Mixture | None, threshold: float) -> None:
    """What people said of pairs, and the threshold that agrees with it best."""
    found = marks(resources.store(), info.sha256, "nuggets")
    if not found:
        st.caption(
            "No pair is marked yet: open an answer, click a square of its matrix, and say same or different."
        )
        return
    pairs = [(*json.loads(one.unit), one.value == "same") for one in found]
    try:
        best = marked_threshold(pairs, mixture)
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return
    n_same = sum(same for *_, same in pairs)
    said = f"{quantity(len(pairs), 'pair')} marked, {n_same:,} of them the same."
    if best is None:
        st.caption(f"{said} A threshold needs one that is the same.")
        return
    st.markdown(
        f"{said} They agree best with a threshold of **{best.value:.2f}** (F1 {percent(best.f1)}, on the marked pairs "
        f"themselves); it stands at {threshold:.2f}."
    )


def _draw_support(info: AnswerSetInfo) -> None:
    """Recall by judges that were shown the expert's nuggets."""
    for run in judges_of(info, "nugget-support").values():
        scores = support_scores(resources.answer_set(info), resources.nugget_support(run))  # type: ignore[arg-type]
        st.markdown(f"## Recall by {literal(judge_name(run))}")
        columns = (
            Column("system", "System", "title"),
            Column("recall", "Recall", "percent", "Support 1, partial support a half"),
            Column("strict", "Strict", "percent", "Partial support counts nothing"),
            Column("n", "n", "number", "Answers"),
        )
        rows = [Row(name, (name, of["recall"], of["strict"], of["n"])) for name, of in scores.items()]
        rows.sort(key=lambda row: -float(row.cells[1]))  # type: ignore[arg-type]
        table(columns, rows, key=f"answers-support-{run.id}", action="none", caption="Recall by the judge")


# -- one answer ---------------------------------------------------------------------------------------


def draw_nuggets(state: PageState, info: AnswerSetInfo, answer: Answer) -> None:
    """The matrix of the answer's nuggets and the expert's, with a threshold that redraws at once."""
    answers = resources.answer_set(info)
    runs = judges_of(info, "nuggets")
    if not answers.questions[answer.question_id].nuggets or not (answer.nuggets or runs):
        return
    st.markdown("## Nuggets")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = _listing(state, info)
        matcher = _matcher(state)
        threshold = _threshold(state, matcher)
    try:
        matrix = resources.nugget_matrix(info, answer.question_id, answer.system, run)
        mixture = resources.nugget_scores(info, matcher, run).mixture if matcher == "mixture" else None
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


# -- what both choose ---------------------------------------------------------------------------------


def _listing(state: PageState, info: AnswerSetInfo) -> ChatRunInfo | None:
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


def _matcher(state: PageState) -> Matcher:
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


def _threshold(state: PageState, matcher: Matcher) -> float:
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
