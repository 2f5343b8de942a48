"""Nuggets, the single facts of answers, against those of the expert: all systems, thresholds, marked pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.answers import cached
from components.answers.judge import judge_name, judges_of
from components.answers.matrix import matcher_switch, nugget_run, threshold_slider
from components.app import resources
from components.app.jobs import Job
from components.app.page import percent
from components.app.state import PageState
from components.charts.answers import threshold_lines
from components.widgets.chart import draw_chart, is_dark
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.nugget_scores import (
    NuggetScores,
    marked_threshold,
    support_scores,
)
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.retrievers.encoding import are_embedded, embeddings
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.stats import Mixture
from evidencebench_core.words import quantity

_COMPARING: Final = "nuggets"  # the kind of the jobs
_ENCODER: Final = "minilm"
_MANY: Final = 1_000  # texts, some ten seconds of encoding
_AT_ONCE: Final = 128  # texts between two reports
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
    answers = cached.answer_set(info)
    if not any(question.nuggets for question in answers.questions.values()):
        st.info("No question has nuggets of an expert, so there is nothing to match with.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = nugget_run(state, info)
        matcher = matcher_switch(state)
        threshold = threshold_slider(state, matcher)
    try:
        if not _are_compared(info, run):
            return
        scores = cached.nugget_scores(info, matcher, run).at(threshold)
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return
    if not scores.scores:
        st.info("These answers bring no nuggets along. Have a model list them: Judge the answers, above.")
    else:
        _draw_means(state, info, scores)
        st.markdown("## Another threshold")
        curve = cached.nugget_curve(info, matcher, run)
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


def _are_compared(info: AnswerSetInfo, run: ChatRunInfo | None) -> bool:
    """Whether the nuggets are few or were compared before; else the first comparison, as a job, is drawn."""
    texts = cached.nugget_texts(info, run)
    if len(texts) <= _MANY or are_embedded(_ENCODER, texts[-_AT_ONCE:]):
        job_panel(_COMPARING)
        return True
    subject = f"{info.sha256}/{run and run.id}"
    running = {job.subject for job in resources.jobs().jobs(_COMPARING) if not job.status.ended}
    if subject not in running:
        st.info(
            f"{quantity(len(texts), 'nugget')} are to be compared for the first time, which can take a minute."
        )
        if st.button("Compare them", type="primary"):
            resources.jobs().start(
                _COMPARING, subject, f"Nuggets of {info.name}", partial(_embed, texts=texts)
            )
            st.rerun()
    job_panel(_COMPARING)
    return False


def _embed(job: Job, texts: Sequence[str]) -> str:
    done = 0
    while done < len(texts) and not job.cancelled():
        done += len(embeddings(_ENCODER, texts[done : done + _AT_ONCE])[0])
        job.report(done, len(texts))
    return f"{done:,} of {quantity(len(texts), 'nugget')} read."


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
    """People's marks of pairs, and the threshold that agrees with it best."""
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
        scores = support_scores(cached.answer_set(info), cached.nugget_support(run))  # type: ignore[arg-type]
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
