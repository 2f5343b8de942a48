"""What every page begins with: the guard that turns errors into one line; a link checked."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from components import resources
from components.markdown import literal
from components.state import PageState, open_requested_page, pop_flashes
from evidencebench_core.errors import EvidenceBenchError


@contextmanager
def guarded_page() -> Iterator[None]:
    """Show an error of ours as the one line that it is; everything else is a bug, shown and logged."""
    st.session_state["ended-jobs"] = {job.id for job in resources.jobs().jobs() if job.status.ended}
    open_requested_page()
    for message in pop_flashes():
        st.toast(message)
    with guarded_part("This page"):
        yield


@contextmanager
def guarded_part(what: str = "This part of the page") -> Iterator[None]:
    """The same for fragments and dialogs, which are decorated with it: Streamlit would draw their errors as bugs."""
    try:
        yield
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
    except Exception as error:  # the last line of defence: shown and logged
        logging.getLogger(__name__).exception("a page failed")
        st.error(
            f"{what} failed unexpectedly ({type(error).__name__}). Nothing was lost; the "
            "server's log has the details. Reload the page, or go to another."
        )


def name_window(page: str, what: str) -> None:
    """Put what is read before the page's name in the window's title."""
    st.set_page_config(page_title=f"{what} · {page} · EvidenceBench Explorer")


def drop_missing(state: PageState, n_sentences: int, labels: Sequence[str] | None = None) -> None:
    """Say what a link names that the paper does not have, and go on without it."""
    wrong = []
    index = state.number("sentence")
    if state["sentence"] and (index is None or index >= n_sentences):
        wrong.append(f"sentence {state['sentence']} (the paper has 0 to {n_sentences - 1})")
        state.put(sentence=None)
    if labels is not None and state["aspect"] and state["aspect"] not in labels:
        wrong.append(f"aspect {state['aspect']} (the instance has A1 to A{len(labels)})")
        state.put(aspect=None)
    if wrong:
        st.warning(literal(f"The link points to something that is not there: {' and '.join(wrong)}."))
