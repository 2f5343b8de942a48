"""Suggested causes with their rules, and the form in which an analyst says what it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.app import resources
from components.app.state import PageState, flash, session_text, set_session_text
from components.missed.queue import Key, Queue
from components.missed.table import cause_title
from components.widgets.markdown import literal
from evidencebench_core.analyses.causes import CAUSES, suggestions
from evidencebench_core.runs.notes import Note, NoteStore

__all__ = ["draw_verdict"]


def draw_verdict(state: PageState, queue: Queue, row: Mapping[Any, Any], next_key: Key | None) -> None:
    """The suggestion, what others noted, and the form."""
    found = suggestions(row, queue.limits)
    first = found[0]
    more = [one for one in found[1:] if one.cause.name not in {"near", "far"}]  # the headline has the rank
    st.markdown(
        f"**Suggested cause: {first.cause.title}.** {literal(first.why)}",
        help="A suggestion by the rule below, never a verdict. The queue has all rules and their thresholds.",
    )
    st.caption(f"Rule: {literal(first.cause.rule_text(queue.limits))}")
    if more:
        said = " ".join(f"**{one.cause.title}**: {literal(one.why)}" for one in more)
        st.caption(f"Other rules apply as well. {said}")
    key = (row["instance"], row["aspect"])
    notes = queue.notes.get(key, ())
    for note in notes:
        st.caption(_said(note))
    author = session_text("author")
    own = next((note for note in notes if note.author == author), None)
    _form(state, queue, key, own, first.cause.name, next_key)


def _said(note: Note) -> str:
    title = cause_title(note.cause)
    parts = [f"**{literal(title)}**"] if title else []
    parts += [literal(f"#{tag}") for tag in note.tags]
    parts += [literal(note.text)] if note.text else []
    return (
        f"{literal(note.author)}, {literal(note.created_at[:16].replace('T', ' '))} UTC: {' · '.join(parts)}"
    )


def _form(
    state: PageState, queue: Queue, key: Key, own: Note | None, suggested: str, next_key: Key | None
) -> None:
    known = sorted({tag for notes in queue.notes.values() for note in notes for tag in note.tags})
    ident = f"{queue.run.id}-{queue.task.name}-{key[1]}-{own.created_at if own else ''}"
    with st.form(f"note-{ident}", border=True):
        cause = st.pills(
            "Cause",
            list(CAUSES),
            format_func=lambda name: CAUSES[name].title,
            default=own.cause if own and own.cause in CAUSES else suggested,
            key=f"cause-{ident}",
        )
        left, right = st.columns([2, 1])
        tags = left.multiselect(
            "Tags",
            sorted({*known, *(own.tags if own else ())}),
            default=list(own.tags) if own else [],
            accept_new_options=True,
            placeholder="Choose or type",
            key=f"tags-{ident}",
        )
        author = right.text_input(
            "Author", session_text("author"), placeholder="Initials", key=f"author-{ident}"
        )
        text = st.text_area("Note", own.text if own else "", height=68, key=f"text-{ident}")
        with st.container(horizontal=True):
            onward = st.form_submit_button(
                "Save and next" if next_key else "Save and back to the queue", type="primary"
            )
            stay = st.form_submit_button("Save")
    if onward or stay:
        set_session_text("author", author.strip())
        NoteStore(resources.store()).add(
            Note(queue.run.id, queue.task.name, *key, author, cause, tuple(tags), text)
        )
        flash("Noted.")
        if onward:
            instance_id, aspect_id = next_key or ("", "")
            state.put(instance=instance_id, aspect=aspect_id, sentence=None, system=None)
        st.rerun()
