"""The state of a page: text values that the session holds and the address shows.

The session has the truth and writes the address. The address is read where a page is entered and where the
browser says that it went back or forward; a click that was sent before the browser had the newest address
cannot bring back an old one. Streamlit's ``bind`` does the same for single widgets, but ``st.switch_page``
raises while a bound value is in the address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evidencebench_core.llm import Connection, connection_from_environment

Value = str | int | Sequence[str] | None
CONTEXT: Final = ("dataset", "task", "runs")  # values that hold on every page
_OF_ANY_DATASET: Final = ("dataset", "task", "live")  # what a page about a task keeps on another dataset


class PageState:
    """Named text values of one page, called by its url path (``""``: the first page).

    ``defaults`` has every parameter; a value equal to its default stays out of the address. `CONTEXT` comes along
    from page to page. A change of ``quiet`` values only is no step of the browser's history: `components.page`
    writes them into the address as it stands.
    """

    def __init__(self, page: str, defaults: Mapping[str, str], quiet: Iterable[str] = ()) -> None:
        self.page, self.defaults, self.quiet = page, dict(defaults), frozenset(quiet)
        address, memory = st.query_params.to_dict(), dict(st.session_state.get(f"state.{page}", {}))
        is_shown = st.session_state.get("shown-page") == page
        given = {name: value for name, value in address.items() if name in self.defaults}
        # On the way to another page Streamlit leaves its parameters under this page's path in the history.
        is_foreign = bool(memory) and len(given) < len(address)
        is_read = bool(given) and not is_foreign
        if is_shown and not _is_back_or_forward():
            given, is_read = memory, False
        elif not is_read:
            given = {} if is_shown and not address else self._in_context(memory)
        st.session_state["shown-page"] = page
        self._values: dict[str, str] = {**self.defaults, **given}
        self._changed = st.session_state.pop("changed-widget", None)
        _choose({name: given[name] for name in CONTEXT if name in given})
        if is_read:
            st.session_state[f"state.{page}"] = self._shared()  # the address stays as it was opened
        else:
            self._write()

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def many(self, name: str) -> tuple[str, ...]:
        """The parts of a comma-separated value, in order, each once."""
        return tuple(dict.fromkeys(part for part in self[name].split(",") if part))

    def number(self, name: str) -> int | None:
        """The value as a non-negative integer, ``None`` where it is none."""
        text = self[name]
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

    def dataset(self, first: str) -> str:
        """The name of the dataset, the ``first`` where none is chosen."""
        st.session_state[f"dataset.{self.page}"] = self["dataset"] or first
        return self["dataset"] or first

    def put(self, **values: Value) -> None:
        """Set values, here and in the address; ``None`` goes back to the default."""
        for name, value in values.items():
            if value is None:
                self._values[name] = self.defaults[name]
            else:
                self._values[name] = str(value) if isinstance(value, (str, int)) else ",".join(value)
        if "dataset" in self.defaults and "dataset" not in values:  # so that a link means the same elsewhere
            self._values["dataset"] = self["dataset"] or st.session_state.get(f"dataset.{self.page}", "")
        _choose({name: self[name] for name in CONTEXT if name in values})
        self._write()

    def link(self, **values: str | int) -> str:
        """The address, from any page, of this one with values set."""
        shown = st.session_state.get(f"dataset.{self.page}")
        named = {"dataset": shown} if shown and "dataset" in self.defaults else {}
        texts = {name: str(value) for name, value in values.items()}
        return f"{self.page}?{urlencode({**named, **self._shared(), **texts})}"

    def widget(
        self,
        name: str,
        value: object,
        read: Callable[[Any], Value | dict[str, Value]] = str,
        part: str = "",
        reset: Iterable[str] = (),
    ) -> dict[str, Any]:
        """``key`` and ``on_change`` of the widget that shows and changes a value.

        ``value`` is shown now, as the widget types it; ``read`` makes the state's value of the widget's, or
        several by name; ``part`` tells apart two widgets of one value; ``reset`` names others that go back to their
        defaults.
        """
        # A browser sends the value of a widget that it once drew again, so a value that changed elsewhere
        # gets a widget of another key.
        base = f"{self.page}.{name}.{part}"
        version, known = st.session_state.get(f"known.{base}", (0, value))
        version += known != value
        key = f"{base}.{version}"
        st.session_state[f"known.{base}"] = (version, value)
        if key != self._changed:  # what is set again undoes the next click, which may be on its way
            st.session_state[key] = value

        def on_change() -> None:
            chosen = st.session_state[key]
            st.session_state[f"known.{base}"] = (version, chosen)
            st.session_state["changed-widget"] = key
            values = read(chosen)
            self.put(**dict.fromkeys(reset), **(values if isinstance(values, dict) else {name: values}))

        return {"key": key, "on_change": on_change}

    def _shared(self) -> dict[str, str]:
        return {name: value for name, value in self._values.items() if value != self.defaults[name]}

    def _write(self) -> None:
        shared = self._shared()
        st.session_state[f"state.{self.page}"] = shared
        if self._steps(st.query_params.to_dict()) != self._steps(shared):
            st.query_params.from_dict(shared)

    def _steps(self, values: Mapping[str, str]) -> dict[str, str]:
        """What makes a step of the history when it changes."""
        return {name: value for name, value in values.items() if name not in self.quiet}

    def _in_context(self, memory: dict[str, str]) -> dict[str, str]:
        """What was left of the page, with the dataset, task and runs chosen since."""
        context = {name: value for name, value in session_context().items() if name in self.defaults}
        before = memory.get("dataset") or st.session_state.get(f"dataset.{self.page}")
        is_about_it = bool(before) and "task" in self.defaults
        if is_about_it and context.get("dataset") not in (None, "", before):
            memory = {name: value for name, value in memory.items() if name in _OF_ANY_DATASET}
        return {**memory, **context}


def session_context() -> dict[str, str]:
    """The dataset, task and runs chosen last, on whatever page."""
    context: dict[str, str] = st.session_state.setdefault("context", {})
    return context


def _choose(values: dict[str, str]) -> None:
    if values.get("dataset") not in (None, session_context().get("dataset")):
        values = {"runs": "", **values}  # those chosen before are of another dataset
    session_context().update(values)


def _is_back_or_forward() -> bool:
    run = get_script_run_ctx(suppress_warning=True)
    return run is not None and run.is_history_navigation


_ABOUT_RUNS: Final = ("browse", "runs", "analyse")  # pages with dataset, task and runs in their address


def session_text(name: str, default: str = "") -> str:
    """A text that the session remembers, whatever page or widget comes and goes."""
    return str(st.session_state.get(f"kept.{name}", default))


def set_session_text(name: str, value: str) -> None:
    st.session_state[f"kept.{name}"] = value


def session_text_widget(name: str, default: str = "", read: Callable[[Any], str] = str) -> dict[str, Any]:
    """``key`` and ``on_change`` of a widget that shows and sets a `session_text`; ``read`` makes its text."""
    key = f"shows.{name}"
    st.session_state[key] = session_text(name, default)
    return {"key": key, "on_change": lambda: set_session_text(name, read(st.session_state[key]))}


def flash(message: str) -> None:
    """Show a message the next time a page is drawn (after a switch or a rerun)."""
    st.session_state.setdefault("flashes", []).append(message)


def pop_flashes() -> tuple[str, ...]:
    return tuple(st.session_state.pop("flashes", ()))


def open_later(page: str, values: Mapping[str, str]) -> None:
    """Ask, from a callback, for another page; `open_requested_page` at the head of the next run opens it.

    The dataset, task and runs chosen last come along to pages about them, where the values name none; to another
    dataset the task only.
    """
    chosen: dict[str, str] = {}
    if values and page in _ABOUT_RUNS:
        chosen = {name: value for name, value in session_context().items() if value}
        shown = st.session_state.get(f"dataset.{st.session_state.get('shown-page')}")
        dataset = shown or chosen.get("dataset")
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
