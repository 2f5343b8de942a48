"""Mark evidence: aspects and marks by hand, a model's proposal decided by keys, two annotators and a consensus."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.annotate.deciding import (
    JOB_KIND,
    draw_comparing,
    draw_proposals,
    draw_proposing,
    show_in_hand,
)
from components.annotate.decisions import open_proposals
from components.annotate.editor import Editor, draw_who, editor_of, own_name
from components.annotate.marking import draw_aspects, draw_guidelines, draw_reader, draw_saving
from components.controls import option_box
from components.frame_table import HYPOTHESIS, INSTANCE, frame_table
from components.guarded import drop_missing, guarded_page, name_window
from components.job_panel import job_panel
from components.markdown import literal
from components.state import PageState, open_later
from components.table import Column
from components.table.paging import paging
from evidencebench_core.annotation.marked import MarkedPaper, instance_key, marked_paper
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import UnknownNameError

# ``annotator``: whose marks are looked at; ``aspect``: what a click marks for; ``item``: what is being decided
PARAMS: Final = ("paper", "annotator", "aspect", "sentence", "a", "b", "item", "dataset", "q")
_COLUMNS: Final = (Column("n_sentences", "Sentences", "number"), Column("who", "Marked by"))
_OWN: Final = (Column("name", "Kept paper", "title"), Column("hypothesis", "Hypothesis"), *_COLUMNS)
_INSTANCES: Final = (HYPOTHESIS, INSTANCE, *_COLUMNS)


def draw(state: PageState) -> None:
    if not state["paper"]:
        _draw_choice(state)
        return
    paper = state["paper"]  # a kept one may be called by its number
    try:
        marked = marked_paper(resources.store(), f"own:{paper}" if paper.isdigit() else paper)
    except UnknownNameError as error:
        st.title("Mark evidence")
        st.warning(literal(str(error)))
        _draw_way_back(state)
        return
    name_window("Mark evidence", marked.name)
    drop_missing(state, len(marked.paper.sentences))
    if state["view"] == "compare":
        with st.container(horizontal=True):
            _draw_way_back(state)
            st.button("Back to marking", on_click=state.put, kwargs={"view": None, "item": None})
        _draw_title(marked, marked.hypothesis)
        draw_comparing(state, marked)
        return
    if own_name() and not state["annotator"]:
        state.put(annotator=own_name())
    _draw_marking(state, editor_of(marked, state["annotator"]))


# -- which paper ------------------------------------------------------------------------------------------


def _draw_choice(state: PageState) -> None:
    st.title("Mark evidence")
    st.markdown(
        "Write down what a reader should learn from a paper (its study aspects), mark the sentences that say it, and "
        "save the result as an instance of the benchmark. Several people can mark one paper and settle their "
        "differences in a consensus."
    )
    st.markdown("## Your papers")
    papers = resources.own_papers().all()
    if papers:
        frame = pd.DataFrame(
            [(own.key, own.name, own.hypothesis, own.n_sentences, _markers(own.key)) for own in papers],
            columns=["key", "name", "hypothesis", "n_sentences", "who"],
        )
        _draw_table(state, _OWN, frame, "own-to-mark", "Kept papers; a click opens one")
    else:
        st.markdown("Papers that you bring and keep will be listed here.")
        st.button("Bring a paper", type="primary", on_click=open_later, args=("paper", {}))
    st.markdown("## Or an instance of a dataset")
    st.markdown("Its gold stays hidden while you mark; afterwards you can compare your marks with it.")
    datasets = {info.name: info for info in resources.store().datasets()}
    if datasets:
        _draw_instances(state, datasets)
    else:
        st.button("Load a dataset", key="annotate-home", on_click=open_later, args=("home", {}))


def _draw_instances(state: PageState, datasets: dict[str, DatasetInfo]) -> None:
    names = dict(zip(datasets, datasets, strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = datasets[option_box(state, "dataset", "Dataset", names, reset=("q", "page"))]
        st.text_input(
            "Words of its hypothesis",
            placeholder="night shift diabetes",
            **state.widget("q", state["q"], reset=("page",)),
        )
    frame = resources.instances(dataset)
    frame = frame[frame["id"].isin(resources.matching(dataset, state["q"]))]
    frame = frame.assign(key=instance_key(dataset, "") + frame["id"])
    is_begun = frame["key"].isin(resources.paper_annotations().papers())
    frame = pd.concat([frame[is_begun], frame[~is_begun]])
    pages = paging(state, len(frame))
    shown = frame.iloc[pages.rows]
    shown = shown.assign(who=shown["key"].map(_markers))
    _draw_table(state, _INSTANCES, shown, "instances-to-mark", "Instances; a click opens one")
    pages.draw(state)


def _markers(key: str) -> str | None:
    return ", ".join(resources.paper_annotations().annotators(key)) or None


def _draw_table(
    state: PageState, columns: tuple[Column, ...], frame: pd.DataFrame, key: str, caption: str
) -> None:
    frame_table(
        columns,
        frame,
        key=key,
        ids="key",
        on_open=lambda paper: state.put(paper=paper),
        link=lambda paper: state.link(paper=paper),
        caption=caption,
        empty="No hypothesis has these words.",
        height=420,
    )


# -- one paper --------------------------------------------------------------------------------------------


def _draw_way_back(state: PageState) -> None:
    gone = dict.fromkeys(set(state.defaults) - {"dataset", "q", "page"})
    st.button("All papers", key="all-papers", on_click=state.put, kwargs=gone)


def _draw_title(marked: MarkedPaper, hypothesis: str) -> None:
    st.markdown(f"# {literal(hypothesis or marked.name, 300)}")
    where = marked.name if marked.dataset is None else f"instance {marked.name} of {marked.dataset}"
    st.caption(literal(where))


def _draw_marking(state: PageState, editor: Editor) -> None:
    proposals = resources.paper_annotations().proposals(editor.marked.key) if editor.may_write else {}
    proposal = next(reversed(proposals.values()), None)
    waiting = () if proposal is None else open_proposals(editor.annotation, proposal)
    show_in_hand(state, editor.marked, waiting)
    _draw_bar(state, editor, has_desk=bool(waiting))
    job_panel(JOB_KIND)
    _draw_title(editor.marked, editor.annotation.hypothesis)
    left, right = st.columns([58, 42], gap="medium")
    with left, st.container(key="paper-stays-in-sight"):
        draw_reader(state, editor, [item.sentence for item in waiting if item.sentence is not None])
    with right:
        if proposal is not None:
            draw_proposals(state, editor, proposal, waiting)
        draw_aspects(state, editor)
        if editor.may_write:
            draw_saving(editor)


def _draw_bar(state: PageState, editor: Editor, has_desk: bool) -> None:
    """One line: the ways on, who marks, undo and redo."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_way_back(state)
        draw_who(state, editor)
        if editor.may_write:
            if not has_desk:  # which has an Undo of its own
                st.button("Undo", disabled=not editor.revision.can_undo, on_click=editor.undo)
            st.button("Redo", disabled=not editor.revision.can_redo, on_click=editor.redo)
            with st.popover("Hypothesis"):
                _draw_hypothesis(editor)
            with st.popover("Guidelines"):
                draw_guidelines()
            draw_proposing(editor)
        st.button("Compare", on_click=state.put, kwargs={"view": "compare", "item": None})


def _draw_hypothesis(editor: Editor) -> None:
    key = f"hypothesis.{editor.version}"
    st.text_area(
        "Hypothesis",
        value=editor.annotation.hypothesis,
        height=68,
        max_chars=2000,
        placeholder="Longer exposure to night-shift work increases the risk of type 2 diabetes.",
        key=key,
        on_change=lambda: editor.edit(lambda annotation: annotation.set_hypothesis(st.session_state[key])),
    )


with guarded_page():
    draw(PageState("annotate", {**dict.fromkeys(PARAMS, ""), "view": "mark", "page": "1"}))
