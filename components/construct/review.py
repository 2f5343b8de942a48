"""One instance in the making: what is proposed, decided item by item, by key or by click, beside the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import streamlit as st

from components.app.page import drop_missing
from components.app.session import flash, local_widget_text, session_text_widget
from components.app.state import PageState
from components.construct.begin import cited_paragraph
from components.construct.builds import draw_work, position_text
from components.construct.desk import BLIND, MIXED, BuildDesk, index_of, item_name, number_of
from components.construct.saving import draw_build_saving
from components.construct.start import construction_here, jobs_of
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from evidencebench_core.construction import BuildState, echo_lines
from evidencebench_core.construction.decisions import Verdict
from evidencebench_core.construction.raters import build_key
from evidencebench_core.construction.review import mark_about, next_number
from evidencebench_core.data import Aspect
from evidencebench_core.export.reader import DraftMarks, PaperView
from evidencebench_core.words import clipped_text, quantity

_DECIDED: Final = {
    "accept": "accepted",
    "reject": "rejected",
    "edit": "edited",
    "add": "added",
    "unsure": "unsure",
}
_EDITABLE: Final = ("hypothesis", "aspect")
_SHOWN: Final = {"": "Proposed", MIXED: "Mixed", BLIND: "Hidden"}
_SHOWN_HELP: Final = (
    "Proposed: what the model marked. Mixed: that among ten others an aspect, without telling which is which, to find "
    "what the model missed. Hidden: no marks of a model or of others in sight; yours are kept as blind ones."
)


def draw_build(state: PageState) -> None:
    """Everything about one build."""
    made = construction_here(state["construction"])
    (review,) = made.reviews([state["build"]])
    build = review.state
    desk = BuildDesk(state, made.name, review)
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
        if build.covers():
            st.segmented_control(
                "The model's sentences",
                [one for one in _SHOWN if one != BLIND or not desk.has_seen],
                format_func=_SHOWN.__getitem__,
                required=True,
                help=_SHOWN_HELP + (" Not for you here: you have seen some." if desk.has_seen else ""),
                **state.widget("blind", _shown(desk), reset=("item",)),
            )
        st.button("Undo", disabled=not desk.last, on_click=desk.undo, key="build.undo")
        if build.covers():
            st.button(
                "Compare",
                disabled=desk.is_blind,
                help="How far the model, people here, and those who mark this paper by hand agree.",
                on_click=state.put,
                kwargs={
                    "paper": build_key(desk.name, review),
                    "view": "compare",
                    **dict.fromkeys(("construction", "build", "item", "sentence", "lit", "blind")),
                },
                key="build.compare",
            )
        _draw_drop(desk)
        copy_link(state.link("construction", "build"))
    _draw_head(desk)
    job_panel(jobs_of(made.name))
    draw_work(made.name, [build])
    if build.pool is None:
        _draw_side(desk)
        return
    drop_missing(state, len(build.pool.sentences))
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_reader(desk)
    with side:
        _draw_side(desk)


def _shown(desk: BuildDesk) -> str:
    return BLIND if desk.is_blind else MIXED if desk.is_mixed else ""


def _draw_head(desk: BuildDesk) -> None:
    build = desk.review.state
    title = build.pool.title if build.pool else build.input.title
    st.markdown(f"# {literal(build.hypothesis or title or build.input.paper, 300)}")
    said = [f"Paper: {title or build.input.paper}"]
    if build.input.review_title or build.input.review_id:
        said.append(f"cited by {build.input.review_title or build.input.review_id}")
    st.caption(f"{literal('; '.join(said), 400)}. **{literal(position_text(build))}**")
    if build.position.problem:
        way_out = (
            " If you know its licence, begin the instance again and say it."
            if build.position.reason == "licence"
            else ""
        )
        st.warning(literal(build.position.problem, 500) + way_out)
    if build.warning:
        cited, there = build.input.title, build.pool.title if build.pool else ""
        st.warning(
            f"Is it the right paper? The review cites “{literal(cited, 300)}”; this one is “{literal(there, 300)}”."
        )
    if build.summary or build.input.paragraph:
        with st.expander(
            "What the review says of the paper" if build.summary else "The paragraph of the review",
            expanded=not build.drafted,
        ):
            st.markdown(literal(build.summary) if build.summary else cited_paragraph(build.input))
            if build.question:
                st.caption(f"The question behind it: {literal(build.question)}")
            _draw_edit(desk, "summary", build.summary, "What follows from it is asked of the model again.")
    if any(one.source == "model" for one in build.aspects):
        st.warning(
            "A model proposed these study aspects from the paper. No expert said that they matter: decide on each."
        )


def _draw_drop(desk: BuildDesk) -> None:
    """For one that was dropped, the way to keep it all the same; for another, to drop it."""
    at = desk.review.state.position
    if at.stage == "pool" or at.status in ("due", "failed"):
        return
    label, said = ("Drop it", ("build", "reject", "", ""))
    if at.reason == "boundary_empty":
        return  # there is nothing to go on with before a person writes the summary
    if at.status == "dropped":
        build = desk.review.state
        overruled = replace(build, edits=replace(build.edits, dropped=False)).position.reason or ""
        label, said = "Keep it all the same", ("build", "accept", overruled, "")
    st.button(label, key="build.drop", disabled=not desk.who, on_click=desk.decide, args=(said,))


def _draw_reader(desk: BuildDesk) -> None:
    build, state = desk.review.state, desk.state
    assert build.pool is not None  # noqa: S101 - it was read
    marks = [desk.marks(one.number) for one in build.aspects]
    shown = []
    for one, of in zip(build.aspects, marks, strict=True):
        indices = tuple(sorted(of.proposed | of.accepted | of.added))
        shown.append(Aspect(str(one.number), indices, bool(one.is_result), f"A{one.number + 1}", one.text))
    numbers = [one.number for one in build.aspects]
    of_item = number_of(desk.in_hand) if index_of(desk.in_hand) is None else None
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
        selected=index_of(desk.in_hand) if selected is None else selected,
        aspect=numbers.index(lit) if lit in numbers else None,
        draft=DraftMarks(
            frozenset[int]().union(*(of.proposed for of in marks)),
            frozenset[int]().union(*(of.accepted for of in marks)),
            frozenset[int]().union(*(of.added for of in marks)),
        ),
    )
    paper_view(view, key="reader", height=780, on_event=act)


def _draw_side(desk: BuildDesk) -> None:
    review = desk.review
    if not desk.left and review.state.position.status == "kept":
        left = " but the sentences" if desk.is_blind and review.open_items else ""
        st.success(f"Everything{left} is decided.")
    if desk.items:
        with st.container(key="decide-here"):  # on a phone at the foot of the screen
            _draw_bar(desk)
            if desk.in_hand:
                _draw_item(desk, desk.in_hand)
            _draw_sentence(desk)
    _draw_aspects(desk)
    if review.disagreements:
        named = ", ".join(item_name(item) for item in review.disagreements[:20])
        st.warning(f"People differ on {literal(named, 600)}. What one of them accepts stays.")
    if review.stale:
        st.caption(
            f"{quantity(len(review.stale), 'decision')} about something that has changed since: kept, not applied."
        )
    draw_build_saving(review, desk.name)


def _draw_bar(desk: BuildDesk) -> None:
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


def _draw_item(desk: BuildDesk, item: str) -> None:
    kind, number = item.split(":", maxsplit=1)[0], number_of(item)
    build = desk.review.state
    aspect = next((one for one in build.aspects if one.number == number), None)
    verdict = desk.verdict(item)
    with st.container(border=True, key="draft-in-hand"):
        decided = f" · {_DECIDED[verdict]}" if verdict else ""
        st.caption(f"{literal(item_name(item))}{decided}")
        text = build.hypothesis if kind == "hypothesis" else aspect.text if aspect else ""
        st.markdown(f"**{literal(text)}**" if kind in _EDITABLE else literal(text))
        index = index_of(item)
        if index is not None and build.pool is not None:
            st.markdown(f"“{literal(build.pool.sentences[index])}”")
            for reason in _reasons(build, number, index) if desk.tells(item) else ():
                st.caption(f"The model: {literal(reason, 400)}")
        if kind == "uncovered":
            st.markdown("No sentence covers it. Accept to leave it out, or choose a sentence in the paper.")
        if aspect and kind == "result":
            st.markdown(
                "Is it what the study found? It is called a result."
                if aspect.is_result
                else "Is it what the study found? Nobody has said yet."
                if aspect.is_result is None
                else "Is it what the study found? It is called no result: how the study was made, or what was known."
            )
        if aspect and kind == "aspect":
            for problem in aspect.problems:
                st.markdown(f":orange[{literal(problem)}]")
        _draw_buttons(desk, item, text)


def _draw_buttons(desk: BuildDesk, item: str, text: str) -> None:
    about, kind = desk.about(item), item.split(":", maxsplit=1)[0]
    nameless = not desk.who
    why = "Say above who you are: it is kept with the decision." if nameless else None
    with st.container(horizontal=True):
        options: list[tuple[str, str, Verdict, str]] = [
            ("Accept", "A", desk.acceptance(item), ""),
            ("Reject", "X", "reject", ""),
            ("Unsure", "U", "unsure", ""),
        ]
        if kind == "result":
            options = [("A result", "A", "edit", "yes"), ("No result", "X", "edit", "no")]
        elif kind == "uncovered":
            del options[1]
        for label, key, verdict, words in options:
            st.button(
                label,
                key=f"build.{label}.{item}",
                shortcut=key,
                type="primary" if key == "A" else "secondary",
                disabled=nameless,
                help=why,
                on_click=desk.decide,
                args=((item, verdict, words, about),),
            )
        if kind in _EDITABLE:
            after = "The changed aspect is looked for in the paper again." if kind == "aspect" else ""
            _draw_edit(desk, item, text, after)


def _draw_edit(desk: BuildDesk, item: str, text: str, after: str = "") -> None:
    with st.popover("Edit" if text else "Write the summary", disabled=not desk.who):
        field = f"build.words.{item}.{text[:40]}"
        longest = 10_000 if item == "summary" else 2_000
        st.text_area("Your words", value=text, max_chars=max(longest, len(text)), key=field)
        st.button(
            "Keep these words",
            type="primary",
            key=f"build.keep.{item}",
            on_click=_edit,
            args=(desk, item, field),
        )
        if after:
            st.caption(after)


def _edit(desk: BuildDesk, item: str, field: str) -> None:
    words = " ".join(local_widget_text(field).split())
    about = desk.about(item)
    if not words or words == about:
        flash("Nothing was changed.")
    elif item in ("hypothesis", "summary"):
        desk.decide((item, "edit", words, about))
    else:
        new = f"aspect:{next_number(desk.review.state)}"
        number = number_of(item)
        was = next((one.is_result for one in desk.review.state.aspects if one.number == number), None)
        said: list[tuple[str, Verdict, str, str]] = [(item, "edit", words, about), (new, "add", words, "")]
        if was is not None:
            said.append((new.replace("aspect", "result"), "edit", "yes" if was else "no", words))
        desk.decide(*said)


def _draw_sentence(desk: BuildDesk) -> None:
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


def _draw_aspects(desk: BuildDesk) -> None:
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
            left = f", {len(marks)} open" if marks and not desk.is_mixed else ""
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
            if len(marks) > 1 and not desk.is_mixed:
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


def _add_aspect(desk: BuildDesk) -> None:
    words = " ".join(local_widget_text("build.aspect").split())
    if words:
        desk.decide((f"aspect:{next_number(desk.review.state)}", "add", words, ""))


def _reasons(build: BuildState, number: int | None, index: int) -> list[str]:
    """The lines of the model's answers about a sentence it chose."""
    windows = build.aligned.get(-1 if number is None else number, {}).values()
    said = [echo_lines(one.get("text", "")).get(index, "") for one in windows if index in one["yes"]]
    return [line for line in dict.fromkeys(said) if line]
