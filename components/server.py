"""The model server of this session: its address, key and model, and a try that lists its models.

The address comes from the session, else from the environment.
A key is kept in the memory of the session, for the server that it was typed for.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.markdown import literal
from components.state import key_name, session_connection, session_text, session_text_widget, set_session_text
from evidencebench_core.errors import EvidenceBenchError, SettingError
from evidencebench_core.llm import Connection, connection_from_environment, listed_models
from evidencebench_core.llm.connection import OPENAI, check_address, check_key
from evidencebench_core.words import quantity


def session_model() -> str:
    """The model chosen in this session; empty if there is none."""
    return session_text("llm.model")


def known_models() -> tuple[str, ...]:
    """The models that the server listed when it was tried; empty if it was not, or has no list."""
    outcome = _models_or_problem(session_connection())
    return outcome if isinstance(outcome, tuple) else ()


def address_text(connection: Connection) -> str:
    """The server's address as Markdown, but not as a link."""
    address = connection.address
    return literal(address) if "`" in address else f"`{address}`"


def draw_chosen_server() -> None:
    """The session's model and server, in an expander that is open while no model is chosen."""
    model = session_model()
    label = f"**{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    # With a key of its own it stays open while the user types in it.
    with st.expander(f"{label}: server, key and model", expanded=not model, key="server", on_change="rerun"):
        _draw_server()


def _draw_server() -> None:
    st.caption("Any server that speaks the OpenAI protocol: a maker's, or one on your own machine.")
    st.text_input(
        "Address of the server (base URL)",
        placeholder=connection_from_environment().address,
        help="Ollama: http://localhost:11434/v1. vLLM: http://localhost:8000/v1. llama.cpp: http://localhost:8080/v1.",
        **session_text_widget("llm.server", read=_read_address),
    )
    connection = session_connection()
    st.text_input(
        "Key",
        type="password",
        placeholder="one is set" if connection.api_key else "none; local servers need none",
        autocomplete="off",
        help="Kept in the memory of this session for this one server, and written nowhere.",
        key="typed.llm.key",
        on_change=_keep_key,
    )
    if problem := st.session_state.get("llm.problem"):
        st.error(literal(problem))
    model_field = st.container()  # drawn after the try, which brings the list of models
    has_place = bool(connection.api_key) or connection.address != Connection(OPENAI).address
    is_new = has_place and not session_model() and _models_or_problem(connection) is None
    if st.button("Try the connection", type="primary") or is_new:
        with st.spinner("Asking the server …", show_time=True):
            st.session_state[_trial_key(connection)] = _try(connection)
    with model_field:
        _draw_model()
    outcome = _models_or_problem(connection)
    if isinstance(outcome, str):
        st.error(literal(outcome))
    elif outcome is not None:
        st.success(f"The server answers, and lists {quantity(len(outcome), 'model')}.")


def _try(connection: Connection) -> tuple[str, ...] | str:
    try:
        return listed_models(connection)
    except EvidenceBenchError as error:
        return str(error)


def _read_address(text: str) -> str:
    text = text.strip()
    return text if _is_right(check_address, text or OPENAI) else session_text("llm.server")


def _keep_key() -> None:
    key = str(st.session_state["typed.llm.key"]).strip()
    st.session_state["typed.llm.key"] = ""
    if _is_right(check_key, key) and key:
        set_session_text(key_name(session_connection()), key)
        st.session_state.pop(_trial_key(session_connection()), None)


def _is_right(check: Callable[[str], object], text: str) -> bool:
    """Whether a typed text passes a check; the problem is drawn below the fields."""
    try:
        check(text)
    except SettingError as error:
        st.session_state["llm.problem"] = str(error)
        return False
    st.session_state.pop("llm.problem", None)
    return True


def _draw_model() -> None:
    """A choice from the server's list, or a text field if it has none."""
    models, chosen = known_models(), session_model()
    widget = session_text_widget("llm.model", chosen, read=lambda text: str(text or "").strip())
    if not models:
        help_text = "Try the connection to choose from the server's list, if it has one."
        st.text_input("Model", placeholder="as the server calls it", help=help_text, **widget)
        return
    st.session_state[widget["key"]] = chosen or None
    options = list(models) if not chosen or chosen in models else [chosen, *models]
    st.selectbox("Model", options, placeholder="Choose, or type another", accept_new_options=True, **widget)


def _models_or_problem(connection: Connection) -> tuple[str, ...] | str | None:
    """The models that a server listed when it was tried, or why it could not be asked."""
    outcome: tuple[str, ...] | str | None = st.session_state.get(_trial_key(connection))
    return outcome


def _trial_key(connection: Connection) -> str:
    return f"llm.tried.{connection.address}"
