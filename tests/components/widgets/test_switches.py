"""Switches show what the address names, and write what is chosen."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import address


def page() -> None:
    import streamlit as st

    from components.app.state import PageState
    from components.widgets.switches import on_off_switch, option_switch

    state = PageState("test", {"part": "a", "all": "", "page": "1"})
    chosen = option_switch(
        state, "part", "Part", {"a": "First", "b": "Second"}, reset=("page",), fallback="A is"
    )
    st.markdown(f"{chosen} {on_off_switch(state, 'all', 'All')}")


def opened(**params: str) -> AppTest:
    app = AppTest.from_function(page)
    for name, value in params.items():
        app.query_params[name] = value
    return app.run()


def test_a_choice_goes_to_the_address_and_takes_others_back() -> None:
    app = opened(page="3")
    assert app.markdown[0].value == "a False"
    app.segmented_control[0].set_value("b").run()
    app.toggle[0].set_value(True).run()
    assert app.markdown[0].value == "b True"
    assert address(app) == {"part": "b", "all": "1"}
    app.toggle[0].set_value(False).run()
    assert address(app) == {"part": "b"}


def test_an_unknown_option_is_reported_as_text() -> None:
    app = opened(part="<b>nix")
    assert app.warning[0].value == r"There is no part \<b\>nix; A is shown instead."
    assert app.markdown[0].value == "a False"
    assert "part" not in address(app)
