"""A filter over the columns of a frame: one popover, its state in one value of the address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf, isinf
from typing import Final, Literal
from urllib.parse import quote, unquote

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.widgets.markdown import literal

_ALL: Final = "All"
Wanted = dict[str, str | tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Filter:
    """A column that can be filtered; ``percent``: a share, typed in percent; ``choice``: one of its values."""

    column: str
    label: str
    kind: Literal["number", "percent", "choice"] = "number"


def filter_popover(
    state: PageState, frame: pd.DataFrame, filters: Sequence[Filter], param: str = "where"
) -> None:
    """Draw the filters; the address has ``n_aspects:5-9,recall:0-0.5,cause:budget``."""
    wanted = _wanted(state[param], filters)
    with st.popover(f"Filters ({len(wanted)})" if wanted else "Filters"):
        for a_filter in filters:
            if a_filter.kind == "choice":
                _draw_choice(state, frame, a_filter, wanted, param)
            else:
                _draw_range(state, a_filter, wanted, param)


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


def _wanted(text: str, filters: Sequence[Filter]) -> Wanted:
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
                wanted[column] = (float(low or -inf), float(high or inf))
    return wanted


def _text(wanted: Wanted) -> str:
    def bound(value: float) -> str:
        return "" if isinf(value) else f"{value:g}"

    parts = [
        f"{column}:{quote(value, safe='') if isinstance(value, str) else '-'.join(map(bound, value))}"
        for column, value in sorted(wanted.items())
        if value not in (_ALL, (-inf, inf))
    ]
    return ",".join(parts)


def _draw_choice(state: PageState, frame: pd.DataFrame, a_filter: Filter, wanted: Wanted, param: str) -> None:
    values = [_ALL, *sorted(frame[a_filter.column].dropna().astype(str).unique())]
    shown = wanted.get(a_filter.column, _ALL)

    def read(value: str) -> str:
        return _text({**wanted, a_filter.column: value})

    st.selectbox(
        literal(a_filter.label),
        values,
        **state.widget(
            param, shown if shown in values else _ALL, read, part=a_filter.column, reset=_reset(state)
        ),
    )


def _draw_range(state: PageState, a_filter: Filter, wanted: Wanted, param: str) -> None:
    scale = 100 if a_filter.kind == "percent" else 1
    bounds = wanted.get(a_filter.column, (-inf, inf))
    low, high = bounds if isinstance(bounds, tuple) else (-inf, inf)

    def read(side: str, value: float | None) -> str:
        if side == "at least":
            changed = (-inf if value is None else value / scale, high)
        else:
            changed = (low, inf if value is None else value / scale)
        return _text({**wanted, a_filter.column: changed})

    unit = ", %" if scale == 100 else ""
    for column, side, bound in zip(st.columns(2), ("at least", "at most"), (low, high), strict=True):
        column.number_input(
            f"{literal(a_filter.label)}{unit}, {side}",
            min_value=0.0,
            step=1.0,
            format="%g",
            placeholder="any",
            **state.widget(
                param,
                None if isinf(bound) else scale * bound,
                partial(read, side),
                part=f"{a_filter.column}.{side}",
                reset=_reset(state),
            ),
        )


def _reset(state: PageState) -> tuple[str, ...]:
    return ("page",) if "page" in state.defaults else ()
