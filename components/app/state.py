"""The state of a page, and the only place that touches session state and query parameters.

The address is the truth: a link opens what its sender saw. Streamlit drops the parameters on a switch of
pages, so the session remembers them, by page. Widgets are controlled: each is given its value from the
state before it is drawn, and writes it back when it changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

_BEGAN: Final = "run-began"
_FLASHES: Final = "flashes"
_NEXT: Final = "next-page"
_SHOWN: Final = "shown-page"
_REPLACED: Final = "replaced-addresses"
_DATASET: Final = "chosen-dataset"
_OF_ANY_DATASET: Final = frozenset({"dataset", "task", "r"})  # what means the same on another one
_IN_FLIGHT: Final = 5.0  # seconds within which the browser may still send an address that was replaced,
_ON_ITS_WAY: Final = 1.0  # and once the run that replaced it has ended


class PageState:
    """Named text values of one page, called by its url path (``""``: the first page).

    ``defaults`` has every parameter of the page; a value equal to its default stays out of the address.
    The dataset chosen last comes along to a page that is opened without parameters; of what that was left with on
    another dataset, ``of_any_dataset`` stays.
    """

    def __init__(
        self, page: str, defaults: Mapping[str, str], of_any_dataset: Collection[str] = _OF_ANY_DATASET
    ) -> None:
        self.page, self.defaults, self.of_any_dataset = page, dict(defaults), of_any_dataset
        self._memory = f"state.{page}"
        given = {name: st.query_params[name] for name in self.defaults if name in st.query_params}
        remembered = st.session_state.get(self._memory, {})
        shown = st.session_state.get(_SHOWN) == page
        if remembered and set(st.query_params) - set(self.defaults):
            # On the way to another page Streamlit leaves its parameters under this page's path in the
            # browser's history. Who comes back to that finds the page as it was left.
            given = remembered
        if shown and _is_in_flight(st.query_params.to_dict()):
            given = {}  # a second click, sent before the browser had the address that the first one gave
        elif shown and not st.query_params:
            remembered = {}  # the browser's Back to the page as it was before anything was chosen
        elif not given:
            remembered = self._on_chosen_dataset(remembered)
        st.session_state[_SHOWN] = page
        self._values: dict[str, str] = {**self.defaults, **(given or remembered)}
        if given:
            self._remember()  # the address stays as it was opened
        else:
            self._write()  # perhaps back from another page

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
        """The name of the dataset; of none chosen the ``first``, which is that of the page as it is left, then."""
        st.session_state[f"first-dataset.{self.page}"] = first
        return self["dataset"] or first

    def ranges(self, name: str) -> dict[str, tuple[float, float]]:
        """The value ``n_aspects:5-9,optimal:2-4`` as ranges; what is none is left out."""
        ranges = {}
        for part in self[name].split(","):
            column, _, span = part.partition(":")
            low, _, high = span.partition("-")
            try:
                ranges[column] = (float(low), float(high))
            except ValueError:
                continue
        return ranges

    def put(self, **values: str | int | Sequence[str] | None) -> None:
        """Set values, here and in the address; ``None`` goes back to the default."""
        for name, value in values.items():
            if value is None:
                self._values[name] = self.defaults[name]
            elif isinstance(value, (str, int)):
                self._values[name] = str(value)
            else:
                self._values[name] = ",".join(value)
        self._write()

    def widget(
        self,
        name: str,
        value: object,
        read: Callable[[Any], str | int | Sequence[str] | None] = str,
        part: str = "",
        reset: Iterable[str] = (),
    ) -> dict[str, Any]:
        """``key`` and ``on_change`` of the widget that shows and changes a value.

        ``value`` is shown now, as the widget types it; ``read`` makes the state's value of the widget's;
        ``part`` tells apart two widgets of one value; ``reset`` names others that go back to their
        defaults when this one changes.
        """
        # A browser keeps the value of a widget that it once drew, in a closed popover say, and sends it
        # again. So a value that changed elsewhere gets a widget of another key, which forgets the old one.
        base = f"{self.page}.{name}.{part}"
        version, known = st.session_state.get(f"known.{base}", (0, value))
        version += known != value
        key = f"{base}.{version}"
        st.session_state[f"known.{base}"] = (version, value)
        st.session_state[key] = value

        def on_change() -> None:
            now = st.session_state[key]
            st.session_state[f"known.{base}"] = (version, now)
            self.put(**dict.fromkeys(reset), **{name: read(now)})

        return {"key": key, "on_change": on_change}

    def link(self, *always: str, **changes: str) -> str:
        """Path and query of a link that opens this state; defaults are left out but for ``always``."""
        named = {name: self[name] for name in always}
        return self.link_to(self.page, {**named, **self._shared(), **changes})

    @staticmethod
    def link_to(page: str, values: Mapping[str, str]) -> str:
        """Path and query of another page."""
        return f"/{page}?{urlencode(values)}" if values else f"/{page}"

    def _shared(self) -> dict[str, str]:
        return {name: value for name, value in self._values.items() if value != self.defaults[name]}

    def _write(self) -> None:
        shared = self._shared()
        if st.query_params.to_dict() != shared:
            replaced = (time.monotonic() + _IN_FLIGHT, st.query_params.to_dict())
            st.session_state[_REPLACED] = [*_addresses_in_flight(), replaced]
            st.query_params.from_dict(shared)
        self._remember()

    def _remember(self) -> None:
        st.session_state[self._memory] = self._shared()
        if "dataset" in self.defaults:
            st.session_state[_DATASET] = self["dataset"]

    def _on_chosen_dataset(self, remembered: Mapping[str, str]) -> Mapping[str, str]:
        dataset = st.session_state.get(_DATASET)
        if "dataset" not in self.defaults or not dataset:
            return remembered
        before = remembered.get("dataset") or st.session_state.get(f"first-dataset.{self.page}")
        keeps = self.defaults if dataset == before else self.of_any_dataset
        return {name: value for name, value in remembered.items() if name in keeps} | {"dataset": dataset}


def mark_begin_of_run() -> None:
    """Note that the page is drawn from now on."""
    st.session_state[_BEGAN] = time.monotonic()


def begin_of_run() -> float:
    """When the page last began to be drawn as a whole, by `time.monotonic`: what stands on it is no older."""
    return float(st.session_state.get(_BEGAN, math.inf))


def mark_end_of_run() -> None:
    """Note that the page is drawn: soon the browser will have the addresses that this run gave."""
    soon = time.monotonic() + _ON_ITS_WAY
    st.session_state[_REPLACED] = [(min(until, soon), address) for until, address in _addresses_in_flight()]


def _addresses_in_flight() -> list[tuple[float, dict[str, str]]]:
    now = time.monotonic()
    return [(until, address) for until, address in st.session_state.get(_REPLACED, ()) if until > now]


def _is_in_flight(address: Mapping[str, str]) -> bool:
    return any(replaced == address for _, replaced in _addresses_in_flight())


def local_widget(key: str, value: object) -> dict[str, Any]:
    """``key`` of a widget outside the address that starts at a value and then keeps its own."""
    st.session_state.setdefault(key, value)
    return {"key": key}


def local_widget_text(key: str, default: str = "") -> str:
    """The text of a `local_widget`; for callbacks, which run before it is drawn again."""
    return str(st.session_state.get(key, default))


def session_text(name: str, default: str = "") -> str:
    """A text that the session remembers, whatever page or widget comes and goes."""
    return str(st.session_state.get(f"kept.{name}", default))


def set_session_text(name: str, value: str) -> None:
    """Remember a `session_text`."""
    st.session_state[f"kept.{name}"] = value


def widget_value(key: str) -> Any:
    """The value of a widget, for its callback."""
    return st.session_state[key]


def restored_session_text(name: str, param: str) -> str:
    """The address's value of a `session_text` that a new session does not remember; else empty."""
    return "" if f"kept.{name}" in st.session_state else st.query_params.get(param, "")


def session_text_widget(name: str, default: str = "", read: Callable[[Any], str] = str) -> dict[str, Any]:
    """``key`` and ``on_change`` of a widget that shows and sets a `session_text`; ``read`` makes its text."""
    return _session_widget(name, session_text(name, default), read)


def optional_session_widget(name: str, read: Callable[[str], object] = str) -> dict[str, Any]:
    """The same for a widget that may be empty (``None``); ``read`` makes its value from the text."""
    text = session_text(name)
    value = read(text) if text else None
    return _session_widget(name, value, lambda value: "" if value is None else str(value))


def _session_widget(name: str, value: object, read: Callable[[Any], str]) -> dict[str, Any]:
    key = f"shows.{name}"
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: set_session_text(name, read(st.session_state[key]))}


def secret_widget(name: str, take: Callable[[str], None]) -> dict[str, Any]:
    """``key`` and ``on_change`` of a field that hands over what is typed and is empty again at once."""
    key = f"typed.{name}"

    def on_change() -> None:
        take(str(st.session_state[key]))
        st.session_state[key] = ""

    return {"key": key, "on_change": on_change}


def component_event(key: str) -> object:
    """The event that the v2 component of that key has sent last, as the browser wrote it."""
    state = st.session_state.get(key)
    return state.get("event") if isinstance(state, Mapping) else None


def mark_entered() -> None:
    """Note that ``app.py`` has run in this session."""
    st.session_state["entered"] = True


def has_entered() -> bool:
    """Whether ``app.py`` has run in this session."""
    return "entered" in st.session_state


def flash(message: str) -> None:
    """Show a message the next time a page is drawn (after a switch or a rerun)."""
    st.session_state.setdefault(_FLASHES, []).append(message)


def pop_flashes() -> tuple[str, ...]:
    """The messages of `flash`, each once."""
    return tuple(st.session_state.pop(_FLASHES, ()))


def open_later(page: str, values: Mapping[str, str]) -> None:
    """Ask, from a callback, for another page; `open_requested_page` at the head of the next run opens it.

    The dataset chosen last comes along where the values name none.
    """
    dataset = st.session_state.get(_DATASET)
    chosen = {"dataset": dataset} if values and dataset else {}
    st.session_state[_NEXT] = (page, {**chosen, **values})


def open_requested_page() -> None:
    """Open the page that a callback asked for, if one did."""
    if _NEXT in st.session_state:
        page, values = st.session_state.pop(_NEXT)
        st.switch_page(f"pages/{page}.py", query_params=values)
