"""The part of the page Wording where a model is asked to write paraphrases and negations."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState, local_widget
from components.models.caps import draw_caps, draw_estimate_of
from components.models.server import address_text, draw_server, session_connection, session_model
from components.widgets.first_instances import first_instances
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.wording.making import JOB_KIND, Making, making_estimate, start_making
from evidencebench_core.data import DatasetInfo
from evidencebench_core.perturb import Drafts
from evidencebench_core.perturb.making import KINDS, Kind

__all__ = ["draw_make"]

_NAMES: Final[dict[Kind, str]] = {"paraphrase": "Paraphrases", "negation": "Negations"}


def draw_make(state: PageState, dataset: DatasetInfo) -> None:
    """Server and model, what to write, caps, estimate, button, progress."""
    st.markdown(
        "A language model writes other wordings of the hypotheses. What it writes are **drafts**: somebody reads "
        "each one and accepts it, changes it or rejects it, and only accepted ones are wordings that a run can "
        "use. Model, prompt, date and reviewer stay with every wording."
    )
    job_panel(JOB_KIND)
    _waiting(state, dataset)
    model = session_model()
    told = f"Asks **{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{told}: server, key and model", expanded=not model):
        draw_server()
    kinds = st.pills(
        "What to write",
        KINDS,
        selection_mode="multi",
        format_func=_NAMES.__getitem__,
        help="A paraphrase keeps every scientific term, number and direction; one that has lost a term such as "
        "IL-6 or 0.3 mg is refused. A negation turns the direction round. The prompts are on the page Models.",
        **local_widget("make.kinds", list(KINDS)),
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        limit = first_instances(dataset, f"make.limit.{dataset.id}")
    with right:
        fresh = st.checkbox(
            "Ask again where there is a draft",
            help="Pays again. Where the new words differ they take the old draft's place and wait to be read.",
            key="make.fresh",
        )
    draw_caps()
    if not kinds:
        st.info("Choose what to write.")
    elif model:
        making = Making(dataset, model, tuple(kind for kind in KINDS if kind in kinds), limit, fresh)
        _start(making)


def _start(making: Making) -> None:
    ready = draw_estimate_of(lambda: making_estimate(making), "wording")
    left = making.fresh or _left(making)
    if not left:
        st.caption("Every instance chosen has such drafts already, by this model and these prompts.")
    if st.button("Write drafts", type="primary", disabled=not (ready and left), key="make.start"):
        start_making(making)
        st.rerun()


def _left(making: Making) -> bool:
    known = making.known()
    ids = resources.store().ids(making.dataset.name, making.limit)
    return any((one, kind) not in known for one in ids for kind in making.kinds)


def _waiting(state: PageState, dataset: DatasetInfo) -> None:
    """How much there is to read, and the way there."""
    counts = Drafts(resources.store(), dataset.name).counts()
    if counts["waiting"] or counts["refused"]:
        refused = f", {counts['refused']:,} refused by the checks" if counts["refused"] else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{counts['waiting']:,} waiting to be read**{refused}.", width="content")
            st.button(
                "Review", key="make.review", on_click=lambda: state.put(part="review", drafts=None, at=None)
            )
