"""The misses of a run: the finding, their causes, and a row for each instance that has some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import resources
from components.carried import PARAM, draw_set_button, instance_set
from components.charts import is_dark
from components.controls import option_box
from components.draws import miss_place
from components.filters import Filter, filter_popover, filtered_rows, filters_text
from components.frame_table import draw_downloads, draw_intervals, frame_table, report_end
from components.page import Context, draw_finding, missed_report
from components.run_links import reader_address, reader_link
from components.state import PageState, open_later
from components.table import Column
from components.table.paging import paging
from evidencebench_core.analyses.causes import CAUSES, cause_title
from evidencebench_core.analyses.missed import finding, missed_table
from evidencebench_core.analyses.notes import NoteStore
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


def draw_missed(state: PageState, context: Context, switches: DeltaGenerator) -> None:
    with switches:
        by_id = {run.id: run for run in context.runs}
        labels = {run_id: run.label for run_id, run in by_id.items()}
        look = partial(option_box, label_visibility="collapsed", width=320)
        run = by_id[look(state, "run", "Run", labels, reset=("where", "page"))]
    report = missed_report(context, run)
    misses = with_notes(report.tables["missed"], run, context.task.name)
    shares = report.tables["shares"]
    draw_finding(replace(context, runs=(run,)), finding(shares, run.label, context.task.focus == "results"))
    _draw_causes(state, shares, run, context)
    shown = filtered_rows(state, misses, FILTERS)
    with st.container(horizontal=True, vertical_alignment="center"):
        noun = quantity(len(shown), "missed aspect")
        st.markdown(f"**{noun}** in {quantity(shown['instance'].nunique(), 'instance')}, nearest miss first")
        filter_popover(state, misses, FILTERS)
        if state["where"]:
            st.button("Clear filters", on_click=state.put, kwargs={"where": None, "page": None})
        notes = NoteStore(resources.store()).notes(run.id, context.task.name)
        rows = partial(missed_table, resources.store(), context.dataset.name, shown, notes)
        draw_downloads(f"Aspects of {context.task.title} missed by {run.label} {run.id}", rows)
        ids = tuple(dict.fromkeys(shown["instance"]))
        name = f"Missed by {run.label}, {filters_text(state, FILTERS)}".removesuffix(", ")
        begun = reader_link(context.dataset, context.task, "", (run,))
        if state["where"]:
            begun[PARAM] = instance_set(name, context.dataset, ids)
        if ids:
            first = {**begun, **miss_place(shown.iloc[0].to_dict())}
            st.button("Work through them", type="primary", on_click=open_later, args=("browse", first))
        draw_set_button(context.dataset, name, ids)
    _draw_instances(state, context, shown, begun)
    report_end(report)


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
    names = [
        f"{CAUSES[name].title} ({n:,})" for name, n in zip(causes["bin"], causes["n_missed"], strict=True)
    ]
    frame = causes.assign(
        name=names, n=causes["n_aspects"], colour=MARKS["missed"].on(is_dark()), id=causes["bin"]
    )
    draw_intervals(
        frame,
        "share",
        "Share of all aspects, %",
        key=f"causes-{run.id}-{context.task.name}",
        on_pick=lambda cause: state.put(where=f"cause:{cause}", page=None),
    )
    rules = [f"1. **{cause.title}.** {cause.rule}" for cause in CAUSES.values() if cause.rule]
    st.caption(
        "A missed aspect counts under the first cause whose rule applies: a suggestion, not a verdict. Click a mark to "
        "list its aspects.",
        help="\n".join(rules),
    )


def _draw_instances(
    state: PageState, context: Context, misses: pd.DataFrame, begun: Mapping[str, str]
) -> None:
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
    nearest = misses_of.drop_duplicates("instance").set_index("instance", drop=False).to_dict("index")
    links = {name: {**begun, **miss_place(miss)} for name, miss in nearest.items()}
    frame_table(
        _COLUMNS,
        rows,
        key="missed-instances",
        ids="instance",
        on_open=lambda name: open_later("browse", links[name]),
        link=lambda name: reader_address(links[name]),
        caption="Instances with missed aspects",
        empty="No missed aspect matches these filters."
        if state["where"]
        else "This run missed none of these aspects.",
    )
    pages.draw(state)


def _causes(causes: Sequence[str]) -> str:
    counts = Counter(causes)
    return ", ".join(
        f"{CAUSES[name].title} ({n})" if n > 1 else CAUSES[name].title for name, n in counts.items()
    )
