"""The model server of this session: its address, key and model, and a try that says what came back.

Address and model come from the session, else from the environment, else from the file that the last try saved.
A key is kept in the memory of the session, for the server that it was typed for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from components.markdown import literal
from components.state import key_name, session_connection, session_text, session_text_widget, set_session_text
from evidencebench_core.errors import EvidenceBenchError, SettingError
from evidencebench_core.llm import Connection, connection_from_environment, has_model, listed_models, one_word
from evidencebench_core.llm.connection import OPENAI, check_address, check_key, save_server, saved_server
from evidencebench_core.words import quantity


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of trying a server: one line, and the models that it lists."""

    ok: bool
    line: str
    models: tuple[str, ...] = ()
    model: str = ""  # which was asked for one word


def session_model() -> str:
    """The model chosen in this session, else the one saved with the server; empty if there is none."""
    server, model = saved_server()
    saved = model if Connection(server or OPENAI).address == session_connection().address else ""
    return session_text("llm.model", saved)


def known_models() -> tuple[str, ...]:
    """The models that the server listed when it was tried; empty if it was not, or has no list."""
    last = _last_trial(session_connection())
    return last.models if last else ()


def address_text(connection: Connection) -> str:
    """The server's address as Markdown that is no link."""
    address = connection.address
    return literal(address) if "`" in address else f"`{address}`"


def draw_chosen_server() -> None:
    """The session's model and where it is asked, folded; open while none is chosen."""
    model = session_model()
    label = f"**{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    # With a key and a state of its own it stays as it is while one types in it.
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
    is_new = has_place and not session_model() and _last_trial(connection) is None
    if st.button("Try the connection", type="primary") or is_new:
        with st.spinner("Asking the server …", show_time=True):
            tried = trial(connection, session_model())
        st.session_state[_tried(connection)] = tried
        if tried.ok and tried.model:
            save_server(connection.base_url, session_model())
    with model_field:
        _draw_model()
    last = _last_trial(connection)
    if last is not None and last.model == session_model():
        (st.success if last.ok else st.error)(literal(last.line))


def trial(connection: Connection, model: str) -> Trial:
    """Ask a server for its models and, if one is chosen, for one word."""
    try:
        models = listed_models(connection)
        listed = f"{quantity(len(models), 'model')} listed" if models else "it has no list of models"
        if not model:
            return Trial(True, f"The server is there: {listed}. Choose one, then try again.", models)
        answer = one_word(connection, model)
    except EvidenceBenchError as error:
        return Trial(False, str(error), model=model)
    other = "" if not models or has_model(models, model) else f", though it does not list {model}"
    line = f"The server is there: {listed}; {model} answered in {answer.seconds:.1f} s{other}."
    return Trial(True, line, models, model)


def checked_address(text: str) -> str:
    """A server's address as it was typed, without spaces around; ``SettingError`` where it is none, or has a secret."""
    text = text.strip()
    if text:
        check_address(text)
    if set(text) & set("@?#"):
        remedy = "It looks like http://localhost:8000/v1; a key goes into its own field."
        raise SettingError("the server's address", "is no plain web address", remedy)
    return text


def _read_address(text: str) -> str:
    return checked_address(text) if _is_right(checked_address, text) else session_text("llm.server")


def _keep_key() -> None:
    key = str(st.session_state["typed.llm.key"]).strip()
    st.session_state["typed.llm.key"] = ""
    if _is_right(check_key, key) and key:
        set_session_text(key_name(session_connection()), key)
        st.session_state.pop(_tried(session_connection()), None)


def _is_right(check: Callable[[str], object], text: str) -> bool:
    """Whether a text that was typed passes; what is wrong with it is drawn below the fields."""
    try:
        check(text)
    except SettingError as error:
        st.session_state["llm.problem"] = str(error)
        return False
    st.session_state.pop("llm.problem", None)
    return True


def _draw_model() -> None:
    """From the server's list, or typed where it has none."""
    models, chosen = known_models(), session_model()
    widget = session_text_widget("llm.model", chosen, read=lambda text: str(text or "").strip())
    if not models:
        help_text = "Try the connection to choose from the server's list, if it has one."
        st.text_input("Model", placeholder="as the server calls it", help=help_text, **widget)
        return
    st.session_state[widget["key"]] = chosen or None
    options = list(models) if not chosen or chosen in models else [chosen, *models]
    st.selectbox("Model", options, placeholder="Choose, or type another", accept_new_options=True, **widget)


def _last_trial(connection: Connection) -> Trial | None:
    last: Trial | None = st.session_state.get(_tried(connection))
    return last


def _tried(connection: Connection) -> str:
    return f"llm.tried.{connection.address}"
