"""One instance in the making: what is proposed, decided item by item, by key or by click, beside the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import drop_missing
from components.app.state import PageState, flash, local_widget_text, session_text, session_text_widget
from components.construct.builds import draw_work, position_text
from components.construct.saving import draw_build_saving
from components.construct.start import CONSTRUCTING, construction_here
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from evidencebench_core.construction import BuildState, echo_lines
from evidencebench_core.construction.decisions import (
    Decision,
    Mode,
    Review,
    Verdict,
    add_decisions,
    is_person,
    mark_about,
    next_number,
)
from evidencebench_core.construction.store import ConstructionInfo
from evidencebench_core.data import Aspect
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export.reader import DraftMarks, PaperView
from evidencebench_core.words import clipped_text, one_line, quantity

_DECIDED: Final = {
    "accept": "accepted",
    "reject": "rejected",
    "edit": "edited",
    "add": "added",
    "unsure": "unsure",
}
_TAKEN_BACK: Final = "taken back"  # the words of a decision that undoes another one
_EDITABLE: Final = ("hypothesis", "aspect")


class _Desk:
    """A build's review, and who decides."""

    def __init__(self, state: PageState, name: str, info: ConstructionInfo, review: Review) -> None:
        self.state, self.name, self.info, self.review = state, name, info, review
        hidden = ("mark:", "uncovered:") if self.is_blind else ()
        proposed = [one.item for one in review.proposals if one.source == "model"]
        self.left = tuple(one for one in review.open_items if not one.startswith(hidden))
        self.items = tuple(
            dict.fromkeys((*(one for one in proposed if not one.startswith(hidden)), *self.left))
        )

    @property
    def who(self) -> str:
        named = one_line(session_text("author")).strip()[:100]
        return named if is_person(named) else ""

    @property
    def has_seen(self) -> bool:
        """Whether the person decided on sentences that were proposed, and so has seen some."""
        return any(
            one.by == self.who and one.mode == "assisted" and one.item.startswith("mark:")
            for one in self.review.decisions
        )

    @property
    def is_blind(self) -> bool:
        """Whether the person marks without the marks of a model or of others in sight."""
        return self.state["blind"] == "1" and not self.has_seen

    def verdict(self, item: str) -> Verdict | None:
        """What holds of an item; what was taken back counts as open."""
        said = self.review.newest.get(item, {}).values()
        return self.review.verdict(item) if any(one.words != _TAKEN_BACK for one in said) else None

    def mode(self, item: str) -> Mode:
        return "blind" if self.is_blind and item.startswith("mark:") else "assisted"

    def marks(self, number: int) -> DraftMarks:
        """The sentences of an aspect, as far as they are to be seen."""
        review, indices = self.review, {*self.review.marks.get(number, ())}
        if self.is_blind:
            by = {one: review.newest[f"mark:{number}:{one}"].get(self.who) for one in indices}
            own = [one for one, said in by.items() if said and said.verdict in ("accept", "add")]
            return DraftMarks(frozenset(), frozenset(), frozenset(own))
        proposed = review.state.covers().get(number, frozenset())
        still_open = [one for one in proposed if f"mark:{number}:{one}" in self.left]
        return DraftMarks(frozenset(still_open), frozenset(indices & proposed), frozenset(indices - proposed))

    @property
    def last(self) -> tuple[Decision, ...]:
        """What the person decided last, at once, and has not taken back."""
        stack: list[tuple[Decision, ...]] = []
        own = (one for one in self.review.decisions if one.by == self.who)
        for _, some in groupby(own, key=lambda one: one.at):
            batch = tuple(some)
            if batch[0].words != _TAKEN_BACK:
                stack.append(batch)
            elif stack:
                stack.pop()
        return stack[-1] if stack else ()

    def undo(self) -> None:
        """Take back what was decided last: by a further decision, after which it is open."""
        last = self.last
        if last:
            self.decide(*((one.item, "unsure", _TAKEN_BACK, one.about) for one in last))
            self.go_to(last[0].item)

    @property
    def in_hand(self) -> str:
        """The item of the address, else the first that is left."""
        return (
            self.state["item"]
            if self.state["item"] in self.items
            else next(iter(self.left or self.items), "")
        )

    def decide(self, *said: tuple[str, Verdict, str, str]) -> None:
        """Keep decisions (item, verdict, words, what stood there), and go on to the next item that is left."""
        build = self.review.state.id
        made = [
            Decision(build, item, verdict, self.who, self.mode(item), words, about)
            for item, verdict, words, about in said
        ]
        try:
            add_decisions(resources.store(), self.name, made)
        except EvidenceBenchError as error:
            flash(literal(str(error)))
            return
        done = {one.item for one in made}
        if self.in_hand in {one.item for one in made}:
            at = self.items.index(self.in_hand)
            after = [
                one
                for one in (*self.items[at + 1 :], *self.items[:at])
                if one in self.left and one not in done
            ]
            self.go_to(after[0] if after else "")

    def go_to(self, item: str) -> None:
        self.state.put(item=item or None, sentence=_sentence_of(item), lit=None)

    def about(self, item: str) -> str:
        return self.review.about(item) or ""


def draw_build(state: PageState) -> None:
    """Everything about one build."""
    made = construction_here(state["construction"])
    (review,) = made.reviews([state["build"]])
    build = review.state
    desk = _Desk(state, made.name, made.info, review)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button("All instances", key="all-builds"):
            state.put(build=None, item=None, sentence=None)
            st.rerun()
        st.text_input(
            "Your name or initials",
            placeholder="needed to decide",
            width=220,
            max_chars=100,
            help="Kept with every decision. Names that begin with model: or rule: are no people's.",
            **session_text_widget("author", read=str.strip),
        )
        st.toggle(
            "Without the model's sentences",
            disabled=desk.has_seen,
            help="You have decided on some of them."
            if desk.has_seen
            else "Hides what others and the model marked; your marks are kept as blind ones.",
            **state.widget("blind", desk.is_blind, lambda on: "1" if on else ""),
        )
        st.button("Undo", disabled=not desk.last, on_click=desk.undo, key="build.undo")
        copy_link(state.link("construction", "build"))
    _draw_head(build)
    job_panel(CONSTRUCTING)
    draw_work(made.name, [build])
    _draw_drop(desk)
    if build.pool is None:
        _draw_side(desk)
        return
    drop_missing(state, len(build.pool.sentences))
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_reader(desk)
    with side:
        _draw_side(desk)


def _draw_head(build: BuildState) -> None:
    title = build.pool.title if build.pool else build.input.title
    st.markdown(f"# {literal(build.hypothesis or title or build.input.paper, 300)}")
    said = [f"Paper: {title or build.input.paper}"]
    if build.input.review_title or build.input.review_id:
        said.append(f"cited by {build.input.review_title or build.input.review_id}")
    st.caption(f"{literal('; '.join(said), 400)}. **{literal(position_text(build))}**")
    if build.position.problem:
        st.warning(literal(build.position.problem, 500))
    if build.summary:
        with st.expander("What the review says of the paper", expanded=not build.drafted):
            st.markdown(literal(build.summary))
            if build.question:
                st.caption(f"The question behind it: {literal(build.question)}")
    if any(one.source == "model" for one in build.aspects):
        st.warning(
            "A model proposed these study aspects from the paper. No expert said that they matter: decide on each."
        )


def _draw_drop(desk: _Desk) -> None:
    """For one that was dropped, the way to keep it all the same; for another, to drop it."""
    at = desk.review.state.position
    if at.stage == "pool" or at.status in ("due", "failed"):
        return
    label, said = ("Drop it", ("build", "reject", "", ""))
    if at.status == "dropped":
        build = desk.review.state
        overruled = replace(build, edits=replace(build.edits, dropped=False)).position.reason or ""
        label, said = "Keep it all the same", ("build", "accept", overruled, "")
    with st.container(horizontal=True):
        st.button(label, key="build.drop", disabled=not desk.who, on_click=desk.decide, args=(said,))


def _draw_reader(desk: _Desk) -> None:
    build, state = desk.review.state, desk.state
    assert build.pool is not None  # noqa: S101 - it was read
    marks = [desk.marks(one.number) for one in build.aspects]
    shown = []
    for one, of in zip(build.aspects, marks, strict=True):
        indices = tuple(sorted(of.proposed | of.accepted | of.added))
        shown.append(Aspect(str(one.number), indices, bool(one.is_result), f"A{one.number + 1}", one.text))
    numbers = [one.number for one in build.aspects]
    of_item = _number_of(desk.in_hand) if _index_of(desk.in_hand) is None else None
    lit = int(state["lit"]) if state["lit"].isdecimal() and int(state["lit"]) in numbers else of_item

    def act(event: PaperEvent) -> None:
        aspect = None if event.aspect is None else str(numbers[event.aspect])
        state.put(sentence=event.sentence, lit=aspect)

    selected = state.number("sentence")
    view = PaperView(
        f"{desk.name}/{build.id}",
        build.pool.sentences,
        build.pool.sentence_types,
        tuple(shown),
        active=None,
        selected=_index_of(desk.in_hand) if selected is None else selected,
        aspect=numbers.index(lit) if lit in numbers else None,
        draft=DraftMarks(
            frozenset[int]().union(*(of.proposed for of in marks)),
            frozenset[int]().union(*(of.accepted for of in marks)),
            frozenset[int]().union(*(of.added for of in marks)),
        ),
    )
    paper_view(view, key="reader", height=780, on_event=act)


def _draw_side(desk: _Desk) -> None:
    review = desk.review
    if not desk.left and review.state.position.status == "kept":
        left = " but the sentences" if desk.is_blind and review.open_items else ""
        st.success(f"Everything{left} is decided.")
    if desk.items:
        _draw_bar(desk)
        if desk.in_hand:
            _draw_item(desk, desk.in_hand)
    _draw_sentence(desk)
    _draw_aspects(desk)
    if review.disagreements:
        named = ", ".join(_name(item) for item in review.disagreements[:20])
        st.warning(f"People differ on {literal(named, 600)}. What one of them accepts stays.")
    if review.stale:
        st.caption(
            f"{quantity(len(review.stale), 'decision')} about something that has changed since: kept, not applied."
        )
    draw_build_saving(review, desk.name)


def _draw_bar(desk: _Desk) -> None:
    at = desk.items.index(desk.in_hand)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(desk.left):,} left** of {len(desk.items):,}", width="content")
        for label, key, to in (("Back", "K", at - 1), ("Next", "J", at + 1)):
            is_there = 0 <= to < len(desk.items)
            st.button(
                label,
                key=f"build.{label}",
                shortcut=key,
                disabled=not is_there,
                on_click=desk.go_to,
                args=(desk.items[to] if is_there else "",),
            )


def _draw_item(desk: _Desk, item: str) -> None:
    kind, number = item.split(":", maxsplit=1)[0], _number_of(item)
    build = desk.review.state
    aspect = next((one for one in build.aspects if one.number == number), None)
    verdict = desk.verdict(item)
    with st.container(border=True, key="draft-in-hand"):
        decided = f" · {_DECIDED[verdict]}" if verdict else ""
        st.caption(f"{literal(_name(item))}{decided}")
        text = build.hypothesis if kind == "hypothesis" else aspect.text if aspect else ""
        st.markdown(f"**{literal(text)}**" if kind in _EDITABLE else literal(text))
        index = _index_of(item)
        if index is not None and build.pool is not None:
            st.markdown(f"“{literal(build.pool.sentences[index])}”")
            for reason in _reasons(build, number, index):
                st.caption(f"The model: {literal(reason, 400)}")
        if kind == "uncovered":
            st.markdown("No sentence covers it. Accept to leave it out, or choose a sentence in the paper.")
        if aspect and kind == "aspect":
            for problem in aspect.problems:
                st.markdown(f":orange[{literal(problem)}]")
        _draw_buttons(desk, item, text)


def _draw_buttons(desk: _Desk, item: str, text: str) -> None:
    about, kind = desk.about(item), item.split(":", maxsplit=1)[0]
    nameless = not desk.who
    why = "Say above who you are: it is kept with the decision." if nameless else None
    with st.container(horizontal=True):
        options: Sequence[tuple[str, str, Verdict]] = (
            ("Accept", "A", "accept"),
            ("Reject", "X", "reject"),
            ("Unsure", "U", "unsure"),
        )
        for label, key, verdict in options:
            if kind == "uncovered" and verdict == "reject":
                continue
            st.button(
                label,
                key=f"build.{label}.{item}",
                shortcut=key,
                type="primary" if verdict == "accept" else "secondary",
                disabled=nameless,
                help=why,
                on_click=desk.decide,
                args=((item, verdict, "", about),),
            )
        if kind not in _EDITABLE:
            return
        with st.popover("Edit", disabled=nameless):
            field = f"build.words.{item}.{text[:40]}"
            st.text_area("Your words", value=text, max_chars=2_000, key=field)
            st.button("Keep these words", type="primary", key=f"build.keep.{item}", on_click=_edit,
                      args=(desk, item, field))  # fmt: skip
            if kind == "aspect":
                st.caption("The changed aspect is looked for in the paper again.")


def _edit(desk: _Desk, item: str, field: str) -> None:
    words = " ".join(local_widget_text(field).split())
    about = desk.about(item)
    if not words or words == about:
        flash("Nothing was changed.")
    elif item == "hypothesis":
        desk.decide((item, "edit", words, about))
    else:
        new = f"aspect:{next_number(desk.review.state)}"
        desk.decide((item, "edit", words, about), (new, "add", words, ""))


def _draw_sentence(desk: _Desk) -> None:
    """The chosen sentence, and the aspects that it does not cover yet, to be added."""
    build, index = desk.review.state, desk.state.number("sentence")
    if build.pool is None or index is None or not build.aspects:
        return
    sentence, others = build.pool.sentences[index], {}
    for one in build.aspects:
        of = desk.marks(one.number)
        if index not in of.proposed | of.accepted | of.added:
            others[one.number] = one.text
    if not others:
        return
    with st.container(border=True):
        st.caption(f"Sentence {index}: {literal(sentence, 200)}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            number = st.selectbox(
                "It covers",
                list(others),
                format_func=lambda one: f"A{one + 1} {clipped_text(others[one], 80)}",
                key=f"build.covers.{index}",
            )
            st.button(
                "Add",
                disabled=not desk.who,
                key="build.add-mark",
                on_click=desk.decide,
                args=((f"mark:{number}:{index}", "add", "", mark_about(others[number], sentence)),),
            )


def _draw_aspects(desk: _Desk) -> None:
    """All aspects with what stands of each, whether it is a result, and a field for one more."""
    build = desk.review.state
    if not build.aspects:
        return
    st.markdown("## Study aspects")
    for one in build.aspects:
        marks = [item for item in desk.left if item.startswith(f"mark:{one.number}:")]
        of = desk.marks(one.number)
        n_marks = len(of.accepted | of.added)
        verdict = desk.verdict(f"aspect:{one.number}")
        by = "yours" if one.source == "user" else _DECIDED.get(verdict or "", "open")
        with st.container(horizontal=True, vertical_alignment="center"):
            left = f", {len(marks)} open" if marks else ""
            st.markdown(
                f"**A{one.number + 1}** {literal(one.text)}  \n:gray[{by}; "
                f"{quantity(n_marks, 'sentence')}{left}{'; a result' if one.is_result else ''}]"
            )
            st.button(
                "No result" if one.is_result else "A result",
                key=f"build.result.{one.number}",
                disabled=not desk.who,
                help="Whether it is what the study found, or how it was made.",
                on_click=desk.decide,
                args=((f"result:{one.number}", "edit", "no" if one.is_result else "yes", one.text),),
            )
            if len(marks) > 1:
                st.button(
                    f"Accept {len(marks)}",
                    key=f"build.all.{one.number}",
                    disabled=not desk.who,
                    help="All sentences that are proposed for it and still open. Read them first.",
                    on_click=desk.decide,
                    args=tuple((item, "accept", "", desk.about(item)) for item in marks),
                )
    with st.form("build.new-aspect", clear_on_submit=True, border=True):
        st.text_input("New study aspect", max_chars=2_000, key="build.aspect")
        st.form_submit_button("Add aspect", disabled=not desk.who, on_click=_add_aspect, args=(desk,))


def _add_aspect(desk: _Desk) -> None:
    words = " ".join(local_widget_text("build.aspect").split())
    if words:
        desk.decide((f"aspect:{next_number(desk.review.state)}", "add", words, ""))


def _reasons(build: BuildState, number: int | None, index: int) -> list[str]:
    """The lines of the model's answers about a sentence it chose."""
    windows = build.aligned.get(-1 if number is None else number, {}).values()
    said = [echo_lines(one.get("text", "")).get(index, "") for one in windows if index in one["yes"]]
    return [line for line in dict.fromkeys(said) if line]


def _name(item: str) -> str:
    """``"Study aspect A2"``, ``"A2, sentence 17"``."""
    kind, number, index = item.split(":", maxsplit=1)[0], _number_of(item), _index_of(item)
    label = f"A{number + 1}" if number is not None else ""
    if index is not None:
        return f"{label}, sentence {index}"
    return {"aspect": f"Study aspect {label}", "uncovered": f"{label} without a sentence"}.get(
        kind, kind.capitalize() + (f" {label}" if label else "")
    )


def _number_of(item: str) -> int | None:
    parts = item.split(":")
    return int(parts[1]) if len(parts) > 1 else None


def _index_of(item: str) -> int | None:
    parts = item.split(":")
    return int(parts[2]) if len(parts) > 2 else None


def _sentence_of(item: str) -> str | None:
    index = _index_of(item)
    return None if index is None else str(index)
