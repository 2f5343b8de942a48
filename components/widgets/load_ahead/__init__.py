"""Has the browser load the code of charts while the page is read: the first chart need not wait for its 5 MB."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from components.widgets.component import component

_CODE: Final = Path(st.__file__).parent / "static" / "static" / "js"
_component = component("load_ahead", Path(__file__).parent, "<span hidden></span>")


def load_charts_ahead() -> None:
    """Do so once the page stands; without a file of that name nothing is loaded before it is needed."""
    if file := next(_CODE.glob("PlotlyChart.*.js"), None):
        _component(key="load-ahead", data={"file": file.name}, width="content", height=1)
