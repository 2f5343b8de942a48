"""Reliability: what a language model can be trusted with, by RAmBLA's tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.ask import Ask, ask_button
from components.charts import draw_chart, is_dark
from components.controls import option_box, option_switch
from components.figures import squares
from components.frame_table import draw_downloads, frame_table, intervals
from components.job_panel import job_panel
from components.markdown import literal
from components.page import page, percent
from components.reliability.one_test import ASKING, View, draw_test
from components.server import session_model
from components.sets import SetKind, draw_files, draw_keeping, picked_set
from components.state import PageState
from components.table import Column
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.reliability.card import difference_text
from evidencebench_core.reliability.figures import BIAS
from evidencebench_core.reliability.items import ITEM_SETS, ItemSetInfo, item_set
from evidencebench_core.reliability.read_items import MOST_BYTES, SAMPLE, ingest_items
from evidencebench_core.reliability.runs import reliability_runs, run_plan
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, probes_of
from evidencebench_core.runs import Plan
from evidencebench_core.words import quantity

PARTS: Final = {"all": "All tests", "test": "One test", "questions": "Questions"}
_CARD: Final = (
    Column("test", "Test", "title"),
    Column("interval", "Figure (95% interval)", "interval"),
    Column("figure", "What it is"),
    Column("against", "Against the baseline, points", help="Paired item by item, 95% interval"),
    Column("p_holm", "p, Holm", "number", "Of right and wrong, for all tests of this model", digits=3),
    Column("always", "One answer to all", help="The figure, had every answer been the same"),
    Column("null_rate", "Unreadable", "percent", "Answers in which no label was found"),
    Column("n", "n", "number", "Items behind the figure"),
    Column("in_words", "In words", lines=6),
    Column("left_out", "Left out", lines=6),
)


def _ingest(paths: Sequence[Path], name: str) -> ItemSetInfo:
    if len(paths) > 1:
        raise SettingError("questions", f"are in {len(paths)} files", "Give one file at a time.")
    return ingest_items(resources.store(), paths[0], name or None)


QUESTIONS: Final = SetKind(
    param="items",
    noun="set of questions",
    sets=ITEM_SETS,
    size=lambda info: quantity(info.n_items, "question"),
    form="A CSV with a header, JSON or JSON lines with `id, question, context, answer`, if there are any also "
    "`long_answer` and `group`; the JSON of PubMedQA or BioASQ; or pairs, `statement_1, statement_2, similar`.",
    most_bytes=MOST_BYTES,
    ingest=_ingest,
    add_sample=lambda: ingest_items(resources.store(), SAMPLE, "sample"),
    sample="24 sample questions",
)


def draw(state: PageState) -> None:
    st.markdown(
        "What can a language model be trusted with? It is asked the same questions reworded, misspelt, and with texts "
        "that distract, contradict, or lack the answer."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        info = picked_set(state, QUESTIONS)
        if info is not None:
            view = View(info, reliability_runs(resources.store(), info.name))
            kind = "secondary" if view.runs else "primary"
            ask_button(_asking(info), "Start or resume runs", type=kind)
    job_panel(ASKING)
    if info is None:
        st.info("Load questions whose correct answers are known, each with the text that it is about.")
        draw_files(state, QUESTIONS)
        return
    part = option_switch(state, "part", "Part of the page", PARTS, label_visibility="collapsed")
    if part == "questions":
        draw_questions(state, view)
    elif not view.runs:
        st.info("No model has been asked yet. Start runs above; you will see the cost first.")
    else:
        {"all": draw_all, "test": draw_test}[part](state, view)


# -- all tests ----------------------------------------------------------------------------------------


def draw_all(state: PageState, view: View) -> None:
    report = view.report()
    tests = report.tables["tests"]
    models = list(dict.fromkeys(tests["model"]))
    st.markdown("\n".join(f"- {literal(finding)}" for finding in report.notes[: len(models)]))
    if len(models) > 1:
        _draw_map(state, tests, models)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("## Model card")
        names = dict(zip(models, models, strict=True))
        model = option_box(state, "model", "Model", names, label_visibility="collapsed")
    card = tests[tests["model"] == model].reset_index(drop=True)
    shown = card.assign(
        interval=intervals(card, "value"),
        against=card.apply(difference_text, axis=1),
        always=card["constant"] + " " + card["constant_value"].map(percent),
    )
    caption = f"Card of {model}"
    frame_table(_CARD, shown, key=f"card-{model}", ids="run", on_open=partial(_open, state), caption=caption)
    st.caption(literal(" ".join(report.notes[len(models) :])))
    if view.info.source == str(SAMPLE):
        st.caption("The questions are invented samples: the figures say nothing about medicine.")
    draw_downloads(report.title, lambda: report)


def _draw_map(state: PageState, tests: pd.DataFrame, models: list[str]) -> None:
    is_bias = tests["figure"] == BIAS.title  # of which a half, the most, has the full colour
    frame = pd.DataFrame(
        {
            "row": tests["test"],
            "column": tests["model"],
            "place": tests["task"].map(list(RELIABILITY_TASKS).index),
            "text": [percent(value).rstrip("%") for value in tests["value"].astype(float)],
            "value": tests["difference"].astype(float).where(~is_bias, -0.6 * tests["value"].astype(float)),
            "hover": tests["figure"] + ", n = " + tests["n"].map("{:,}".format),
            "id": tests["run"],
        }
    ).sort_values("place", kind="stable")
    cells = zip(frame["column"], frame["row"], frame["text"], strict=True)
    alt = "; ".join(f"{model}, {test}: {text}" for model, test, text in cells)
    titles = {title: title for title in frame["row"]}
    figure = squares(frame, titles, {name: name for name in models}, strongest=0.3, dark=is_dark(), step=110)
    with st.container(key="wide-matrix"):
        draw_chart(
            figure,
            key=f"map-{len(frame)}",
            alt=f"In percent: {alt}",
            on_pick=partial(_open, state),
            width="content",
        )
        st.markdown("[As a table](#model-card)")  # what scrolls has something to come to by keys
    st.caption(
        "Figures in percent. Blue: better than the model's own baseline, orange: worse; the larger a bias, the more "
        "orange. A click opens the answers."
    )


def _open(state: PageState, run_id: str) -> None:
    state.put(part="test", run=run_id, where=None, probe=None, page=None)


# -- questions, and asking ------------------------------------------------------------------------------


def draw_questions(state: PageState, view: View) -> None:
    items = item_set(resources.store(), view.info.name).items
    labels = Counter(item.answer or "no answer" for item in items)
    counts = ", ".join(f"{n:,} {label}" for label, n in labels.items())
    st.caption(literal(f"{counts}. Source: {view.info.source}."))
    draw_keeping(state, QUESTIONS, view.info, {"run": len(view.runs)})


def _asking(info: ItemSetInfo) -> Ask:
    def fields() -> list[str] | None:
        items = item_set(resources.store(), info.name)
        possible = []
        for name, task in RELIABILITY_TASKS.items():
            with suppress(SettingError):
                probes_of(items, task, {})
                possible.append(name)
        tasks = st.pills(
            "Tests",
            possible,
            selection_mode="multi",
            default=[name for name in possible if RELIABILITY_TASKS[name].judge is None],
            help="Free-text answers are scored once a judge has read them: see One test.",
            format_func=lambda name: RELIABILITY_TASKS[name].title,
            key=f"reliability.tasks.{info.sha256[:8]}",
            persist_state="session",
        )
        return list(tasks) or None

    def plans(llm: LLM, tasks: list[str]) -> list[Plan]:
        return [run_plan(resources.store(), info.name, task, session_model(), llm=llm) for task in tasks]

    return Ask("Start or resume runs", ASKING, "question", fields, plans, f"questions of {info.name}")


PARAMS: Final = {"items": "", "part": "all", "model": "", "run": "", "where": "", "probe": "", "page": "1"}
with page("reliability", "Reliability", **PARAMS) as state:
    draw(state)
