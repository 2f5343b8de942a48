"""Fifty rows at a time, and a sort that turns round."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import address


def script() -> None:
    import streamlit as st

    from components.app.state import PageState
    from components.widgets.table import TableEvent
    from components.widgets.table.paging import paging, put_sort

    state = PageState("p", {"sort": "name", "desc": "", "page": "1"})
    page = paging(state, 101)
    st.text(f"{page.rows.start} to {page.rows.stop}")
    page.draw(state)
    for column in ("name", "size"):
        if st.button(column):
            put_sort(state, TableEvent("sort", column))
            st.rerun()


def one_page() -> None:
    from components.app.state import PageState
    from components.widgets.table.paging import paging

    state = PageState("p", {"page": "1"})
    for n_rows in (0, 50):
        assert paging(state, n_rows).n_pages == 1
        paging(state, n_rows).draw(state)


def click(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_from_page_to_page() -> None:
    app = AppTest.from_function(script).run()
    assert app.text[0].value == "0 to 50"
    assert app.button[0].disabled
    click(app, "Next page")
    click(app, "Next page")
    # 101 rows are 50 + 50 + 1.
    assert (app.text[0].value, app.caption[0].value) == ("100 to 150", "Page 3 of 3")
    assert app.button[1].disabled
    click(app, "Previous page")
    assert address(app) == {"page": "2"}


@pytest.mark.parametrize(("page", "rows"), [("0", "0 to 50"), ("9", "100 to 150"), ("x", "0 to 50")])
def test_a_page_that_there_is_not_is_the_nearest_one(page: str, rows: str) -> None:
    app = AppTest.from_function(script)
    app.query_params["page"] = page
    assert app.run().text[0].value == rows


def test_a_list_of_one_page_has_no_buttons() -> None:
    app = AppTest.from_function(one_page).run()
    assert not app.exception
    assert not app.button


def test_the_same_column_again_turns_the_sort_round_and_starts_at_its_beginning() -> None:
    app = AppTest.from_function(script)
    app.query_params["page"] = "3"
    app.run()
    click(app, "size")
    assert address(app) == {"sort": "size"}
    click(app, "size")
    assert address(app) == {"sort": "size", "desc": "1"}
    click(app, "size")
    assert address(app) == {"sort": "size"}
    click(app, "name")
    assert address(app) == {}
