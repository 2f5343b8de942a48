"""What narrows the queue, and the rules behind the suggested causes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.missed.queue import FILTERS, RANGES, Queue, ranges_of
from evidencebench_core.analyses.causes import CAUSES, Thresholds
from evidencebench_core.analyses.missed_shares import bin_names
from evidencebench_core.data import DatasetInfo

__all__ = ["draw_filters", "draw_rules"]

_NOTED: Final = {"": "All", "no": "Without a note", "yes": "With a note"}
_TYPES: Final = {
    "": "Any",
    "abstract": "Abstract sentence",
    "normal_paragraph": "Sentence of a paragraph",
    "section_name": "Heading",
}


def draw_filters(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    """A row: search, noted or not, more filters, rules, and a way back to everything."""
    n_active = sum(bool(state[name]) for name in FILTERS if name not in {"q", "noted"})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Search hypotheses",
            placeholder="wine stomach cancer",
            help="All words must occur; the last may be the beginning of one.",
            width=260,
            **state.widget("q", state["q"], reset=("page",)),
        )
        st.selectbox(
            "Notes",
            list(_NOTED),
            format_func=_NOTED.__getitem__,
            width=170,
            **state.widget("noted", state["noted"] if state["noted"] in _NOTED else "", reset=("page",)),
        )
        with st.popover(f"Filters ({n_active})" if n_active else "Filters"):
            _bins(state, queue)
            for column, label in RANGES.items():
                _range_slider(state, dataset, column, label)
        if queue.with_words:
            with st.popover("Rules"):
                draw_rules(state, queue.limits)
        if (n_active or state["q"] or state["noted"]) and st.button("Clear filters"):
            state.put(page=None, **dict.fromkeys(FILTERS))
            st.rerun()


def _bins(state: PageState, queue: Queue) -> None:
    if queue.with_words:
        _several(state, "cause", "Suggested cause", {n: CAUSES[n].title for n in bin_names("cause")})
        _several(
            state, "section", "A covering sentence in", {n: n.capitalize() for n in bin_names("section")}
        )
        st.selectbox(
            "A covering sentence that is",
            list(_TYPES),
            format_func=_TYPES.__getitem__,
            **state.widget("type", state["type"] if state["type"] in _TYPES else "", reset=("page",)),
        )
    _several(state, "decile", "A covering sentence within", {n: n for n in bin_names("decile")})
    _several(state, "n", "Covering sentences", {n: n for n in bin_names("n_covering")})


def _several(state: PageState, name: str, label: str, options: dict[str, str]) -> None:
    chosen = [option for option in state.many(name) if option in options]
    st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        placeholder="Any",
        **state.widget(name, chosen, tuple, reset=("page",)),
    )


def _range_slider(state: PageState, dataset: DatasetInfo, column: str, label: str) -> None:
    is_share = column == "ends_coverage"
    scale = 100 if is_share else 1
    top = 100 if is_share else resources.largest(dataset, column)
    ranges = ranges_of(state)
    low, high = ranges.get(column, (0.0, top / scale))

    def read(values: tuple[int, int]) -> list[str]:
        changed = {name: bounds for name, bounds in ranges.items() if name != column}
        if values != (0, top):
            changed[column] = (values[0] / scale, values[1] / scale)
        return [f"{name}:{least:g}-{most:g}" for name, (least, most) in sorted(changed.items())]

    value = (min(round(low * scale), top), min(round(high * scale), top))
    st.slider(label, 0, top, **state.widget("where", value, read, part=column, reset=("page",)))


def draw_rules(state: PageState, limits: Thresholds) -> None:
    """The rules in words, in their order, with their thresholds to change."""
    st.markdown("The first rule that applies is suggested; all that apply are shown. None is a verdict.")
    for number, cause in enumerate((c for c in CAUSES.values() if c.rule), start=1):
        st.markdown(f"{number}. **{cause.title}.** {cause.rule_text(limits)}")
    _threshold(state, limits, "budget_places", "Budget: places below K", 100)
    _threshold(state, limits, "redundant_picks", "Redundancy: picks that only repeat", 100)
    _threshold(state, limits, "vocabulary_overlap", "Vocabulary gap: share of words, %", 100, 100)
    _threshold(state, limits, "front_share", "Headings or abstract: share of picks, %", 100, 100)
    _threshold(state, limits, "near_places", "Near miss: places below K", 1000)
    low, high = limits.middle
    st.slider(
        "Position: the middle of the paper, %",
        0,
        100,
        **state.widget(
            "rules",
            (round(100 * low), round(100 * high)),
            lambda ends: _changed(limits, "middle", (ends[0] / 100, ends[1] / 100)),
            part="middle",
        ),
    )
    if state["rules"] and st.button("Back to the default rules"):
        state.put(rules=None)
        st.rerun()


def _threshold(state: PageState, limits: Thresholds, name: str, label: str, top: int, scale: int = 1) -> None:
    st.number_input(
        label,
        0,
        top,
        **state.widget(
            "rules",
            round(getattr(limits, name) * scale),
            lambda value: _changed(limits, name, value / scale if scale > 1 else value),
            part=name,
        ),
    )


def _changed(limits: Thresholds, name: str, value: object) -> str:
    """The thresholds that differ from the defaults, as the address has them."""
    defaults = asdict(Thresholds())
    values = asdict(limits) | {name: value}
    different = {key: values[key] for key in values if values[key] != defaults[key]}
    return json.dumps(different) if different else ""
