"""A sorted list that is too long for one screen: fifty rows at a time, as the address says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.state import PageState
from components.table import TableEvent

ROWS: Final = 50


@dataclass(frozen=True, slots=True)
class Paging:
    """Which of its pages, from 1 on, a list shows; the state has it in ``page``."""

    page: int
    n_pages: int

    @property
    def rows(self) -> slice:
        return slice((self.page - 1) * ROWS, self.page * ROWS)

    def draw(self, state: PageState) -> None:
        if self.n_pages > 1:
            with st.container(horizontal_alignment="center"):
                st.pagination(self.n_pages, **state.widget("page", self.page))


def paging(state: PageState, n_rows: int) -> Paging:
    """The page that the address asks for, or the nearest that there is."""
    n_pages = max(1, -(-n_rows // ROWS))
    return Paging(min(max(state.number("page") or 1, 1), n_pages), n_pages)


def put_sort(state: PageState, event: TableEvent) -> None:
    """Sort by the column that was clicked, the other way round if it is sorted by that already."""
    flipped = state["sort"] == event.value and state["desc"] != "1"
    state.put(sort=event.value, desc="1" if flipped else "", page=None)
