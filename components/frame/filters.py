"""A filter over the columns of a frame: one popover, its state in one value of the address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import pandas as pd
import streamlit as st

from components.app.state import PageState

_ALL: Final = "All"


@dataclass(frozen=True, slots=True)
class Filter:
    """A column that can be filtered; ``percent``: a share, typed in percent; ``choice``: one of its values."""

    column: str
    label: str
    kind: Literal["number", "percent", "choice"] = "number"


Bounds = tuple[float, float]


def filter_popover(
    state: PageState, frame: pd.DataFrame, filters: Sequence[Filter], param: str = "where"
) -> None:
    """Draw the filters; the address has ``n_aspects:5-9,recall:0-0.5,cause:budget``."""
    wanted = _wanted(state[param], filters)
    with st.popover(f"Filters ({len(wanted)})" if wanted else "Filters"):
        draw_filters(state, filters, frame, param)


def draw_filters(
    state: PageState,
    filters: Sequence[Filter],
    frame: pd.DataFrame | None = None,
    param: str = "where",
) -> None:
    """The fields of the filters; those with choices need the ``frame``."""
    wanted = _wanted(state[param], filters)
    for one in filters:
        if one.kind != "choice":
            _draw_range(state, one, wanted, param)
        elif frame is not None:
            _draw_choice(state, frame, one, wanted, param)


def filtered(
    state: PageState, frame: pd.DataFrame, filters: Sequence[Filter], param: str = "where"
) -> pd.DataFrame:
    """The rows that meet all filters of the address; a row without a value meets none on its column."""
    for column, bounds in _wanted(state[param], filters).items():
        if isinstance(bounds, str):
            frame = frame[frame[column].astype(str) == bounds]
        else:
            frame = frame[frame[column].between(*bounds)]
    return frame


def wanted_filters(state: PageState, filters: Sequence[Filter], param: str = "where") -> dict[str, Bounds]:
    """The ranges of the address by column, open ends infinite; for who filters by other means than a frame."""
    wanted = _wanted(state[param], filters)
    return {column: bounds for column, bounds in wanted.items() if not isinstance(bounds, str)}


def _wanted(text: str, filters: Sequence[Filter]) -> dict[str, str | Bounds]:
    """The filters of the address by column; what is none is left out."""
    kinds = {one.column: one.kind for one in filters}
    wanted: dict[str, str | Bounds] = {}
    for part in text.split(","):
        column, _, value = part.rpartition(":")
        low, _, high = value.partition("-")
        if kinds.get(column) == "choice":
            wanted[column] = value
        elif column in kinds:
            with suppress(ValueError):
                wanted[column] = (float(low or "-inf"), float(high or "inf"))
    return wanted


def _text(wanted: dict[str, str | Bounds]) -> str:
    def bound(value: float) -> str:
        return "" if abs(value) == float("inf") else f"{value:g}"

    parts = [
        (column, value if isinstance(value, str) else "-".join(map(bound, value)))
        for column, value in sorted(wanted.items())
    ]
    return ",".join(f"{column}:{value}" for column, value in parts)


def _put(state: PageState, param: str, column: str, wanted: dict[str, Any], value: Any) -> str:
    """The address's text with another value for a column; ``None`` takes its filter away."""
    others = {name: bounds for name, bounds in wanted.items() if name != column}
    return _text(others if value is None else {**others, column: value})


def _draw_choice(
    state: PageState, frame: pd.DataFrame, one: Filter, wanted: dict[str, Any], param: str
) -> None:
    values = [_ALL, *sorted(frame[one.column].dropna().astype(str).unique())]
    shown = wanted.get(one.column, _ALL)

    def read(value: str) -> str:
        return _put(state, param, one.column, wanted, None if value == _ALL else value)

    st.selectbox(
        one.label,
        values,
        **state.widget(param, shown if shown in values else _ALL, read, part=one.column, reset=_page(state)),
    )


def _draw_range(state: PageState, one: Filter, wanted: dict[str, Any], param: str) -> None:
    scale = 100 if one.kind == "percent" else 1
    bounds = wanted.get(one.column, (-float("inf"), float("inf")))

    def read(side: int, value: float | None) -> str:
        changed = list(bounds)
        changed[side] = (float("-inf"), float("inf"))[side] if value is None else value / scale
        is_open = changed == [-float("inf"), float("inf")]
        return _put(state, param, one.column, wanted, None if is_open else tuple(changed))

    unit = ", %" if scale == 100 else ""
    for side, column in enumerate(st.columns(2)):
        value = None if abs(bounds[side]) == float("inf") else scale * bounds[side]
        column.number_input(
            f"{one.label}{unit}, {('at least', 'at most')[side]}",
            min_value=0.0,
            step=1.0,
            format="%g",
            placeholder="any",
            **state.widget(
                param, value, partial(read, side), part=f"{one.column}.{side}", reset=_page(state)
            ),
        )


def _page(state: PageState) -> tuple[str, ...]:
    return ("page",) if "page" in state.defaults else ()
