"""The state of a page: from the address, back to it, over a switch of pages, and in the link of a choice."""

import pytest
from streamlit.testing.v1 import AppTest

from components.retrievers import Choice, choice_from
from evidencebench_core.errors import SettingError
from tests.pages.app import App


def script() -> None:
    import streamlit as st

    from components.state import PageState

    state = PageState("p", {"task": "er@10", "q": "", "n": "1", "sentence": ""}, quiet=["sentence"])
    st.text_input("Search", **state.widget("q", state["q"], reset=("n",)))
    st.text_input("Sentence", **state.widget("sentence", state["sentence"]))
    if st.button("three"):
        state.put(n=3)
        st.rerun()
    st.caption(f"{state['task']}|{state['q']}|{state.number('n')}")


def opened(**params: str) -> App:
    return App(AppTest.from_function(script), **params)


def test_the_address_is_read_and_a_widget_writes_to_it_but_for_defaults() -> None:
    app = opened()
    assert (app.words, app.address) == ("er@10||1", {})
    app = opened(task="er@7", n="5")
    assert app.words.startswith("er@7||5")
    # a new search goes back to page 1
    assert app.fill("Search", "wine").words.startswith("er@7|wine|1")
    assert app.address == {"task": "er@7", "q": "wine"}
    for number in ("-1", "1.5", "x", "²", "9" * 40):
        assert "|None" in app.run(n=number).words


def test_the_address_is_read_only_where_a_page_is_entered_with_parameters() -> None:
    app = opened(n="5").press("three")
    app.query_params["n"] = "5"  # of a click that was sent before the new address arrived
    assert app.run().words.startswith("er@10||3")
    app.query_params.clear()
    app.test.session_state["shown-page"] = "q"
    assert app.run().words.startswith("er@10||3")  # as it was left
    assert app.address == {"n": "3"}


def pages(page: str, chosen: str) -> None:
    """Two pages about a dataset, of which one stands on another instance."""
    import streamlit as st

    from components.state import PageState

    state = PageState(st.session_state.get("page", page), {"dataset": "", "task": "", "instance": ""})
    state.dataset("first")
    if st.session_state.get("choose", chosen):
        state.put(dataset=st.session_state.get("choose", chosen))
    st.caption(f"{state['dataset']}|{state['task']}|{state['instance']}")


@pytest.mark.parametrize(
    ("left", "chosen", "shown"),
    [
        ({"dataset": "a", "instance": "1"}, "a", "a||1"),
        ({"dataset": "a", "instance": "1", "task": "er@7"}, "b", "b|er@7|"),
        ({"instance": "1"}, "b", "b||"),
        ({"dataset": "a", "instance": "1"}, "", "a||1"),
    ],
)
def test_the_dataset_chosen_on_a_page_comes_along(left: dict[str, str], chosen: str, shown: str) -> None:
    app = App(AppTest.from_function(pages, args=("analyse", "")), **left)
    for page, choose in (("browse", chosen), ("analyse", "")):
        app.query_params.clear()
        app.test.session_state["page"], app.test.session_state["choose"] = page, choose
        app.run()
    assert app.words == shown


def test_a_quiet_value_is_no_step_and_goes_along_with_the_next() -> None:
    app = opened().fill("Sentence", "5")
    assert (app.named("text_input", "Sentence").value, app.address) == ("5", {})
    assert app.fill("Search", "x").address == {"sentence": "5", "q": "x"}


def test_a_choice_of_a_retriever_comes_back_from_its_link() -> None:
    hybrid = Choice("hybrid", {"of": ("abstract-tail", "bm25")})
    for choice in (Choice("bm25", {"k1": 1.2, "b": 0.5}), hybrid, Choice("lead")):
        assert choice_from(choice.text) == choice


def test_a_link_chooses_no_unknown_setting_and_no_file() -> None:
    for link in ("bm26", "bm25;k3=1", "bm25;k1=many", "dense;model=/tmp/model", "llm;prompts=/tmp"):
        with pytest.raises(SettingError):
            choice_from(link)
