"""The misses of a run: the finding, their causes, and a row for each instance that has some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import resources
from components.analyse.finding import draw_finding
from components.charts import draw_chart, is_dark
from components.figures import bars
from components.filters import Filter, filter_popover, filtered, filters_text
from components.frame_table import csv_and_json, frame_table, intervals
from components.markdown import literal
from components.page import Context, missed_report, percent, show_notes
from components.run_links import PARAM, draw_set_button, instance_set, reader_link
from components.state import PageState, open_later
from components.table import Column
from components.table.paging import paging
from evidencebench_core.analyses.causes import CAUSES, cause_title
from evidencebench_core.analyses.missed import BINNINGS, finding, missed_table
from evidencebench_core.analyses.notes import NoteStore, note_rows
from evidencebench_core.palette import MARKS
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

FILTERS: Final = (
    Filter("cause", "Suggested cause", "choice", cause_title),
    Filter("section", "Part of the paper", "choice"),
    Filter("distance", "Places below K"),
    Filter("n_covering", "Covering sentences"),
    Filter("position", "Position in the paper", "percent"),
    Filter("overlap", "Words shared with the hypothesis", "percent"),
    Filter("noted", "Noted", "choice"),
)
_COLUMNS: Final = (
    Column("hypothesis", "Hypothesis", "title", lines=2),
    Column("misses", "Missed aspects", lines=3),
    Column(
        "nearest", "Places below K", "number", "Of the nearest miss: its best rank minus the number of picks"
    ),
    Column("causes", "Suggested causes"),
    Column("noted", "Notes"),
    Column("instance", "Instance", "id"),
)
_SHARES: Final = (
    Column("title", "Bin"),
    Column("n_missed", "Missed", "number"),
    Column("n_aspects", "Of", "number"),
    Column("share", "Share", "interval"),
)


def draw_missed(state: PageState, context: Context, switches: DeltaGenerator) -> None:
    """The finding, the chart of causes, the table of instances."""
    if not context.runs:
        st.info(f"No run has answers for {literal(context.task.title)} yet; *Runs* starts them.")
        return
    with switches:
        run = chosen_run(state, context)
    report = missed_report(context, run)
    misses = with_notes(report.tables["missed"], run, context.task.name)
    shares = report.tables["shares"]
    draw_finding(replace(context, runs=(run,)), finding(shares, run.label, context.task.focus == "results"))
    _draw_causes(state, shares, run, context)
    shown = filtered(state, misses, FILTERS)
    with st.container(horizontal=True, vertical_alignment="center"):
        noun = quantity(len(shown), "missed aspect")
        st.markdown(f"**{noun}** in {quantity(shown['instance'].nunique(), 'instance')}, nearest miss first")
        filter_popover(state, misses, FILTERS)
        if state["where"]:
            st.button("Clear filters", on_click=state.put, kwargs={"where": None, "page": None})
        _draw_export(context, run, shown)
        ids = tuple(dict.fromkeys(shown["instance"]))
        name = f"Missed by {run.label}, {filters_text(state, FILTERS)}".removesuffix(", ")
        among = instance_set(name, context.dataset, ids) if state["where"] else ""
        read = partial(_read, context, run, among)
        if ids:
            first = shown.iloc[0]
            st.button("Work through them", type="primary", on_click=read, args=(first.to_dict(),))
        draw_set_button(context.dataset, name, ids)
    _draw_instances(state, context, shown, read)
    with st.expander("Shares by part of the paper, position and covering sentences"):
        _draw_shares(shares)
    show_notes(report)


def chosen_run(state: PageState, context: Context) -> RunInfo:
    """The run whose misses are shown, one of the context's, of which there are some."""
    by_id = {run.id: run for run in context.runs}
    chosen = state["run"] if state["run"] in by_id else next(iter(by_id))
    if len(by_id) > 1:
        st.segmented_control(
            "Run",
            list(by_id),
            format_func=lambda run_id: literal(by_id[run_id].label),
            required=True,
            label_visibility="collapsed",
            **state.widget("run", chosen, reset=("where", "page")),
        )
    return by_id[chosen]


def _read(context: Context, run: RunInfo, among: str, miss: Mapping[Any, Any]) -> None:
    """Open a miss where its paper is read, the run marked in that."""
    more = {"aspect": str(miss["label"]), "sentence": str(miss["sentence"])}
    link = reader_link(context.dataset, context.task, miss["instance"], (run,), **more)
    open_later("browse", {**link, **({PARAM: among} if among else {})})


def with_notes(misses: pd.DataFrame, run: RunInfo, task: str) -> pd.DataFrame:
    """The misses with ``note`` (causes and tags with their authors) and whether they are ``noted``."""
    lines: dict[tuple[str, str], list[str]] = {}
    for note in NoteStore(resources.store()).notes(run.id, task):
        words = ", ".join(filter(None, (cause_title(note.cause), *note.tags))) or "note"
        lines.setdefault((note.instance_id, note.aspect_id), []).append(f"{note.author}: {words}")
    keys = zip(misses["instance"], misses["aspect"], strict=True)
    notes = ["; ".join(lines.get(key, ())) for key in keys]
    return misses.assign(note=notes, noted=["yes" if line else "no" for line in notes])


def _draw_causes(state: PageState, shares: pd.DataFrame, run: RunInfo, context: Context) -> None:
    causes = shares[(shares["by"] == "cause") & (shares["n_missed"] > 0)]
    if causes.empty:
        return
    frame = pd.DataFrame(
        {
            "name": [CAUSES[name].title for name in causes["bin"]],
            "value": causes["n_missed"],
            "text": [percent(n / causes["n_missed"].sum(), 0) for n in causes["n_missed"]],
            "id": causes["bin"],
        }
    )
    figure = resources.figure(
        bars, frame, "Missed aspects", of="missed aspects", colour=MARKS["missed"].on(is_dark())
    )
    alt = "; ".join(f"{row.name}: {row.value}" for row in frame.itertuples(index=False))
    draw_chart(
        figure,
        key=f"causes-{run.id}-{context.task.name}",
        alt=alt,
        on_pick=lambda cause: state.put(where=f"cause:{cause}", page=None),
    )
    st.caption("By the first cause suggested; a click on a bar lists them.")
    with st.expander("Rules of the causes"):
        st.markdown("The first rule that applies is suggested; none is a verdict.")
        rules = [f"1. **{cause.title}.** {cause.rule}" for cause in CAUSES.values() if cause.rule]
        st.markdown("\n".join(rules))


def _draw_instances(
    state: PageState, context: Context, misses: pd.DataFrame, read: Callable[[Mapping[Any, Any]], None]
) -> None:
    """One row an instance; a click reads its nearest miss."""
    names = misses["instance"].drop_duplicates()
    pages = paging(state, len(names))
    shown = names.iloc[pages.rows]
    misses_of = misses[misses["instance"].isin(shown)]
    words = misses_of["label"] + misses_of["text"].map(lambda text: f" {text}" if text else "")
    misses_of = misses_of.assign(words=words)
    groups = misses_of.groupby("instance", sort=False)
    rows = pd.DataFrame(
        {
            "misses": groups["words"].agg(("; " if misses_of["text"].notna().any() else ", ").join),
            "nearest": groups["distance"].min(),
            "causes": groups["cause"].agg(_causes),
            "noted": groups["note"].agg(lambda notes: "; ".join(note for note in notes if note)),
            "hypothesis": resources.hypotheses(context.dataset, shown),
        },
        index=shown,
    ).reset_index()
    nearest = misses_of.drop_duplicates("instance").to_dict("records")
    nearest_of = {miss["instance"]: miss for miss in nearest}
    frame_table(
        _COLUMNS,
        rows,
        key="missed-instances",
        ids="instance",
        on_open=lambda name: read(nearest_of[name]),
        caption="Instances with missed aspects",
        empty="No miss is left by these filters."
        if state["where"]
        else "This run missed none of these aspects.",
    )
    pages.draw(state)


def _causes(causes: Sequence[str]) -> str:
    counts = Counter(causes)
    return ", ".join(
        f"{CAUSES[name].title} ({n})" if n > 1 else CAUSES[name].title for name, n in counts.items()
    )


def _draw_shares(shares: pd.DataFrame) -> None:
    for by in ("section", "decile", "n_covering"):
        rows = shares[(shares["by"] == by) & (shares["n_aspects"] > 0)]
        rows = rows.assign(title=rows["bin"].str.capitalize(), share=intervals(rows, "share"))
        st.caption(BINNINGS[by])
        frame_table(_SHARES, rows, key=f"shares-{by}", ids="bin", action="none", caption=BINNINGS[by])


def _draw_export(context: Context, run: RunInfo, misses: pd.DataFrame) -> None:
    """The misses that are shown, and the notes once there are some, as CSV and JSON."""
    dataset, store = context.dataset.name, resources.store()
    notes = NoteStore(store).notes(run.id, context.task.name)
    name = f"{run.id}-{context.task.name}"
    with st.popover("Export"):
        st.markdown(f"{quantity(len(misses), 'missed aspect')}: hypothesis, sentence, rank, cause, notes")
        csv_and_json(f"misses-{name}", lambda: missed_table(store, dataset, misses, notes))
        if notes:
            st.markdown(quantity(len(notes), "note"))
            csv_and_json(f"notes-{name}", lambda: pd.DataFrame(note_rows(notes)))
