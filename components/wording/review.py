"""Reading what a model wrote: the original beside the draft, and accept, edit or reject, by key or by click."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final, cast

import streamlit as st

from components.app import resources
from components.app.session import (
    flash,
    local_widget,
    local_widget_text,
    session_text,
    session_text_widget,
    set_session_text,
)
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.perturb import DRAFT_STATES, NEGATION, Draft, Drafts, DraftState, HypothesisDrafts

_SHOWN: Final = 10  # drafts a page
_NAMES: Final[Mapping[DraftState, str]] = {
    "waiting": "Waiting",
    "refused": "Refused by the checks",
    "accepted": "Accepted",
    "rejected": "Rejected",
}
_AROUND: Final = ".,;:()[]\"'“”‘’"
_LONGEST: Final = 1_000  # words that are compared; longer texts are shown without marks
_LAST: Final = "review.last"  # what Undo takes back: ids
_EDITED: Final = "review.edited"  # the draft whose words are being changed


@dataclass(frozen=True, slots=True)
class _Desk:
    """The drafts of a dataset, and who decides on them."""

    state: PageState
    drafts: Drafts
    # the wording that a draft would replace, and its origin
    replaced: Callable[[Draft], tuple[str, str] | None]

    @property
    def reviewer(self) -> str:
        return session_text("author")

    @property
    def _last_key(self) -> str:
        return f"{_LAST}{self.drafts.noun}.{self.drafts.name}"

    @property
    def last(self) -> list[int]:
        """The drafts of the last decision, which Undo takes back."""
        return [int(number) for number in session_text(self._last_key).split()]

    def key(self, draft: Draft) -> str:
        """A name of the draft within the session."""
        return f"{self.drafts.table}-{draft.id}"

    def decision(self, ids: Sequence[int], decide: Callable[[], object]) -> Callable[[], None]:
        """A callback that decides, says what went wrong, and lets the decision be undone."""

        def callback() -> None:
            try:
                decide()
            except EvidenceBenchError as error:
                flash(literal(str(error)))
                return
            set_session_text(_EDITED, "")
            set_session_text(self._last_key, " ".join(map(str, ids)))

        return callback

    def take_back(self, ids: Sequence[int]) -> None:
        try:
            self.drafts.take_back(ids)
        except EvidenceBenchError as error:
            flash(literal(str(error)))
        set_session_text(self._last_key, "")


def draw_dataset_review(state: PageState, dataset: DatasetInfo) -> None:
    """The drafts of other wordings of a dataset's hypotheses."""

    def replaced(draft: Draft) -> tuple[str, str] | None:
        there = resources.wordings(dataset).get(draft.name, {}).get(draft.subject_id)
        if there is None or draft.state == "accepted":
            return None
        origin = resources.wording_origins(dataset).get(draft.name, {}).get(draft.subject_id)
        return there, "came with the data" if origin is None else f"is there already ({origin.origin})"

    draw_review(state, HypothesisDrafts(resources.store(), dataset.name), replaced)


def draw_review(
    state: PageState, drafts: Drafts, replaced: Callable[[Draft], tuple[str, str] | None] = lambda _: None
) -> None:
    """The drafts of one state, the first of them in hand; those that are ``replaced`` have words and an origin."""
    counts = drafts.counts()
    if not any(counts.values()):
        use = "a wording that runs can use" if drafts.noun == "dataset" else "a wording that was reviewed"
        st.info(
            "Nothing has been written yet. A language model writes drafts of paraphrases and negations; here you "
            f"read them, and what you accept becomes {use}."
        )
        st.button("Write some with a model", type="primary", on_click=lambda: state.put(part="make"))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words: dict[str, str] = {name: f"{_NAMES[name]} ({counts[name]:,})" for name in DRAFT_STATES}
        shown = cast("DraftState", option_switch(state, "drafts", "Drafts", words, reset=("at",), wrap=True))
        st.text_input(
            "Your name or initials",
            placeholder="needed to accept or reject",
            help="Kept with every wording that you accept, beside the model and its prompt.",
            width=260,
            **session_text_widget("author", read=str.strip),
        )
    desk, n_drafts = _Desk(state, drafts, replaced), counts[shown]
    if not n_drafts:
        _draw_undo(desk)
        if shown == "waiting":
            n_refused = counts["refused"]
            more = (
                f" {n_refused:,} were refused by the checks; they can be read and edited."
                if n_refused
                else ""
            )
            st.success(f"Everything that waited has been read.{more}")
        else:
            st.info("There are none.")
        return
    at = min(state.number("at") or 0, n_drafts - 1)
    page = drafts.drafts(shown, _SHOWN, at)
    _draw_bar(desk, page, at, n_drafts)
    for place, draft in enumerate(page):
        _draw_card(desk, draft, in_hand=place == 0)


def _draw_undo(desk: _Desk) -> None:
    last = desk.last
    st.button(
        f"Undo {len(last):,}" if len(last) > 1 else "Undo",
        key="review.undo",
        shortcut="U",
        disabled=not last,
        help="Takes back the last decision." if last else None,
        on_click=desk.take_back,
        args=(last,),
    )


def _draw_bar(desk: _Desk, page: Sequence[Draft], at: int, n_drafts: int) -> None:
    """Where we are, the way on and back, and the decision on the whole page."""
    waiting = [draft for draft in page if draft.state == "waiting"]
    clean = [draft.id for draft in waiting if not desk.replaced(draft)]
    others = len(waiting) - len(clean)
    moves = [("Back", "K", at - 1), ("Next", "J", at + 1)]
    if n_drafts > _SHOWN:
        moves.append((f"Next {_SHOWN}", "Shift+J", at + _SHOWN))
    with st.container(horizontal=True, vertical_alignment="center"):
        place = f"**{at + 1:,} to {at + len(page):,} of {n_drafts:,}**, the first in hand"
        st.markdown(place, width="content")
        for label, key, there in moves:
            st.button(
                label,
                key=f"review.{label}",
                shortcut=key,
                disabled=not 0 <= there < n_drafts,
                on_click=desk.state.put,
                kwargs={"at": there or None},
            )
        _draw_undo(desk)
        if len(clean) > 1:
            but = f", but for {others} that would take the place of a wording" if others else ""
            st.button(
                f"Accept {len(clean)} shown",
                key="review.accept-page",
                shortcut="Shift+A",
                disabled=not desk.reviewer,
                help=f"All that are shown below{but}. Read them first: your name is kept with each.",
                on_click=desk.decision(clean, lambda: desk.drafts.accept(clean, desk.reviewer)),
            )


def _draw_card(desk: _Desk, draft: Draft, in_hand: bool) -> None:
    key = desk.key(draft)
    editing, text_key = session_text(_EDITED) == key, f"review-text-{key}"
    with st.container(border=True, key=f"draft-{'in-hand' if in_hand else draft.id}"):
        st.caption(
            f"{':blue-badge[In hand] ' if in_hand else ''}{literal(draft.subject_id)} · "
            f"**{literal(draft.name)}** · {literal(str(draft.made_by).removesuffix('; not reviewed'))}"
        )
        if draft.about:
            st.markdown(literal(draft.about))
        before, after = marked_words(draft.original, draft.wording)
        left, right = st.columns(2)
        with left:
            st.caption("Original")
            st.markdown(before)
        with right:
            st.caption("Draft" if draft.edited is None else "Draft, as the reviewer changed it")
            if editing:
                st.text_area(
                    "Your words",
                    height=110 if len(draft.wording) < 500 else 320,
                    label_visibility="collapsed",
                    **local_widget(text_key, draft.wording),
                )
            else:
                st.markdown(after or "*No wording could be read from the answer.*")
                if draft.edited is not None:
                    st.caption(f"The model wrote: {literal(draft.text)}")
        if draft.problem:
            st.markdown(f":orange[Refused by the checks:] {literal(draft.problem)}.")
        if there := desk.replaced(draft):
            words, origin = there
            kind = "negation" if draft.name == NEGATION else "paraphrase"
            st.caption(f"Would take the place of a {kind} that {literal(origin)}: {literal(words)}")
        with st.container(horizontal=True):
            _draw_buttons(desk, draft, text_key if editing else "", in_hand)


def _draw_buttons(desk: _Desk, draft: Draft, text_key: str, in_hand: bool) -> None:
    """The decisions on a draft, or on the words in the field of that key; the one in hand has the keys."""

    def button(label: str, key: str, do: Callable[[], None], named: bool = False) -> None:
        nameless = named and not desk.reviewer
        st.button(
            label,
            key=f"review.{label}.{draft.id}",
            shortcut=key if in_hand else None,
            type="primary" if in_hand and label.startswith("Accept") else "secondary",
            disabled=nameless,
            help="Say above who you are: it is kept with the decision." if nameless else None,
            on_click=do,
        )

    def accept() -> None:
        words = {draft.id: local_widget_text(text_key)} if text_key else {}
        desk.decision([draft.id], lambda: desk.drafts.accept([draft.id], desk.reviewer, words))()

    if text_key:
        button("Accept these words", "Mod+Enter", accept, named=True)
        button("Leave as it was", "Esc", lambda: set_session_text(_EDITED, ""))
        return
    if draft.wording and draft.state != "accepted":
        button("Accept", "A", accept, named=True)
    button("Edit", "E", lambda: set_session_text(_EDITED, desk.key(draft)))
    if draft.state != "rejected":
        reject = desk.decision([draft.id], lambda: desk.drafts.reject([draft.id], desk.reviewer))
        button("Reject", "X", reject, named=True)
    if draft.state in ("accepted", "rejected"):
        button("Take back", "T", lambda: desk.take_back([draft.id]))


def changed_words(original: str, draft: str) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """For every word (between blanks) of both texts whether the other does not have it there.

    Case, and punctuation around a word, make no difference.
    """
    before, after = original.split(), draft.split()
    if len(before) + len(after) > _LONGEST:
        return (False,) * len(before), (False,) * len(after)
    marks = [True] * len(before), [True] * len(after)
    matcher = SequenceMatcher(None, _plain(before), _plain(after), autojunk=False)
    for one, other, size in matcher.get_matching_blocks():
        marks[0][one : one + size] = [False] * size
        marks[1][other : other + size] = [False] * size
    return tuple(marks[0]), tuple(marks[1])


def marked_words(original: str, draft: str) -> tuple[str, str]:
    """Both texts as Markdown; words that differ are bold on a coloured ground, the texts nothing but text."""
    before, after = changed_words(original, draft)
    return _highlight(original.split(), before, "gray"), _highlight(draft.split(), after, "orange")


def _plain(words: Sequence[str]) -> list[str]:
    return [word.strip(_AROUND).casefold() or word for word in words]


def _highlight(words: Sequence[str], changed: Sequence[bool], colour: str) -> str:
    parts = []
    for mark, run in groupby(zip(changed, words, strict=True), key=itemgetter(0)):
        text = literal(" ".join(word for _, word in run))
        parts.append(f":{colour}-background[**{text}**]" if mark else text)
    return " ".join(parts)
