"""The disagreements of two annotators, one by one, and the consensus that comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.annotate.desk import Desk, desk_of
from components.app.state import PageState
from components.widgets.chips import clicked_chip, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Cell, Chip, Column, Row, TableEvent, table
from evidencebench_core.annotation.differences import (
    Difference,
    decide_for,
    differences,
    first_consensus,
    has_item,
)
from evidencebench_core.annotation.marked import MarkedPaper
from evidencebench_core.annotation.model import CONSENSUS, Annotation

_COLUMNS: Final = (
    Column("aspect", "Aspect", "chips"),
    Column("sentence", "Sentence", "chips"),
    Column("text", "What it says"),
    Column("by", "Marked by"),
    Column("consensus", "Consensus"),
)


def draw_consensus(state: PageState, marked: MarkedPaper, a: Annotation, b: Annotation) -> None:
    """The list of disagreements with the decision on each."""
    items = differences(a, b)
    desk = desk_of(marked, CONSENSUS)
    standing = desk.revision.annotation
    deciding = CONSENSUS not in (a.annotator, b.annotator)
    st.markdown("## Disagreements")
    if not items:
        st.markdown("There is none: both marked the same.")
    else:
        st.caption(_counts_text(items, a, b))
    if deciding:
        _draw_steps(state, desk, items, a, b)
        if standing is not None:
            _draw_decision(state, desk, items, a, b)
    _draw_list(state, marked, items, standing if deciding else None)


def _counts_text(items: Sequence[Difference], a: Annotation, b: Annotation) -> str:
    parts = [
        f"{sum(item.by == one.annotator for item in items)} by {literal(one.annotator, 40)} alone"
        for one in (a, b)
    ]
    whole = sum(item.sentence is None for item in items)
    are = "is an aspect" if whole == 1 else "are aspects"
    tail = f" {whole} of them {are} that the other does not have." if whole else ""
    return f"{len(items):,} in all: {' and '.join(parts)}.{tail}"


def _draw_steps(
    state: PageState, desk: Desk, items: Sequence[Difference], a: Annotation, b: Annotation
) -> None:
    """Begin, decide all at once, undo, open."""
    if desk.revision.annotation is None:
        st.markdown(
            'A consensus is one more annotation, by "consensus". It begins with all that either marked, as '
            "EvidenceBench's guidelines include what two annotators could not resolve; then each disagreement is "
            "decided for one of them."
        )
        begin = partial(desk.edit, lambda _: first_consensus(a, b), lambda: _go_to(state, items[:1]))
        st.button("Begin the consensus", type="primary", key="begin-consensus", on_click=begin)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        for one in (a, b):
            name = literal(one.annotator, 30)
            accept = partial(desk.edit, partial(decide_for, items=items, annotator=one.annotator))
            key = f"accept-all.{one.annotator}"
            st.button(f"Accept all of {name}", key=key, disabled=not items, on_click=accept)
        st.button("Undo", key="undo-consensus", disabled=not desk.revision.can_undo, on_click=desk.undo)
        if st.button("Open the consensus", key="open-consensus", help="To look through it and save it."):
            state.put(view=None, annotator=CONSENSUS, item=None, lit=None, aspect=None)
            st.rerun()


def _draw_decision(
    state: PageState, desk: Desk, items: Sequence[Difference], a: Annotation, b: Annotation
) -> None:
    """The disagreement that was clicked, and whose view of it is taken."""
    places = {item.id: place for place, item in enumerate(items)}
    if state["item"] not in places:
        if items:
            st.caption("Click a disagreement to decide it.")
        return
    place = places[state["item"]]
    item = items[place]
    with st.container(border=True):
        what = "This aspect" if item.sentence is None else f"Sentence {item.sentence}"
        st.markdown(f"**{place + 1} of {len(items)}: {what}**, A{item.number} {literal(item.pair.text, 120)}")
        if item.sentence is not None:
            st.caption(literal(desk.marked.paper.sentences[item.sentence], 300))
        with st.container(horizontal=True):
            for who in (a.annotator, b.annotator):
                outcome = "keep it" if who == item.by else "leave it out"
                change = partial(decide_for, items=[item], annotator=who)
                accept = partial(desk.edit, change, partial(_go_to, state, items[: place + 2][-1:]))
                st.button(f"Accept {literal(who, 30)}: {outcome}", key=f"accept.{who}", on_click=accept)


def _go_to(state: PageState, items: Sequence[Difference]) -> None:
    """To the one of a list of one; nowhere of none."""
    if not items:
        return
    (item,) = items
    marked = sorted(frozenset[int]().union(*item.pair.marks))  # of a whole aspect the first
    sentence = marked[0] if item.sentence is None and marked else item.sentence
    state.put(item=item.id, sentence=sentence)


def _draw_list(
    state: PageState, marked: MarkedPaper, items: Sequence[Difference], consensus: Annotation | None
) -> None:
    if not items:
        return
    by_id = {item.id: item for item in items}

    def act(event: TableEvent) -> None:
        kind, value = clicked_chip(event)
        if event.kind == "open" and event.value in by_id:
            _go_to(state, [by_id[event.value]])
        elif kind == "sentence":
            state.put(sentence=value)
        elif kind == "aspect":
            state.put(scope=value)

    columns = _COLUMNS if consensus is not None else _COLUMNS[:-1]
    table(
        columns,
        [Row(item.id, _cells(item, marked, consensus)[: len(columns)]) for item in items],
        key="disagreements",
        on_event=act,
        chosen=[state["item"]],
        caption="Disagreements; a click goes to one",
        height=560,
    )


def _cells(item: Difference, marked: MarkedPaper, consensus: Annotation | None) -> tuple[Cell, ...]:
    chip = Chip(f"aspect:{item.number}", f"A{item.number}", item.number - 1, item.pair.text)
    decision = "kept" if consensus is not None and has_item(consensus, item) else "left out"
    if item.sentence is None:
        return (chip,), None, f"The whole aspect: {item.pair.text}", item.by, decision
    text = marked.paper.sentences[item.sentence]
    return (chip,), (sentence_chip(item.sentence),), text, item.by, decision
