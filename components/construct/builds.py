"""The constructions, and one of them: its builds with how far they are and what is left to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.construct.begin import begin_dialog
from components.construct.start import STAGE_NAMES, construction_here, jobs_of, work_dialog
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.construction import BuildState
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.sheets import decided_rows, sheet_figures
from evidencebench_core.construction.store import constructions
from evidencebench_core.words import quantity

_SHOWN: Final = 50  # builds a page
_ALL: Final = (
    Column("name", "Construction", "title"),
    Column("n", "Instances", "number"),
    Column("model", "Model"),
)
_BUILDS: Final = (
    Column("hypothesis", "Hypothesis", "title"),
    Column("id", "Instance", "id"),
    Column("at", "How far"),
    Column("left", "Left to decide", "number"),
    Column("by", "Decided by"),
)
_STATUS: Final = {"failed": "no usable answer", "kept": "Every sentence looked at"}
_REASONS: Final[Mapping[str, str]] = {
    "no_full_text": "its paper cannot be read",
    "licence": "no open licence of its paper is known",
    "unresolvable": "its paper cannot be found",
    "boundary_empty": "no sentence is about this paper alone",
    "unsuitable": "the summary says nothing particular",
    "hypothesis_refused": "no hypothesis passed the checks",
    "no_aspects": "no study aspects",
    "leak": "aspects say more than the summary",
    "coverage": "too few of its aspects stand in the paper",
    "too_few_aspects": "too few aspects",
    "human": "by a person",
}


def draw_constructions(state: PageState) -> None:
    """All of them, and the way to begin one."""
    st.markdown("## A new instance from a paper")
    st.markdown(
        "Begin with what a review says of a paper, or with a hypothesis of your own. A model proposes study aspects "
        "and the sentences that cover them; you decide on each."
    )
    rows = [
        Row(one.name, (one.name, one.n_builds, one.settings.model if one.settings else None))
        for one in constructions(resources.store())
    ]
    if rows:
        table(
            _ALL,
            rows,
            key="constructions",
            on_open=lambda name: state.put(construction=name),
            caption="Constructions; a click opens one",
        )
    if st.button("Begin an instance", key="begin-instance"):
        begin_dialog(state)


def draw_construction(state: PageState) -> None:
    """One construction: what a model can do for it, and its builds."""
    made = construction_here(state["construction"])
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("All papers", key="all-papers"):
            state.put(**dict.fromkeys(state.defaults))
            st.rerun()
        if st.button("Begin an instance", key="begin-instance"):
            begin_dialog(state)
        copy_link(state.link("construction"))
    st.title(literal(made.name, 100))
    job_panel(jobs_of(made.name))
    ids = made.ids()
    at = min((state.number("at") or 0), max(0, len(ids) - 1) // _SHOWN)
    some = ids[at * _SHOWN : (at + 1) * _SHOWN]
    reviews = list(made.reviews(some))
    draw_work(made.name, [one.state for one in reviews])
    _draw_misses(reviews)
    table(
        _BUILDS,
        [_row(one) for one in reviews],
        key="builds",
        on_open=lambda build: state.put(build=build),
        caption="Instances in the making; a click opens one",
        height=560,
    )
    if len(ids) > _SHOWN:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{at * _SHOWN + 1:,} to {at * _SHOWN + len(some):,} of {len(ids):,}", width="content")
            for label, to in (("Back", at - 1), ("Next", at + 1)):
                is_there = 0 <= to * _SHOWN < len(ids)
                st.button(
                    label,
                    disabled=not is_there,
                    on_click=state.put,
                    kwargs={"at": to or None},
                    key=f"builds.{label}",
                )


def _draw_misses(reviews: list[Review]) -> None:
    """Precision and recall of what is proposed, by aspects whose sentences a person judged among others (rule 50)."""
    by_state = {one.state.id: tuple(decided_rows(one)) for one in reviews if one.decisions}
    rows = [row for of in by_state.values() for row in of]
    if not rows:
        return
    found = sheet_figures(
        (one.state for one in reviews if by_state.get(one.state.id)), rows, n_resamples=1_000
    )
    if not found.precision or not found.recall:
        return
    said = " and ".join(
        f"{words} {percent(one['value'])}{_span(one['ci95'])}"
        for words, one in (
            ("of the sentences that a model proposed people accept", found.precision),
            ("of those that cover an aspect it proposed", found.recall),
        )
    )
    n = quantity(found.precision["n"] + found.recall["n"], "sentence")
    st.caption(
        f"By {n} judged where proposals stood among others: {said}. The second is estimated from the "
        f"{found.recall['n']:,} that were not proposed."
    )


def _span(ci95: Sequence[float] | None) -> str:
    """``" (71.0% to 98.0%)"``; empty where it cannot be told, as of one paper."""
    return "" if ci95 is None else f" ({percent(ci95[0])} to {percent(ci95[1])})"


def draw_work(name: str, states: list[BuildState]) -> None:
    """The buttons that have a model propose, or look in the papers, where that is due."""
    before = [
        one.id for one in states if is_open(one) and one.position.stage not in ("alignment", "coverage")
    ]
    looks = [one.id for one in states if is_open(one) and one.position.stage == "alignment"]
    with st.container(horizontal=True, vertical_alignment="center"):
        if before and st.button("Have it proposed", type="primary", key="construct-propose"):
            work_dialog(name, before, "results")
        if before:
            st.caption(f"{quantity(len(before), 'instance')} without study aspects yet", width="content")
        if looks and st.button(
            "Look for the aspects in the papers",
            type="secondary" if before else "primary",
            key="construct-look",
        ):
            work_dialog(name, looks, "alignment")
        if looks:
            st.caption(
                f"{quantity(len(looks), 'instance')}: read the aspects first, as every one is looked for in the whole "
                "paper.",
                width="content",
            )


def is_open(state: BuildState) -> bool:
    """Whether there is something to ask a model for it."""
    return state.position.status in ("due", "failed")


def reason_text(reason: str) -> str:
    """Why a build was dropped."""
    return _REASONS.get(reason, reason.replace("_", " "))


def position_text(state: BuildState) -> str:
    """How far a build is, plain."""
    at = state.position
    if at.status == "kept":
        return _STATUS["kept"]
    if at.reason:
        return f"Dropped: {reason_text(at.reason)}"
    if at.status == "due":
        return f"Next: {STAGE_NAMES[at.stage]}"
    return f"{STAGE_NAMES[at.stage]}: {_STATUS[at.status]}"


def _row(review: Review) -> Row:
    state = review.state
    by = ", ".join(dict.fromkeys(one.by for one in review.decisions))
    return Row(
        state.id,
        (
            state.hypothesis or state.input.title or state.input.paper,
            state.id,
            position_text(state),
            len(review.open_items),
            by or None,
        ),
    )
