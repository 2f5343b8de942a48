"""Quiet values of a page in its address, without a step of the browser's history for each."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from components.app.state import PageState
from components.widgets.component import component

_component: Final = component("address", Path(__file__).parent, "")


def draw_quietly(state: PageState) -> None:
    """Bring the quiet values into the address, in place of those that were there."""
    values = {name: "" if state[name] == state.defaults[name] else state[name] for name in state.quiet}
    _component(key="address", data={"page": state.page, "values": values})
