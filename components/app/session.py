"""What a browser session remembers beside the state of its pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from evidencebench_core.llm import Connection, connection_from_environment

_ABOUT_RUNS: Final = ("browse", "runs", "analyse")  # pages with dataset, task and runs in their address


def local_widget(key: str, value: object) -> dict[str, Any]:
    """``key`` of a widget outside the address that starts at a value and then keeps its own."""
    st.session_state.setdefault(key, value)
    return {"key": key}


def widget_value(key: str) -> Any:
    """The value of a widget, for its callback."""
    return st.session_state[key]


def session_text(name: str, default: str = "") -> str:
    """A text that the session remembers, whatever page or widget comes and goes."""
    return str(st.session_state.get(f"kept.{name}", default))


def set_session_text(name: str, value: str) -> None:
    """Remember a `session_text`."""
    st.session_state[f"kept.{name}"] = value


def session_text_widget(name: str, default: str = "", read: Callable[[Any], str] = str) -> dict[str, Any]:
    """``key`` and ``on_change`` of a widget that shows and sets a `session_text`; ``read`` makes its text."""
    key = f"shows.{name}"
    st.session_state[key] = session_text(name, default)
    return {"key": key, "on_change": lambda: set_session_text(name, read(st.session_state[key]))}


def component_event(key: str) -> object:
    """The event that the v2 component of that key has sent last, as the browser wrote it."""
    state = st.session_state.get(key)
    return state.get("event") if isinstance(state, Mapping) else None


def flash(message: str) -> None:
    """Show a message the next time a page is drawn (after a switch or a rerun)."""
    st.session_state.setdefault("flashes", []).append(message)


def pop_flashes() -> tuple[str, ...]:
    """The messages of `flash`, each once."""
    return tuple(st.session_state.pop("flashes", ()))


def open_later(page: str, values: Mapping[str, str]) -> None:
    """Ask, from a callback, for another page; `open_requested_page` at the head of the next run opens it.

    The dataset, task and runs chosen last come along to pages about them, where the values name none; to another
    dataset the task only.
    """
    chosen: dict[str, str] = {}
    if values and page in _ABOUT_RUNS:
        chosen = {name: value for name, value in st.session_state.get("context", {}).items() if value}
        dataset = st.session_state.get(f"dataset.{st.session_state.get('shown-page')}") or chosen.get(
            "dataset"
        )
        if values.get("dataset", dataset) != dataset:
            chosen.pop("runs", None)
    st.session_state["next-page"] = (page, {**chosen, **values})


def open_requested_page() -> None:
    """Open the page that a callback asked for, if one did."""
    if "next-page" in st.session_state:
        page, values = st.session_state.pop("next-page")
        st.session_state.pop("shown-page", None)
        st.switch_page(f"pages/{page}.py", query_params=values)


def session_connection() -> Connection:
    """The server and key of this session; the environment's key goes to the environment's server only."""
    environment = connection_from_environment()
    base_url = session_text("llm.server")
    connection = Connection(base_url) if base_url else environment
    if connection.address == environment.address:
        connection = environment
    return Connection(connection.base_url, session_text(key_name(connection)) or connection.api_key)


def key_name(connection: Connection) -> str:
    """The `session_text` that has a server's key."""
    return f"llm.key.{connection.address}"
