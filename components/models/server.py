"""The session's server and key: chosen, tried, and handed to whatever asks. A key is kept for the session only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import streamlit as st

from components.app import resources
from components.app.state import (
    PageState,
    flash,
    open_later,
    optional_session_widget,
    restored_session_text,
    secret_widget,
    session_text,
    session_text_widget,
    set_session_text,
)
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError, SettingError
from evidencebench_core.llm import (
    Connection,
    connection_from_environment,
    has_model,
    listed_models,
    one_word,
)
from evidencebench_core.words import quantity

SERVER_DEFAULTS: Final = {"server": "", "model": ""}
_COMMON: Final = {  # where servers listen by default
    "OpenAI": "https://api.openai.com/v1",
    "Ollama": "http://localhost:11434/v1",
    "vLLM": "http://localhost:8000/v1",
    "llama.cpp": "http://localhost:8080/v1",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of trying a connection: one line, and the models that the server lists."""

    ok: bool
    line: str
    models: tuple[str, ...] = ()


def session_connection() -> Connection:
    """The server and key of this session: what was typed, else those of the environment.

    The environment's key goes to the environment's server only, and a typed one to the server that it was
    typed for: who names another server gets no key that is not theirs.
    """
    environment = connection_from_environment()
    base_url = session_text("llm.server")
    if not base_url:
        return Connection(environment.base_url, session_text(_key_name(environment)) or environment.api_key)
    connection = Connection(base_url)
    same = connection.address == environment.address
    key = session_text(_key_name(connection)) or (environment.api_key if same else None)
    return Connection(environment.base_url if same else base_url, key or None)


def restore_server() -> None:
    """In a new session, after a reload say, take server and model from the address. The key is in no address."""
    server, model = restored_session_text("llm.server", "server"), restored_session_text("llm.model", "model")
    if server:
        try:
            set_session_text("llm.server", checked_address(server))
            set_session_text("llm.from-address", session_connection().address)
        except SettingError as error:
            st.warning(literal(str(error)))
    if model:
        set_session_text("llm.model", model)


def share_server(state: PageState, asks: bool = True) -> None:
    """Put server and model into the page's address, where it asks one, so that a reload forgets neither."""
    wanted = {name: session_text(f"llm.{name}") if asks else "" for name in SERVER_DEFAULTS}
    if any(state[name] != value for name, value in wanted.items()):  # else the address stays as it was opened
        state.put(**wanted)


def remember_asked(connection: Connection) -> None:
    """Note that this server is asked: it needs no agreement until another is."""
    resources.asked_servers().append(connection.address)
    del resources.asked_servers()[:-1]


def may_ask() -> bool:
    """Whether the session's server is the one asked last, or the first and named here, or the reader has agreed."""
    connection, asked = session_connection(), resources.asked_servers()
    if session_text("llm.agreed") == connection.address:
        return True
    if asked:
        return asked[-1] == connection.address
    environment = connection_from_environment()
    named = session_text("llm.server") or environment.base_url or session_text(_key_name(connection))
    return bool(named) and session_text("llm.from-address") != connection.address


def draw_agreement(key: str) -> bool:
    """Whether the session's server may be asked; where that is not clear, the reader is asked first."""
    if may_ask():
        return True
    connection, asked = session_connection(), resources.asked_servers()
    where = address_text(connection)
    why = (
        f"The server asked last is another: {address_text(Connection(asked[-1]))}."
        if asked
        else "Nobody has chosen it here: it is the default, or the link names it."
    )
    st.warning(f"Text of the papers would be sent to {where}. {why}")
    with st.container(horizontal=True):
        st.button(
            "Use this server",
            key=f"agree.{key}",
            on_click=set_session_text,
            args=("llm.agreed", connection.address),
        )
        st.button("Choose another server", key=f"other.{key}", on_click=open_later, args=("models", {}))
    return False


def session_model() -> str:
    """The model chosen in this session; empty if there is none yet."""
    return session_text("llm.model")


def known_models() -> tuple[str, ...]:
    """The models that the server listed when it was tried; empty if it was not, or has no list."""
    return tuple(filter(None, session_text(f"llm.models.{session_connection().address}").split("\n")))


def unlisted_text(model: str) -> str:
    """A warning, as Markdown, where the server has listed its models and this is none; empty otherwise.

    Some servers answer any name with the model that they have (llama-cpp-python does).
    """
    models = known_models()
    if not model or not models or has_model(models, model):
        return ""
    return (
        f"The server does not list {literal(model)}, but {literal(', '.join(models[:3]))}"
        f"{', …' * (len(models) > 3)}: it may refuse, or answer with another model under that name."
    )


def draw_model_needed(label: str) -> None:
    """Draw the way to the choice of a model, for a retriever that has none yet."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{literal(label)}** has no model yet. Choose a server and a model first.")
        st.button("Open Models", key=f"models.{label}", on_click=open_later, args=("models", {}))


def checked_address(text: str) -> str:
    """A server's address as it was typed, without spaces around; empty for the environment's."""
    text = text.strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        whole = whole and text.isascii() and text.isprintable() and not set(text) & set(' `<>"')
    except ValueError:
        whole = False
    if not whole:
        raise SettingError(
            "address of the server", "is no web address", "It looks like http://localhost:8000/v1."
        )
    if "@" in parts.netloc or set(text) & set("?#"):
        raise SettingError(
            "address of the server", "holds more than the address", "Type the key into its own field."
        )
    return text


def address_text(connection: Connection) -> str:
    """The server's address as Markdown that is no link."""
    address = connection.address
    return literal(address) if "`" in address else f"`{address}`"


def trial(connection: Connection, model: str) -> Trial:
    """Ask a server for its models and, if one is chosen, for one word."""
    try:
        models = listed_models(connection)
        listed = f"{quantity(len(models), 'model')} listed"
        if not models:
            listed = "it has no list of models"
        if not model:
            return Trial(True, f"The server is there: {listed}. Choose one, then try again.", models)
        answer = one_word(connection, model)
    except EvidenceBenchError as error:
        return Trial(False, str(error))
    unlisted = ""
    if models and not has_model(models, model):
        unlisted = ", though it is not in the list, so another model may have answered under that name"
    return Trial(
        True,
        f"The server is there: {listed}; {model} answered in {answer.seconds:.1f} s{unlisted}.",
        models,
    )


def draw_server() -> None:
    """Address, key and model, and the button that tries them."""
    left, right = st.columns(2)
    with left:
        _draw_address()
    with right:
        _draw_key()
    connection = session_connection()
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        _draw_model()
    with right:
        clicked = st.button("Try the connection", type="primary")
    if clicked:
        with st.spinner("Asking the server …", show_time=True):
            outcome = trial(connection, session_model())
        set_session_text(
            _tried_key(connection), "\n".join(("ok" if outcome.ok else "no", session_model(), outcome.line))
        )
        if outcome.ok:
            remember_asked(connection)
        if outcome.models:
            set_session_text(f"llm.models.{connection.address}", "\n".join(outcome.models))
        st.rerun()
    _draw_outcome(connection)


def was_tried() -> bool:
    """Whether the session's server answered when it was tried, whatever the model."""
    return session_text(_tried_key(session_connection())).startswith("ok")


def _draw_outcome(connection: Connection) -> None:
    state, _, rest = session_text(_tried_key(connection)).partition("\n")
    model, _, line = rest.partition("\n")
    if not state:
        return
    if state == "ok" and model != session_model():
        chosen = literal(session_model())
        st.success(
            f"The server is there. Try once more to see whether {chosen} answers: it is asked for one word."
            if chosen
            else "The server is there. Choose a model."
        )
    else:
        (st.success if state == "ok" else st.error)(literal(line))


def _draw_address() -> None:
    def read(text: str) -> str:
        try:
            return checked_address(text)
        except SettingError as error:
            flash(literal(str(error)))
            return session_text("llm.server")

    environment = connection_from_environment()
    st.text_input(
        "Address of the server (base URL)",
        placeholder=environment.address,
        help="Any server that speaks the OpenAI protocol. Empty: OPENAI_BASE_URL as the app was started with, "
        "else OpenAI.",
        **session_text_widget("llm.server", read=read),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Usual addresses:", width="content")
        for name, address in _COMMON.items():
            st.button(
                name,
                key=f"llm.common.{name}",
                type="tertiary",
                on_click=set_session_text,
                args=("llm.server", address),
            )


def _draw_key() -> None:
    def save_key(text: str) -> None:
        connection, text = session_connection(), text.strip()
        if not (text.isascii() and text.isprintable() and " " not in text):
            flash("A key has no spaces, and only ASCII letters, digits and punctuation. It was not taken.")
        elif text:
            set_session_text(_key_name(connection), text)
            set_session_text(_tried_key(connection), "")

    connection = session_connection()
    name = _key_name(connection)

    st.text_input(
        "Key",
        type="password",
        placeholder="none needed by local servers",
        autocomplete="off",
        help="Kept in the memory of this session for this one server, until you close the tab or forget it. "
        "It is written nowhere and never sent back to the browser.",
        **secret_widget("llm.key", save_key),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if session_text(name):
            st.caption(f"A key for {address_text(connection)} is kept for this session.")
            st.button("Forget it", type="tertiary", on_click=set_session_text, args=(name, ""))
        elif connection.api_key:
            st.caption("The key of the environment (OPENAI_API_KEY) is used.")
        else:
            st.caption(f"No key for {address_text(connection)}.")


def _draw_model() -> None:
    """From the server's list, or typed where it has none."""
    models = known_models()
    chosen = session_model()
    if not models:
        st.text_input(
            "Model",
            placeholder="as the server calls it",
            help="Try the connection to choose from the server's list, if it has one.",
            **session_text_widget("llm.model", read=str.strip),
        )
        return
    options = list(models) if not chosen or chosen in models else [chosen, *models]
    st.selectbox(
        "Model",
        options,
        index=None,
        placeholder="Choose, or type another",
        accept_new_options=True,
        **optional_session_widget("llm.model"),
    )


def _tried_key(connection: Connection) -> str:
    return f"llm.tried.{connection.address}"


def _key_name(connection: Connection) -> str:
    return f"llm.key.{connection.address}"
