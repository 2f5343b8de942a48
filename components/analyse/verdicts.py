"""Verdicts: missed aspects drawn at random, read one by one, and what readers made of them, added up."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import is_dark
from components.draws import draw_text, drawn_link, named_draw
from components.frame_table import bounded_columns, draw_intervals, frame_table, report_end
from components.page import Context, draw_finding
from components.run_links import reader_address, run_name
from components.state import PageState, open_later, session_text
from components.table import Column
from evidencebench_core.analyses.causes import cause_title
from evidencebench_core.analyses.verdicts import RULES, Draw, verdicts
from evidencebench_core.palette import ASPECTS

_MOST: Final = 1_000
_AGREEMENT: Final = (
    Column("a", "Of"),
    Column("b", "And"),
    Column("measure", "Agreement"),
    *bounded_columns("value", "Value"),
    Column("n", "Aspects", "number"),
)
_ITEMS: Final = (
    Column("number", "No.", "number"),
    Column("hypothesis", "Hypothesis", "title", lines=2),
    Column("label", "Missed aspect"),
    Column("name", "Run"),
    Column("verdict", "Your verdict"),
)


def draw_verdicts(state: PageState, context: Context) -> None:
    n, seed = min(state.number("n") or 50, _MOST), state.number("seed") or 0
    is_stratified = state["strata"] == "1"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("Aspects to draw", 1, _MOST, width=150, **state.widget("n", n))
        st.number_input("Seed", 0, 99_999, width=130, **state.widget("seed", min(seed, 99_999)))
        if len(context.runs) > 1:
            widget = state.widget("strata", is_stratified, lambda is_on: "1" if is_on else None)
            st.toggle("The same number from each run", **widget)
    text = draw_text(n, seed, is_stratified, context.runs)
    drawn = named_draw(context.dataset, context.task, text)
    if drawn is None or drawn.frame.empty:
        st.info("These runs have missed no result aspect.")
        return
    draw_finding(context, drawn.finding)
    _draw_way(drawn, text)
    report = resources.report(
        verdicts,
        context.runs,
        context.task,
        n=n,
        seed=seed,
        stratified=is_stratified,
        also=resources.notes(context.dataset),
    )
    _draw_tally(report.tables["causes"], text)
    if len(report.tables["agreement"]):
        caption = "How far readers agree with one another, and with the first cause that the rules suggest"
        agreement = report.tables["agreement"]
        frame_table(_AGREEMENT, agreement, key="verdicts-agreement", caption=caption)
    _draw_items(context, drawn, text)
    report_end(report)


def _draw_way(drawn: Draw, text: str) -> None:
    reader = session_text("author")
    waiting = drawn.waiting(reader)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(waiting):
            first = drawn_link(drawn, text, waiting.iloc[0].to_dict())
            st.button("Work through them", type="primary", on_click=open_later, args=("browse", first))
        left = f"{len(waiting):,} are waiting for you. " if reader else ""
        st.caption(
            f"{left}Suggested causes and other readers' notes stay hidden, so that readers judge independently."
        )


def _draw_tally(causes: pd.DataFrame, text: str) -> None:
    readers = list(dict.fromkeys(causes["by"]))
    colours = {reader: ASPECTS[place % len(ASPECTS)].on(is_dark()) for place, reader in enumerate(readers)}
    frame = causes.assign(
        name=causes["title"],
        group=causes["by"].replace(RULES, "suggested first"),
        colour=causes["by"].map(colours),
    )
    draw_intervals(frame, "share", "Missed aspects, %", key=f"verdicts-{text}")


def _draw_items(context: Context, drawn: Draw, text: str) -> None:
    items, reader = drawn.frame, session_text("author")
    names = {run.id: run_name(run) for run in drawn.runs}
    own = drawn.verdicts[reader] if reader in drawn.verdicts else pd.Series(index=items.index, dtype=object)
    rows = items.assign(
        place=items.index.astype(str),
        number=items.index + 1,
        hypothesis=items["instance"].map(resources.hypotheses(context.dataset, items["instance"])),
        name=items["run"].map(names),
        verdict=own.map(cause_title, na_action="ignore"),
    )

    def link(place: str) -> dict[str, str]:
        return drawn_link(drawn, text, items.iloc[int(place)].to_dict())

    frame_table(
        _ITEMS,
        rows,
        key="verdicts-items",
        ids="place",
        on_open=lambda place: open_later("browse", link(place)),
        link=lambda place: reader_address(link(place)),
        caption="The aspects drawn; a click opens one",
        height=420,
    )
