"""The effect of other wordings on retrievers: what is missing, recall and differences, single instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent, points
from components.app.state import PageState
from components.charts.curves import spelling_chart
from components.charts.dots import difference_chart
from components.models.server import draw_model_needed
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import draw_notes, frame_table, intervals
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.retriever_picker import retriever_picker
from components.widgets.switches import option_switch
from components.widgets.table import Column
from components.wording.asking import (
    ASKING,
    System,
    ask_dialog,
    start_asking,
    systems_of,
    unanswered,
    variants_with_original,
    wording_report,
)
from components.wording.instances import draw_instances, draw_side_by_side
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo, published_results
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.palette import SYSTEMS, retriever_hue
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.tasks import Task

QUESTIONS: Final = {"paraphrases": "Paraphrases", "negation": "Negation", "spelling": "Spelling errors"}
_SAID: Final = {
    "paraphrases": "The same hypothesis in other words. A retriever that understands it should find the same "
    "sentences; gold and K are those of the original.",
    "negation": "The opposite hypothesis. **Gold stays the same, because evidence that supported the original now "
    "refutes:** the same sentences are sources of information for both. *negation* came with the data or "
    "a file, or was accepted from a model's drafts; *negation:rules* is made by rules that refuse what they cannot "
    "negate honestly, so its n is smaller.",
    "spelling": "The same hypothesis, badly typed: in each of so many words one letter or digit is replaced by "
    "another of its class, as in RAmBLA. A hypothesis with fewer words than that has all of them misspelt and "
    "counts as capped. The errors are one draw, with seed 0.",
}
_COLUMNS: Final = (
    Column("group", "Retriever"),
    Column("wording", "Wording", "id"),
    Column("n", "n", "number", "Instances answered in the original and in this wording"),
    Column("n_out", "Left out", "number", "Instances without such a wording, or without an answer"),
    Column("original", "Original", "percent", "Mean Aspect Recall of the original over the same n"),
    Column("interval", "This wording (95% interval)", "interval", "Mean Aspect Recall; bootstrap of papers"),
    Column("points", "Difference, points (95% interval)", "text", "Paired by instance; bootstrap of papers"),
    Column(
        "p_value", "p", "number", "Two-sided paired randomisation, not corrected for several rows", digits=3
    ),
    Column("moves", "Better / same / worse", "text", "Instances"),
    Column("overlap", "Overlap", "percent", "Mean share of the selection that stays"),
    Column(
        "kendall_tau",
        "Kendall's tau",
        "number",
        "Over the sentences in either top K; below 0 if unrelated",
        digits=2,
    ),
    Column(
        "rank_biased_overlap", "RBO", "number", "Rank-biased overlap of the two top Ks, p = 0.9", digits=2
    ),
)
_PUBLISHED: Final = (
    Column("system", "System"),
    Column("wording", "Wording"),
    Column("task", "Task"),
    Column("aspect_recall", "Aspect Recall", "percent"),
    Column("points", "To its original, points", "number", digits=1, signed=True),
    Column("dataset", "Instances"),
    Column("source", "Source"),
)
_PUBLISHED_IN: Final = {"paraphrases": "appendix F", "negation": "section 5.2"}

Answers = Sequence[tuple[System, Report]]


def draw_effect(state: PageState, dataset: DatasetInfo, task: Task) -> None:
    """Retrievers, question, what is missing, and the report on what is stored."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices = retriever_picker(state, "r")
    question = option_switch(state, "question", "Question", QUESTIONS, fallback="paraphrases are")
    st.markdown(_SAID[question])
    job_panel(ASKING)
    ready = []
    for choice in choices:
        if retriever_entry(choice.name).asks_server and not choice.settings.get("model"):
            draw_model_needed(choice.label)
        else:
            ready.append(choice)
    systems = systems_of(dataset, task, ready)
    if not choices:
        st.info("Choose at least one retriever above.")
    elif not systems:
        return
    elif not resources.wording_variants(dataset, question):
        st.info(
            f"No hypothesis of {literal(dataset.name)} has {literal(question)} yet. Bring a file with some, or have "
            "a model write drafts that you then read."
        )
        with st.container(horizontal=True):
            st.button("Bring a file", on_click=lambda: state.put(part="wordings"))
            st.button("Write some with a model", on_click=lambda: state.put(part="make"))
    else:
        _draw_answer(state, dataset, systems, question)


def _draw_answer(state: PageState, dataset: DatasetInfo, systems: tuple[System, ...], question: str) -> None:
    missing = unanswered(dataset, systems, question)
    if missing and any(not job.status.ended for job in resources.jobs().jobs(ASKING)):
        st.caption(f"{missing:,} queries have no answer yet and are left out below.")
    elif missing:
        _draw_missing(dataset, systems, question, missing)
    answers = [(system, wording_report(dataset, system, question)) for system in systems]
    if all(report.tables[question]["n"].sum() == 0 for _, report in answers):
        return
    _draw_figures(question, answers)
    if question == "paraphrases":
        for system, report in answers:
            _draw_spread(system, report)
    if question in _PUBLISHED_IN:
        _draw_instances(state, dataset, answers, question)
        _draw_published(answers[0][1].tables["published"], _PUBLISHED_IN[question])
    with st.expander("How to read these figures"):
        draw_notes(list(dict.fromkeys(line for _, report in answers for line in report.notes)))


def _draw_missing(dataset: DatasetInfo, systems: tuple[System, ...], question: str, missing: int) -> None:
    n_wordings = len(variants_with_original(dataset, question))
    asks_server = any(system.asks_server for system in systems)
    cost = (
        "Asking a language model may cost: the next step tells what it will take, and nothing is asked before."
        if asks_server
        else "Asking takes seconds for bm25, minutes for dense."
    )
    st.info(
        f"{missing:,} queries ({n_wordings} wordings, the original among them) have no answer yet"
        f" and are left out below. {cost}"
    )
    if st.button("Ask what is missing", type="primary"):
        if asks_server:
            ask_dialog(dataset, systems, question)
        else:
            start_asking(dataset, systems, question)
            st.rerun()


def _draw_figures(question: str, answers: Answers) -> None:
    """Recall against the number of errors, or differences to the original; the table with everything behind them.

    Each retriever has its own colour; where two are of one kind, the colours are those for A, B and C.
    """
    hues = [retriever_hue(system.choice.name) for system, _ in answers]
    hues = hues if len({hue.light for hue in hues}) == len(hues) else list(SYSTEMS)
    frames = [
        report.tables[question].assign(group=system.label, colour=hue.on(is_dark())).astype(object)
        for (system, report), hue in zip(answers, hues, strict=False)
    ]
    frame = pd.concat(frames, ignore_index=True).rename(columns={"ci_low": "low", "ci_high": "high"})
    shares = ["recall", "recall_low", "recall_high", "difference", "low", "high"]
    frame = frame.astype(dict.fromkeys(shares, float))
    rows = frame.to_dict("records")
    if question == "spelling":
        figure, alt = spelling_chart(frame), "Aspect Recall by number of misspelt words: "
        alt += "; ".join(f"{row['group']}, {row['errors']}: {percent(row['recall'])}" for row in rows)
        frame["wording"] = [
            f"{row['errors']} misspelt" + (f", {row['n_capped']} capped" if row["n_capped"] else "")
            for row in rows
        ]
    else:
        title, alt = "Difference to the original, points of recall", "Differences to the original in points: "
        figure = difference_chart(frame.assign(name=frame["wording"]), title)
        alt += "; ".join(f"{row['group']}, {row['wording']}: {points(row)}" for row in rows)
    draw_chart(figure, key=f"chart-{question}", alt=alt)
    frame = frame.assign(
        interval=intervals(frame, "recall", "recall_low", "recall_high"),
        n_out=frame["n_left_out"] + frame["n_missing"],
        points=[points(row) for row in rows],
        moves=[f"{row['better']} / {row['same']} / {row['worse']}" for row in rows],
    )
    caption = f"Recall per wording: {question}"
    frame_table(_COLUMNS, frame, key=f"wording-{question}", action="none", caption=caption, height=520)


def _draw_spread(system: System, report: Report) -> None:
    """How far single instances move, in one sentence."""
    (row,) = report.tables["spread"].to_dict("records")
    if not row["n"]:
        return
    left_out = f" ({row['n_left_out']:,} left out: a wording is missing)" if row["n_left_out"] else ""
    st.markdown(
        f"**{literal(system.label)}**: {row['n_moved']:,} of {row['n']:,} instances{left_out} score "
        f"differently in at least one wording. Spread (highest - lowest recall of an instance): mean "
        f"{100 * row['mean_spread']:.1f} points, median {100 * row['median_spread']:.1f}, largest "
        f"{100 * row['largest_spread']:.1f}; mean SD {100 * row['mean_sd']:.1f}."
    )


def _draw_instances(state: PageState, dataset: DatasetInfo, answers: Answers, question: str) -> None:
    st.markdown("## Instance by instance")
    place = min(state.number("system") or 0, len(answers) - 1)
    if len(answers) > 1:
        st.segmented_control(
            "Retriever",
            range(len(answers)),
            format_func=lambda n: answers[n][0].label,
            **state.widget("system", place, lambda n: n or None),
        )
    system, report = answers[place]
    tables = report.tables
    if question == "paraphrases":
        frame = tables["instances"]
        steps = ["original", *(name for name in tables["paraphrases"]["wording"] if name in frame.columns)]
    else:
        name = next(name for name in tables if name.startswith("instances"))
        frame = tables[name].rename(columns={"recall": name.removeprefix("instances ")})
        steps = ["original", name.removeprefix("instances ")]
    draw_instances(state, system, frame, steps)
    if not state["instance"]:
        return
    try:
        instance = resources.instance(dataset, state["instance"])
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        return
    draw_side_by_side(dataset, system, instance, resources.wording_variants(dataset, question))


def _draw_published(frame: pd.DataFrame, where: str) -> None:
    """The paper's own figures on wording, marked as other instances."""
    with st.expander(f"Published figures ({where}): other instances, other systems"):
        st.caption(
            "From the EvidenceBench paper, on its test set and with paraphrases or negations by LLMs. They say "
            "what to expect; they are never paired with the figures above."
        )
        frame_table(
            _PUBLISHED,
            frame.assign(points=100 * frame["difference"]),
            key=f"published-{where}",
            muted=True,
            action="none",
            caption="Published figures on wordings",
            height=420,
        )
        ends = [figure for figure in published_results() if figure.source.startswith("Appendix K")]
        if ends:
            said = "; ".join(f"{one.system}, {one.strategy}: {100 * one.aspect_recall:.1f}%" for one in ends)
            st.caption(
                f"For scale, appendix K, which is about where evidence stands (again other instances): {said}."
            )
