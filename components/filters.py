"""A filter over the columns of a frame: one popover, its state in one value of the address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import pandas as pd
import streamlit as st

from components.markdown import literal
from components.state import PageState

_ALL: Final = "All"
Wanted = dict[str, str | tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Filter:
    """A column of whole numbers, or a ``percent`` or ``choice``: a share, or one of its values, by their titles."""

    column: str
    label: str
    kind: Literal["number", "percent", "choice"] = "number"
    title: Callable[[str], str] = str  # of a value of a choice


def filter_popover(state: PageState, frame: pd.DataFrame, filters: Sequence[Filter]) -> None:
    """Draw the filters; the address has ``n_aspects:5-9,recall:0-0.5,cause:budget``."""
    wanted = where_values(state["where"], filters)
    with st.popover(f"Filters ({len(wanted)})" if wanted else "Filters"):
        for a_filter in filters:
            if a_filter.kind == "choice":
                _draw_choice(state, frame, a_filter, wanted)
            else:
                _draw_range(state, frame, a_filter, wanted)


def filtered_rows(state: PageState, frame: pd.DataFrame, filters: Sequence[Filter]) -> pd.DataFrame:
    """The rows that meet all filters of the address; a row without a value meets none on its column."""
    for column, bounds in where_values(state["where"], filters).items():
        if isinstance(bounds, str):
            frame = frame[frame[column].astype(str) == bounds]
        else:
            frame = frame[frame[column].between(*bounds)]
    return frame


def filters_text(state: PageState, filters: Sequence[Filter]) -> str:
    """The filters of the address in words: ``Aspects 5 to 9, Suggested cause Budget too small``."""
    wanted, words = where_values(state["where"], filters), []
    for a_filter in filters:
        value = wanted.get(a_filter.column)
        if isinstance(value, str):
            words.append(f"{a_filter.label} {a_filter.title(value)}")
        elif value is not None:
            words.append(f"{a_filter.label} {value[0]:g} to {value[1]:g}")
    return ", ".join(words).replace("-inf to", "up to").replace(" to inf", " or more")


def where_values(text: str, filters: Sequence[Filter]) -> Wanted:
    """The filters of the address by column, open ends infinite; what is none is left out."""
    kinds = {a_filter.column: a_filter.kind for a_filter in filters}
    wanted: Wanted = {}
    for part in text.split(","):
        column, _, value = part.rpartition(":")
        low, _, high = value.partition("-")
        if kinds.get(column) == "choice":
            wanted[column] = unquote(value)
        elif column in kinds:
            with suppress(ValueError):
                bounds = (float(low or -inf), float(high or inf))
                if bounds[0] <= bounds[1]:
                    wanted[column] = bounds
    return wanted


def where_text(wanted: Wanted) -> str:
    def bound(value: float) -> str:
        return "" if isinf(value) else f"{value:g}"

    parts = [
        f"{column}:{quote(value, safe='') if isinstance(value, str) else '-'.join(map(bound, value))}"
        for column, value in sorted(wanted.items())
        if value not in (_ALL, (-inf, inf))
    ]
    return ",".join(parts)


def _draw_choice(state: PageState, frame: pd.DataFrame, a_filter: Filter, wanted: Wanted) -> None:
    values = [_ALL, *sorted(frame[a_filter.column].dropna().astype(str).unique(), key=a_filter.title)]
    shown = wanted.get(a_filter.column, _ALL)

    def read(value: str) -> str:
        return where_text({**wanted, a_filter.column: value})

    st.selectbox(
        literal(a_filter.label),
        values,
        format_func=a_filter.title,
        **_widget(state, a_filter, shown if shown in values else _ALL, read),
    )


def _draw_range(state: PageState, frame: pd.DataFrame, a_filter: Filter, wanted: Wanted) -> None:
    """A slider from the least to the greatest value, whose ends stand for no bound; nothing without two values."""
    scale = 100 if a_filter.kind == "percent" else 1
    least, greatest = (
        (0, 100) if scale == 100 else (frame[a_filter.column].min(), frame[a_filter.column].max())
    )
    if pd.isna(least) or not max(least, 0) < greatest:
        return
    least, greatest = max(int(least), 0), int(greatest)
    bounds = wanted.get(a_filter.column)
    low, high = bounds if isinstance(bounds, tuple) else (-inf, inf)
    shown = tuple(round(min(max(scale * bound, least), greatest)) for bound in (low, high))

    def read(ends: tuple[int, int]) -> str:
        low = -inf if ends[0] == least else ends[0] / scale
        high = inf if ends[1] == greatest else ends[1] / scale
        return where_text({**wanted, a_filter.column: (low, high)})

    st.slider(
        f"{literal(a_filter.label)}{', %' if scale == 100 else ''}",
        least,
        greatest,
        **_widget(state, a_filter, shown, read),
    )


def _widget(state: PageState, a_filter: Filter, shown: object, read: Callable[[Any], str]) -> dict[str, Any]:
    return state.widget("where", shown, read, part=a_filter.column, reset=("page",))
