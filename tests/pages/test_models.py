"""Models: the server, its key, prices and prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.models.prices import save_prices
from components.models.prompts import prompt_use
from evidencebench_core.llm import Price, price_of, prompt_names
from tests.llm.server import body, reply, scripted, status
from tests.pages.app import LISTED, SECRET, OpenPage, listing

pytestmark = pytest.mark.usefixtures("own_places")

NO_KEY = "No key for `https://api.openai.com/v1`"
TRY = "Try the connection"


# -- the server ---------------------------------------------------------------------------------------


def test_one_click_lists_the_models_and_asks_the_chosen_one(open_page: OpenPage) -> None:
    with scripted(listing(reply("ready"))) as server:
        app = open_page("models")
        assert "Three steps" in app.words
        assert NO_KEY in app.words
        app.fill("Address", server.url).press(TRY)
        assert "The server is there: 2 models listed. Choose one" in app.words
        choice = app.named("selectbox", "Model")
        assert choice.options == ["<b>bold</b>", "tiny"]
        choice.set_value("tiny").run()
        assert "The server is there: 2 models listed; tiny answered in" in app.press(TRY).words
        assert server.requests[-1].json["model"] == "tiny"
        assert "authorization" not in server.requests[-1].headers  # a local server needs no key


def test_a_server_without_a_list_takes_the_models_name_as_text(open_page: OpenPage) -> None:
    with scripted(status(404), reply("ready")) as server:
        app = open_page("models").fill("Address", server.url).fill("Model", " tiny ").press(TRY)
        assert "it has no list of models; tiny answered in" in app.words


def test_a_typed_key_is_taken_out_of_its_field_and_can_be_forgotten(open_page: OpenPage) -> None:
    app = open_page("models").fill("Key", SECRET)
    assert all(one.value != SECRET for one in app.text_input)
    assert "A key for `https://api.openai.com/v1` is kept for this session" in app.words
    assert SECRET not in str(app.address)
    assert NO_KEY in app.press("Forget it").words


def test_no_key_goes_to_a_server_that_it_was_not_given_for(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with scripted(body(LISTED)) as server:
        app = open_page("models")
        assert "The key of the environment" in app.words
        app.fill("Key", SECRET)  # for OpenAI
        app.fill("Address", server.url).press(TRY)
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("field", "text", "toast"),
    [
        *(("Key", key, "It was not taken") for key in ("ключ-1234", "two words", "line\nbreak")),
        *(
            ("Address", address, "address of the server")
            for address in (
                "localhost:8000",
                "file:///etc/passwd",
                "http://",
                "http://me:pw@host/v1",
                "http://host/v1?key=a",
            )
        ),
    ],
)
def test_what_is_no_key_or_address_is_said_and_not_taken(
    open_page: OpenPage, field: str, text: str, toast: str
) -> None:
    app = open_page("models").fill(field, text)
    assert any(toast in one.value for one in app.toast)
    assert NO_KEY in app.words


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"part": "nonsense"}, "There is no part nonsense"),
        ({"part": "prompts", "prompt": "<script>"}, "There is no prompt <script>"),
    ],
)
def test_an_unknown_name_in_the_address_is_said(
    open_page: OpenPage, params: dict[str, str], said: str
) -> None:
    assert said in open_page("models", **params).words


# -- prices and prompts ---------------------------------------------------------------------------------


def test_of_every_prompt_the_table_says_what_it_is_for() -> None:
    assert [name for name in prompt_names() if not prompt_use(name)] == []
    assert "results only" in prompt_use("cot-results")


def test_prices_are_shown_and_the_users_own_are_known(open_page: OpenPage) -> None:
    app = open_page("models", part="prices")
    assert "Check them at the source" in app.words
    assert "gpt-4o-mini" in set(app.dataframe[0].value["model"])
    save_prices({'my "model" \\ ü': Price(1.0, 2.5, "2026-01", "me")})
    assert price_of('my "model" \\ ü') == Price(1.0, 2.5, "2026-01", "me")


def test_a_prompt_is_read_copied_and_edited(open_page: OpenPage) -> None:
    app = open_page("models", part="prompts", prompt="cot")
    assert "$hypothesis" in app.code[0].value
    app.fill("Name of the copy", "my-own").press("Copy to edit")
    assert "my-own" in prompt_names()
    assert app.address["prompt"] == "my-own"
    app.text_area[0].set_value("version: 2\n\n=== user ===\n$hypothesis $unknown").run()
    assert "unknown field $unknown" in app.press("Save").words
    good = "version: 2\n\n=== user ===\n$hypothesis $sentences"
    app.text_area[0].set_value(good).run()
    assert app.press("Save").text_area[0].value == f"{good}\n"


@pytest.mark.parametrize("name", ["cot", "../escape", ""])
def test_a_copy_needs_a_name_of_its_own(open_page: OpenPage, tmp_path: Path, name: str) -> None:
    app = open_page("models", part="prompts", prompt="cot").fill("Name of the copy", name)
    before = prompt_names()
    assert app.press("Copy to edit").error
    assert prompt_names() == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
