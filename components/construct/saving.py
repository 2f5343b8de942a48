"""A finished build becomes an instance of a dataset of one's own."""

from __future__ import annotations

import streamlit as st

from components.app import resources
from components.app.session import flash, open_later
from components.widgets.markdown import literal
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.write import WriteTally, written_instances
from evidencebench_core.data import add_instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.words import quantity


def draw_build_saving(review: Review, name: str) -> None:
    """The way out; before everything is decided, what is left."""
    state = review.state
    if not state.aspects:
        return
    st.markdown("## Save as an instance")
    if review.open_items or not review.reviewed.is_finished:
        left = quantity(len(review.open_items), "decision")
        st.caption(f"{left} left." if review.open_items else "Nobody has decided anything yet.")
        return
    st.caption("Everything is decided. The instance says who decided, and what a model proposed.")
    mine = st.checkbox(
        "I may share the review's texts",
        key="build.texts",
        help="Else its summary and the words of the aspects are left out where its licence does not allow them.",
    )
    dataset = st.text_input("Name of the dataset", value=name, max_chars=200, key="build.dataset").strip()
    if not st.button("Add to my datasets", type="primary", disabled=not dataset, key="build.save"):
        return
    tally = WriteTally()
    try:
        for instance_id, raw in written_instances([review], tally, texts_are_mine=mine):
            add_instance(resources.store(), dataset, instance_id, raw)
            flash(f"Added to the dataset {literal(dataset, 80)}.")
            open_later("browse", {"dataset": dataset, "instance": instance_id})
            st.rerun()
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    st.warning(literal(f"Not added: {', '.join(tally.left_out)}."))
