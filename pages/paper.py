"""Your paper: from a file and a hypothesis to the sentences that bear on it; also before an audience."""

from __future__ import annotations

import streamlit as st

from components.app import resources
from components.app.page import drop_missing_sentence, guarded
from components.app.state import PageState
from components.paper.bring import draw_bring, open_paper
from components.paper.keeping import found_paper
from components.paper.present import draw_presenting
from components.paper.reading_job import forget_job, reading_job
from components.paper.working import draw_working
from components.widgets.retriever_picker import choices_from
from evidencebench_core.cli.find import DEFAULT_BUDGET
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import retriever_entries
from evidencebench_core.retrievers.ranker.default import default_retriever

DEFAULTS = {
    "paper": "",
    "h": "",
    "h0": "",  # the wording before, which the picks are compared with
    "k": str(DEFAULT_BUDGET),
    "r": default_retriever(),
    "sentence": "",
    "system": "0",
    "present": "",
}


def draw(state: PageState) -> None:
    _take_what_was_read(state)
    _warm(state)
    if not state["paper"]:
        draw_bring(state)
        return
    opened = found_paper(state["paper"])
    if opened is None:
        _gone(state)
        return
    drop_missing_sentence(state, len(opened.paper.sentences))
    if state["present"]:
        draw_presenting(state, opened, choices_from(state["r"]) or choices_from(default_retriever()))
    else:
        draw_working(state, opened)


def _take_what_was_read(state: PageState) -> None:
    """Open the paper that a job of this session has read."""
    job = reading_job()
    if job is not None and job.status.state == "done":
        forget_job()
        open_paper(state, job.subject, h=state["h"])


def _warm(state: PageState) -> None:
    """Load the models of the chosen retrievers while the reader looks for the file."""
    try:
        choices = choices_from(state["r"])
    except SettingError:
        return  # the picker says it
    for choice in choices:
        entry = retriever_entries()[choice.name]
        if not (entry.asks_server or entry.sees_gold):
            resources.warm(choice.name, choice.settings)


def _gone(state: PageState) -> None:
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


with guarded():
    draw(PageState("paper", DEFAULTS))
