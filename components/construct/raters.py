"""The way back from a paper that people mark to the build that it is of."""

from __future__ import annotations

import streamlit as st

from components.app.state import PageState
from evidencebench_core.construction.raters import named_build


def draw_way_back(state: PageState, key: str) -> None:
    """To the build, and what is to be known of its annotators."""
    name, build = named_build(key)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Back to the instance", key="to-build"):
            state.put(**dict.fromkeys(state.defaults) | {"construction": name, "build": build})
            st.rerun()
        if state["view"] == "compare":
            st.caption(
                "(assisted): decided with the proposals in sight, which sways people. To see how far the model agrees "
                "with people, compare it with marks made by hand or (blind).",
                width="content",
            )
