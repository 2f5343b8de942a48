"""An edited hypothesis beside the original: the picks before and after, and what was gained and lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.app.page import percent
from components.app.state import PageState
from components.browse.ledger import MOST_PICKS
from components.widgets.chips import aspect_chip, go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Cell, Column, Row, table
from evidencebench_core.data import Instance
from evidencebench_core.metrics import Change, expected_recall, selection_change
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task

_WHAT: Final = Column("what", "")
_SENTENCES: Final = Column("sentences", "Picks", "chips")
_ASPECTS: Final = Column(
    "aspects", "Aspects", "chips", "That the picks cover only after, or only before the edit"
)


def draw_edit(
    state: PageState,
    instance: Instance,
    task: Task,
    label: str,
    before: Retrieval | None,
    after: Retrieval,
    scored: bool,
) -> None:
    """The edit's changes to a retriever's picks; ``before`` is its answer to the original, if it has one."""
    st.markdown(f"## What the edit changed for {literal(label)}")
    if before is None:
        st.caption(
            f"{literal(label)} has no stored answer to the original to compare with. Go back to it, and ask it."
        )
        return
    covers = instance.evidence.covers(task.focus)
    change = selection_change(before.selection, after.selection, covers)
    said = (
        f"Of {len(change.kept) + len(change.lost):,} picks for the original, {len(change.kept):,} are kept and "
        f"{len(change.lost):,} lost; {len(change.gained):,} are gained."
    )
    if scored:
        budget = task.budget_for(instance.evidence)
        then, now = (percent(expected_recall(answer.selection, covers, budget)) for answer in (before, after))
        said += f" Aspect Recall was **{then}** and is **{now}**."
    st.markdown(said)
    table(
        (_WHAT, _SENTENCES, _ASPECTS) if scored else (_WHAT, _SENTENCES),
        change_rows(instance, task, change, scored),
        key="edit-change",
        action="none",
        on_event=partial(go_to, state),
        caption="Picks and aspects that the edit gained, lost and kept",
    )
    sides = (("Original", before, after, False), ("Edited", after, before, True))
    for place, (title, answer, other, is_after) in zip(st.columns(2, gap="small"), sides, strict=True):
        with place:
            table(
                (
                    Column("pick", "Pick", "number"),
                    Column("sentence", title, "chips"),
                    Column("fate", "Before the edit" if is_after else "After the edit"),
                ),
                pick_rows(instance, answer, other, is_after),
                key=f"edit-{title.lower()}",
                on_event=partial(go_to, state),
                on_open=lambda index: state.put(sentence=index),
                chosen=[state["sentence"]],
                caption=f"Picks of {label}, {title.lower()} hypothesis",
                empty="Nothing was picked.",
                height=640,
            )


def change_rows(instance: Instance, task: Task, change: Change, scored: bool) -> tuple[Row, ...]:
    """Gained, lost and kept: the sentences, and the aspects where it is ``scored``."""
    aspects = instance.evidence.focused(task.focus)
    numbers = {aspect.id: number for number, aspect in enumerate(instance.evidence.aspects)}

    def row(what: str, sentences: Sequence[int], positions: Sequence[int]) -> Row:
        shown: Cell = tuple(sentence_chip(i, instance.sentences[i]) for i in sentences[:MOST_PICKS]) or None
        chips: Cell = tuple(aspect_chip(aspects[p], numbers[aspects[p].id]) for p in positions) or None
        return Row(what, (what, shown, chips) if scored else (what, shown), muted=True)

    return (
        row("+ Gained", change.gained, change.aspects_gained),
        row("− Lost", change.lost, change.aspects_lost),
        row("= Kept", change.kept, ()),
    )


def pick_rows(instance: Instance, answer: Retrieval, other: Retrieval, is_after: bool) -> tuple[Row, ...]:
    """The picks in order, each with its place in the other answer."""
    picks, others = list(dict.fromkeys(answer.selection)), list(dict.fromkeys(other.selection))
    ranks = {index: rank for rank, index in enumerate(other.ranking, start=1)}

    def fate(index: int) -> str:
        if index in others:
            return f"= kept, pick {others.index(index) + 1}"
        rank = f"rank {ranks[index]}" if index in ranks else "not ranked"
        return f"{'+ gained' if is_after else '− lost'}, {rank}"

    return tuple(
        Row(str(index), (place, (sentence_chip(index, instance.sentences[index]),), fate(index)))
        for place, index in enumerate(picks[:MOST_PICKS], start=1)
    )
