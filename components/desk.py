"""The desk for everything that a person decides: one item in hand, accepted, changed or rejected by keys, undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Final, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.markdown import literal
from components.state import PageState, flash, session_text, session_text_widget, set_session_text
from evidencebench_core.errors import EvidenceBenchError

Decision = Literal["waiting", "accepted", "rejected"]
_LONGEST: Final = 4_000  # words that are compared one by one


@dataclass(frozen=True, slots=True)
class Item:
    """Something to decide: the original, if there is one, beside the proposal, and what was decided so far."""

    id: str
    heading: str
    original: str
    proposal: str
    decision: Decision = "waiting"
    note: str = ""
    is_fixed: bool = False  # its text is not to be changed, whatever the actions allow


@dataclass(frozen=True, slots=True)
class Actions:
    """What the decisions do; each takes the item's id and the name of the person who decides.

    ``accept`` also takes the text, which the person may have changed; ``None`` where the proposal cannot be edited.
    """

    accept: Callable[[str, str, str], object]
    reject: Callable[[str, str], object]
    take_back: Callable[[str], object]
    can_edit: bool = True
    can_undo: bool | None = None  # None: the last decision, as long as its item is in the list


def desk(
    state: PageState, items: Sequence[Item], actions: Actions, *, param: str = "at", author: str = ""
) -> Item | None:
    """Draw the item in hand with its decisions, by keys too; returns it, ``None`` where there is none.

    The state has its id in ``param``, else it is the first that waits. The ``author``, who decides, is asked for where
    not known.
    """
    if not items:
        return None
    ids = [item.id for item in items]
    waiting = [item.id for item in items if item.decision == "waiting"]
    current = state[param] if state[param] in ids else (waiting or ids)[0]
    place = ids.index(current)
    item = items[place]
    with st.container(horizontal=True, vertical_alignment="center", key="desk-bar"):
        st.markdown(f"**{place + 1:,} of {len(items):,}**, {len(waiting):,} waiting", width="content")
        for label, shortcut, there in (("Back", "K", place - 1), ("Next", "J", place + 1)):
            is_there = 0 <= there < len(ids)
            go = partial(state.put, **{param: ids[there] if is_there else None})
            _button(label, shortcut, go, disabled=not is_there)
        last = session_text(_last(state))
        can_undo = last in ids if actions.can_undo is None else actions.can_undo
        undo = partial(_decide, state, param, last, last, partial(actions.take_back, last))
        _button("Undo", "U", undo, disabled=not can_undo)
        if not author:
            st.text_input(
                "Your name or initials",
                placeholder="Your name or initials",
                label_visibility="collapsed",
                width=200,
                **session_text_widget("author", read=str.strip),
            )
    following = (ids[place + 1 :] or [current])[0]
    _draw_item(state, item, actions, param, following, author or session_text("author"))
    return item


def _draw_item(
    state: PageState, item: Item, actions: Actions, param: str, following: str, author: str
) -> None:
    editing, field = session_text("desk.edited") == item.id, f"desk.text.{item.id}"
    with st.container(border=True, key="decide-here"):
        st.caption(f"{literal(item.heading)} · **{item.decision}**")
        right: DeltaGenerator = st.container()
        proposal = literal(item.proposal)
        if item.original:
            left, right = st.columns(2)
            original, proposal = marked_words(item.original, item.proposal)
            left.caption("Original")
            left.markdown(original)
            right.caption("Proposal")
        if editing:
            right.text_area("Your words", item.proposal, height=110, key=field)
        else:
            right.markdown(proposal or "*Nothing is proposed.*")
        if item.note:
            st.caption(literal(item.note))

        help_text = None if author else "Give your name or initials above first."
        who: dict[str, Any] = {"disabled": not author, "help": help_text}
        decide = partial(_decide, state, param, item.id, following)
        with st.container(horizontal=True):
            if editing:

                def accept() -> object:
                    set_session_text("desk.edited", "")
                    return actions.accept(item.id, st.session_state[field], author)

                leave = partial(set_session_text, "desk.edited", "")
                _button("Accept these words", "Mod+Enter", partial(decide, accept), type="primary", **who)
                _button("Leave as it was", "Esc", leave)
                return
            accept_it = partial(actions.accept, item.id, item.proposal, author)
            _button("Accept", "A", partial(decide, accept_it), type="primary", **who)
            if actions.can_edit and not item.is_fixed:
                _button("Edit", "E", partial(set_session_text, "desk.edited", item.id))
            _button("Reject", "X", partial(decide, partial(actions.reject, item.id, author)), **who)


def _button(label: str, shortcut: str, do: Callable[..., None], **look: Any) -> None:
    st.button(label, shortcut=shortcut, key=f"desk.{label}", on_click=do, **look)


def _decide(state: PageState, param: str, item_id: str, following: str, do: Callable[[], object]) -> None:
    """Carry out a decision and go on; one that fails is said, and nothing moves."""
    try:
        do()
    except EvidenceBenchError as error:
        flash(literal(str(error)))
        return
    set_session_text(_last(state), "" if following == item_id == session_text(_last(state)) else item_id)
    state.put(**{param: following})


def _last(state: PageState) -> str:
    return f"desk.last.{state.page}"


def marked_words(original: str, proposal: str) -> tuple[str, str]:
    """Both texts as Markdown; words that the other does not have there are bold on a coloured ground."""
    before, after = original.split(), proposal.split()
    if len(before) + len(after) > _LONGEST:
        return literal(original), literal(proposal)
    plain = [[word.strip(".,;:!?()\"'").casefold() or word for word in words] for words in (before, after)]
    pieces: tuple[list[str], list[str]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_opcodes():
        spans = (before[a:b], after[c:d])
        for place, (words, colour) in enumerate(zip(spans, ("gray", "orange"), strict=True)):
            if words:
                text = literal(" ".join(words))
                pieces[place].append(text if tag == "equal" else f":{colour}-background[**{text}**]")
    return " ".join(pieces[0]), " ".join(pieces[1])
