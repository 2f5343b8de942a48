"""The state of a page: from the address, back to it, and over a switch of pages."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import address


def script() -> None:
    import streamlit as st

    from components.app.state import PageState

    state = PageState("p", {"task": "er@10", "q": "", "n": "1"})
    st.text_input("Search", **state.widget("q", state["q"], reset=("n",)))
    if st.button("three"):
        state.put(n=3)
        st.rerun()
    st.caption(f"{state['task']}|{state['q']}|{state.number('n')}|{state.link('task', extra='x y')}")


def shown(app: AppTest) -> str:
    assert not app.exception
    return str(app.caption[0].value)


def test_defaults_stay_out_of_the_address_but_in_a_link_that_names_them() -> None:
    app = AppTest.from_function(script).run()
    assert shown(app) == "er@10||1|/p?task=er%4010&extra=x+y"
    assert address(app) == {}


def test_the_address_is_read_and_a_widget_writes_to_it() -> None:
    app = AppTest.from_function(script)
    app.query_params["task"] = "er@7"
    app.query_params["n"] = "5"
    app.run()
    assert shown(app).startswith("er@7||5|")
    app.text_input[0].set_value("wine").run()
    assert shown(app).startswith("er@7|wine|1|")  # a new search goes back to page 1
    assert address(app) == {"task": "er@7", "q": "wine"}


def test_the_session_remembers_what_a_switch_of_pages_drops() -> None:
    app = AppTest.from_function(script).run()
    app.button[0].click().run()
    assert shown(app).startswith("er@10||3|")
    app.query_params.clear()
    app.run()
    assert shown(app).startswith("er@10||3|")
    assert address(app)["n"] == "3"


def test_numbers_that_are_none_are_none() -> None:
    app = AppTest.from_function(script)
    for wrong in ("-1", "1.5", "x", "²", "9" * 40):
        app.query_params["n"] = wrong
        app.run()
        assert "|None|" in shown(app)
