"""Models: the server, its key, prices and prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.llm import price_of, prompt_names
from tests.llm.server import (
    body,
    completion,
    reply,
    scripted,
    status,
)
from tests.pages.asking import LISTED, SECRET, click, listing, said, type_into
from tests.pages.conftest import OpenPage, address

pytestmark = pytest.mark.usefixtures("own_places")


# -- the server ---------------------------------------------------------------------------------------


def test_the_empty_page_teaches(open_alone: OpenPage) -> None:
    app = open_alone("models")
    assert "Three steps" in said(app)
    assert "No key for `https://api.openai.com/v1`" in said(app)
    assert [b.label for b in app.button if b.label == "Try the connection"]


def test_one_click_lists_the_models_and_asks_the_chosen_one(open_alone: OpenPage) -> None:
    with scripted(listing(reply("ready"))) as server:
        app = open_alone("models")
        type_into(app, "Address", server.url)
        click(app, "Try the connection")
        assert "The server is there: 2 models listed. Choose one" in said(app)
        choice = next(one for one in app.selectbox if one.label == "Model")
        assert choice.options == ["<b>bold</b>", "tiny"]
        choice.set_value("tiny").run()
        click(app, "Try the connection")
        assert "The server is there: 2 models listed; tiny answered in" in said(app)
        assert server.requests[-1].json["model"] == "tiny"
        assert "authorization" not in server.requests[-1].headers  # a local server needs no key


def test_a_server_without_a_list_takes_the_models_name_as_text(open_alone: OpenPage) -> None:
    with scripted(status(404), reply("ready")) as server:
        app = open_alone("models")
        type_into(app, "Address", server.url)
        type_into(app, "Model", " tiny ")
        click(app, "Try the connection")
        assert "it has no list of models; tiny answered in" in said(app)


def test_a_refused_key_is_said_without_it(open_alone: OpenPage) -> None:
    with scripted(status(401, f"Incorrect API key provided: {SECRET}")) as server:
        app = open_alone("models")
        type_into(app, "Address", server.url)
        type_into(app, "Key", SECRET)
        click(app, "Try the connection")
        assert "answers 401" in said(app)
        assert SECRET not in said(app)
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_typed_key_is_taken_out_of_its_field_and_can_be_forgotten(open_alone: OpenPage) -> None:
    app = open_alone("models")
    type_into(app, "Key", SECRET)
    assert all(one.value != SECRET for one in app.text_input)
    assert "A key for `https://api.openai.com/v1` is kept for this session" in said(app)
    assert SECRET not in str(address(app))
    click(app, "Forget it")
    assert "No key for `https://api.openai.com/v1`" in said(app)


@pytest.mark.parametrize("text", ["ключ-1234", "two words", "line\nbreak"])
def test_what_cannot_be_a_key_is_not_taken(open_alone: OpenPage, text: str) -> None:
    app = open_alone("models")
    type_into(app, "Key", text)
    assert "No key for" in said(app)
    assert any("It was not taken" in one.value for one in app.toast)


def test_no_key_goes_to_a_server_that_it_was_not_given_for(
    open_alone: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with scripted(body(LISTED)) as server:
        app = open_alone("models")
        assert "The key of the environment" in said(app)
        type_into(app, "Key", SECRET)  # for OpenAI
        type_into(app, "Address", server.url)
        click(app, "Try the connection")
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    "text",
    ["localhost:8000", "file:///etc/passwd", "http://", "http://me:pw@host/v1", "http://host/v1?key=a"],
)
def test_what_is_no_address_is_said_and_not_taken(open_alone: OpenPage, text: str) -> None:
    app = open_alone("models")
    type_into(app, "Address", text)
    assert any("address of the server" in one.value for one in app.toast)
    assert "No key for `https://api.openai.com/v1`" in said(app)


def test_an_unknown_part_in_the_address_is_said(open_alone: OpenPage) -> None:
    assert "There is no part nonsense" in said(open_alone("models", part="nonsense"))


# -- prices and prompts ---------------------------------------------------------------------------------


def test_prices_are_shown_with_their_model(open_alone: OpenPage) -> None:
    app = open_alone("models", part="prices")
    assert "Check them at the source" in said(app)
    assert "gpt-4o-mini" in set(app.dataframe[0].value["model"])


def test_a_price_in_the_users_table_is_known(open_alone: OpenPage) -> None:
    from components.models.prices import save_prices
    from evidencebench_core.llm import Price

    save_prices({'my "model" \\ ü': Price(1.0, 2.5, "2026-01", "me")})
    assert price_of('my "model" \\ ü') == Price(1.0, 2.5, "2026-01", "me")
    assert completion("x")["usage"]["prompt_tokens"] == 100


def test_a_prompt_is_read_copied_and_edited(open_alone: OpenPage) -> None:
    app = open_alone("models", part="prompts", prompt="cot")
    assert "$hypothesis" in app.code[0].value
    type_into(app, "Name of the copy", "my-own")
    click(app, "Copy to edit")
    assert "my-own" in prompt_names()
    assert address(app)["prompt"] == "my-own"
    app.text_area[0].set_value("version: 2\n\n=== user ===\n$hypothesis $unknown").run()
    click(app, "Save")
    assert "unknown field $unknown" in said(app) + "".join(one.value for one in app.error).replace("\\", "")
    app.text_area[0].set_value("version: 2\n\n=== user ===\n$hypothesis $sentences").run()
    click(app, "Save")
    assert app.text_area[0].value == "version: 2\n\n=== user ===\n$hypothesis $sentences\n"


@pytest.mark.parametrize("name", ["cot", "../escape", ""])
def test_a_copy_needs_a_name_of_its_own(open_alone: OpenPage, tmp_path: Path, name: str) -> None:
    app = open_alone("models", part="prompts", prompt="cot")
    before = prompt_names()
    type_into(app, "Name of the copy", name)
    click(app, "Copy to edit")
    assert app.error
    assert prompt_names() == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_unknown_prompt_in_the_address_is_said(open_alone: OpenPage) -> None:
    assert "There is no prompt <script>" in said(open_alone("models", part="prompts", prompt="<script>"))
