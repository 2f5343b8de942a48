"""Models: the server and its key, the prices, the prompts, and what the ranker of this machine has learnt."""

from __future__ import annotations

import streamlit as st

from components.app.choices import Choice, choices_text
from components.app.page import guard
from components.app.session import open_later
from components.app.state import PageState
from components.models.prices import draw_prices
from components.models.prompts import draw_prompts
from components.models.ranker.first_use import draw_ranker
from components.models.server import draw_server, session_model
from components.widgets.switches import option_switch

DEFAULTS = {"part": "server", "prompt": "", "on": "", "focus": "all"}
PARTS = {"server": "Server and key", "prices": "Prices", "prompts": "Prompts", "ranker": "Evidence ranker"}


def draw(state: PageState) -> None:
    st.title("Models")
    st.markdown(
        "Language models choose evidence through any server that speaks the OpenAI protocol: a maker's, or one "
        "on your own machine. The evidence ranker needs none: it is trained and asked right here."
    )
    part = option_switch(
        state, "part", "Part of the page", PARTS, fallback="the server is", label_visibility="collapsed"
    )
    if part == "prices":
        draw_prices()
    elif part == "prompts":
        draw_prompts(state)
    elif part == "ranker":
        draw_ranker()
    else:
        draw_server()
        _next()


def _next() -> None:
    """The next steps: try, then ask."""
    if not session_model():
        st.info(
            "Three steps: give the address of a server (the names below the field fill in the usual ones; a local "
            "server needs no key), try the connection to see its models, choose one. Nothing is asked of a model "
            "until you click, and every run tells first what it will take."
        )
        return
    st.markdown("Now the model can be asked:")
    with st.container(horizontal=True):
        st.button("About one instance", on_click=open_later, args=("browse", {"r": _choice()}))
        st.button("About a whole dataset", on_click=open_later, args=("leaderboard", {}))
        st.button("To reword hypotheses", on_click=open_later, args=("wording", {"part": "make"}))


def _choice() -> str:
    """The retriever in a link of Browse."""
    return choices_text([Choice("llm", {"model": session_model()})])


with guard():
    draw(PageState("models", DEFAULTS))
