"""The pages of a paper that was read from a PDF: as printed, with the picks marked where they stand."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import streamlit as st

from components.component import component, component_event, sentence_in
from components.controls import option_switch
from components.markdown import literal
from components.paper.opened import OpenPaper, page_image
from components.paper_view import paper_view
from components.state import PageState
from evidencebench_core.errors import PaperError
from evidencebench_core.export.findings import numbers_beside, share_of_page
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.papers import Box, PageImage, Paper
from evidencebench_core.papers.find import Findings

_ZOOMS: Final = {"": "Fit", "100": "100%", "200": "200%"}  # "": as wide as there is room
_SHARP: Final = {"200": 3.0}  # pixels a point, else 2
_KEY: Final = "pages"

_component = component(
    "page_view",
    Path(__file__).parent,
    '<div class="scroll" tabindex="0" role="region"></div>',
    palette=".sheet",
)


def text_or_pages(
    state: PageState, opened: OpenPaper, hypothesis: str, findings: Findings | None, *, plain: bool
) -> None:
    """Draw the paper's text, or its pages where it has them, with the picks marked; each follows the other.

    It opens at the best finding beyond the abstract. ``plain`` is for an audience: no indices, no keys.
    """
    first = None if findings is None else _best_pick(findings)
    numbers = {} if findings is None else findings.numbers
    selected = state.number("sentence")
    with st.container(key="paper-stays-in-sight"):
        if state["view"] == "page" and opened.has_pages:
            _draw_page(state, opened, numbers, first)
            return
        system = findings and System(findings.retriever.name, tuple(numbers), tuple(numbers.values()))
        view = view_of(
            opened.paper.instance(hypothesis or "No statement yet", opened.ref),
            systems=[system] if system else [],
            active=0 if system else None,
            selected=first if selected is None else selected,
            plain=plain,
        )
        paper_view(view, key="reader", height=780, on_event=lambda event: state.put(sentence=event.sentence))


def _best_pick(findings: Findings) -> int | None:
    """The best beyond the abstract, else the best."""
    types = findings.read.paper.sentence_types
    beyond = (index for index in findings.picks if types[index] != "abstract")
    return next(chain(beyond, findings.picks), None)


def view_switch(state: PageState, opened: OpenPaper) -> None:
    if not opened.has_pages:
        return
    views = {"text": "Text", "page": "Page"}
    option_switch(state, "view", "The paper as", views, reset=("page",), label_visibility="collapsed")


def _on(boxes: Collection[Box], page: int) -> bool:
    return any(box.page == page for box in boxes)


def shown_page(page: int | None, selected: int | None, first: int | None, paper: Paper) -> int:
    """The page to show: where the selected sentence stands, else the one asked for, else that of the finding."""
    boxes = paper.boxes[selected] if selected is not None and selected < len(paper.boxes) else ()
    if boxes:
        return page if page and _on(boxes, page) else boxes[0].page
    return page or (paper.pages.get(first, 1) if first is not None else 1)


def _draw_page(state: PageState, opened: OpenPaper, numbers: Mapping[int, int], first: int | None) -> None:
    selected, zoom = state.number("sentence"), state["zoom"] if state["zoom"] in _ZOOMS else ""
    wanted = shown_page(state.number("page"), selected, first, opened.paper)
    try:
        with st.spinner("Drawing the page …"):
            image = page_image(opened, wanted, _SHARP.get(zoom, 2.0))
    except PaperError as error:
        st.error(literal(str(error)))
        return
    pages = opened.paper.pages
    _draw_bar(state, image, sorted({pages[index] for index in numbers if index in pages}))
    known = set(range(len(opened.paper.sentences)))

    def on_event() -> None:
        event = component_event(_KEY)
        index = sentence_in(event, known)
        if index is not None:
            here = _on(opened.paper.boxes[index], image.page) if opened.paper.boxes else False
            state.put(sentence=index, page=image.page if here else None)
        elif isinstance(event, Mapping) and event.get("page") in range(1, image.n_pages + 1):
            state.put(page=int(event["page"]), sentence=None)

    data = {
        **page_data(opened.paper, image, numbers),
        "src": f"data:image/webp;base64,{b64encode(image.webp).decode()}",
        "selected": selected,
        "zoom": zoom,
    }
    _component(key=_KEY, data=data, on_event_change=on_event)


def _draw_bar(state: PageState, image: PageImage, marked: Sequence[int]) -> None:
    here = image.page if image.page in marked else None
    to_any = state.widget("page", image.page, reset=("sentence",))
    to_marked = state.widget("page", here, lambda page: page or image.page, "marked", ("sentence",))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="pages-bar"):
        st.pagination(image.n_pages, max_visible_pages=5, **to_any)
        st.pills(
            "Marked pages", marked, format_func="p. {}".format, label_visibility="collapsed", **to_marked
        )
        option_switch(state, "zoom", "Zoom", _ZOOMS, label_visibility="collapsed")


def page_data(paper: Paper, image: PageImage, numbers: Mapping[int, int]) -> dict[str, Any]:
    """A page as the browser gets it: every sentence on it with its boxes, in percent of the page, and the picks.

    ``numbers`` are those of the passages, by pick.
    """
    sentences = []
    for index, boxes in enumerate(paper.boxes):
        rects = [share_of_page(box, image) for box in boxes if box.page == image.page]
        if rects:
            sentences.append({"index": index, "place": numbers.get(index), "rects": rects})
    return {
        "page": image.page,
        "n_pages": image.n_pages,
        "width": image.width,
        "height": image.height,
        "sentences": sentences,
        "beside": numbers_beside(paper, numbers, image),
    }
