"""The reader for browser tests and benchmark: ``?view=short|stress|hostile``, ``&answer=1`` beside prose."""

from dataclasses import replace

import streamlit as st

from components.answers.labels import Badge
from components.answers.prose import Sentence, answer_prose
from components.paper_view import PaperEvent, paper_view
from tests.browser.reader_views import hostile_view, short_view, stress_view

VIEWS = {"short": short_view, "stress": stress_view, "hostile": hostile_view}

st.set_page_config(page_title="Reader", layout="wide")
state = st.session_state
for name, value in {"sentence": None, "aspect": None, "system": 0, "events": 0}.items():
    state.setdefault(name, value)


def keep(event: PaperEvent) -> None:
    state.sentence, state.aspect, state.system = event.sentence, event.aspect, event.system
    state.events += 1


chosen = st.segmented_control("Paper", list(VIEWS), default=st.query_params.get("view", "short"))
view = VIEWS[chosen or "short"]()
if "answer" in st.query_params:
    mark = Badge("✓", "supported", "good")
    answer_prose(
        [Sentence(place, f"Sentence {place} of the answer.", mark, "", place == "c") for place in "abc"],
        key="answer",
        chosen=state.get("place", "a"),
        document="",
        on_choice=lambda place, _: state.update(place=place),
    )
    view = replace(view, is_main=False)
paper_view(
    replace(view, selected=state.sentence, aspect=state.aspect, active=state.system),
    key="reader",
    on_event=keep,
    height=600,
)
st.text(f"sentence={state.sentence} aspect={state.aspect} system={state.system} events={state.events}")
