"""Your paper: from a file and a hypothesis to the sentences that bear on it; also before an audience."""

from __future__ import annotations

import streamlit as st

from components.app import live
from components.app.choices import choices_from
from components.app.page import drop_missing, guard, name_window
from components.app.state import PageState
from components.paper.bring import draw_bring
from components.paper.import_job import BETWEEN_REFS, forget_job, import_job
from components.paper.keeping import named_paper, open_paper
from components.paper.present import draw_presenting
from components.paper.reading import draw_reading
from components.paper.several import draw_several
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.retrievers.ranker.model_file import default_retriever
from evidencebench_core.runs import DEFAULT_BUDGET

DEFAULTS = {
    "paper": "",
    "over": "",  # several papers, of which one question is asked
    "h": "",
    "h0": "",  # the wording before, which the picks are compared with
    "k": str(DEFAULT_BUDGET),
    "r": default_retriever(),
    "sentence": "",
    "system": "0",
    "words": "",
    "view": "",
    "page": "",
    "zoom": "",
    "present": "",
}


def draw(state: PageState) -> None:
    _open_imported(state)
    _warm(state)
    if not state["paper"]:
        if state["over"]:
            name_window("Your paper", "One question over several papers")
            draw_several(state)
        else:
            draw_bring(state)
        return
    opened = named_paper(state["paper"])
    if opened is None:
        _draw_gone(state)
        return
    name_window("Your paper", opened.title)
    drop_missing(state, len(opened.paper.sentences))
    if state["present"]:
        choices = choices_from(state["r"])
        draw_presenting(state, opened, choices or choices_from(default_retriever()))
    else:
        draw_reading(state, opened)


def _open_imported(state: PageState) -> None:
    """Open the paper that a job of this session has read."""
    job = import_job()
    if job is not None and job.status.state == "done":
        if BETWEEN_REFS in job.subject:
            open_paper(state, None, over=job.subject, h=state["h"])
        else:
            open_paper(state, job.subject, over="", h=state["h"])
        forget_job()  # last: where another run interrupts this one, that one opens the paper


def _warm(state: PageState) -> None:
    """Load the models of the chosen retrievers while the reader looks for the file."""
    try:
        choices = choices_from(state["r"])
    except SettingError:
        return  # the picker says it
    for choice in choices:
        entry = RETRIEVERS[choice.name]
        if not (entry.asks_server or entry.sees_gold):
            live.warm(choice)


def _draw_gone(state: PageState) -> None:
    st.title("Your paper")
    if state["paper"].startswith("open-"):
        st.warning(
            "That paper was not kept, and this server no longer has it in memory. Please bring it again."
        )
    else:
        st.warning("The link names a paper that is not in this store. It may have been removed.")
    if st.button("Bring a paper", type="primary"):
        open_paper(state, None, h=state["h"])
        st.rerun()


with guard():
    draw(PageState("paper", DEFAULTS))
