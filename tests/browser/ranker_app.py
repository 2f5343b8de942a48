"""The list of reasons on its own, for browser tests."""

from __future__ import annotations

import json

import streamlit as st

from components.widgets.why_list import why_list, whys_of
from evidencebench_core.retrievers import Retrieval

SENTENCES = ("Tea.", "<b>Tea</b> helps & *heals*.", "Nobody slept.")

st.set_page_config(page_title="Reasons", layout="wide")
one = {
    "score": 2.0,
    "place": 3,
    "gain": 0.2,
    "repeated": 0.25,
    "groups": {"place": 0.5, "meaning shared": 1.5, "cue words": -0.3},
    "features": [["cosine", 0.62, 1.5], ["citation", 2, -0.3]],
}
details = {"explanation": json.dumps({"1": one, "2": {**one, "repeated": 0.5}})}
whys = whys_of(Retrieval((), (), (1, 2), 0.0, details), SENTENCES)
with st.container(key="paper-stays-in-sight"):
    st.markdown(f"clicked={st.session_state.get('clicked')}")
why_list(whys, key="whys", on_sentence=lambda index: st.session_state.update(clicked=index))
