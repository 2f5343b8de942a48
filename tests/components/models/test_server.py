"""A server's address, and what comes of trying it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.models.server import address_text, checked_address, trial
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection
from tests.llm.server import body, scripted

KEY = "sk-live-0123456789abcdef"


@given(st.builds("{}{}".format, st.sampled_from(["http://", "https://a", "HTTP://a/"]), st.text()))
def test_an_address_that_is_taken_shows_as_code_and_holds_no_password(text: str) -> None:
    try:
        taken = checked_address(text)
    except SettingError:
        return
    shown = address_text(Connection(taken))
    assert shown.startswith("`http")
    assert shown.count("`") == 2
    assert not set(taken) & set("@? \n<>") or "/" in taken.partition("://")[2].partition("@")[0]


@pytest.mark.parametrize("text", ["http://localhost:8000/v1", "https://a.b/v1/", "http://[::1]:11434/v1"])
def test_usual_addresses_are_taken_and_shown_as_no_link(text: str) -> None:
    assert checked_address(f" {text} ") == text
    assert address_text(Connection(text)) == f"`{text.rstrip('/')}`"


@pytest.mark.parametrize(
    "text", ["localhost:1", "ftp://a/b", "http://", "http://a:b@c/v1", "http://a/v1?k=v", "http://a:99999/"]
)
def test_other_addresses_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        checked_address(text)
    assert "a:b" not in str(caught.value)


def test_an_unreachable_server_is_one_line_without_the_key() -> None:
    result = trial(Connection("http://127.0.0.1:9/v1", KEY), "tiny")
    assert not result.ok
    assert "\n" not in result.line
    assert KEY not in result.line


@pytest.mark.parametrize("code", [200, 302, 404, 500])
def test_another_page_is_one_short_line_without_the_key(code: int) -> None:
    pages = (
        body(b"<html><title>Router</title>\n<pre>password: hunter2</pre></html>", "text/html", code),
        body(b'{"error": {"message": "Router\\nhunter2"}}', "application/json", code),
    )
    with scripted(*pages, *pages) as server:
        for model in ("", "", "tiny", "tiny"):
            result = trial(Connection(server.url, KEY), model)
            assert KEY not in result.line
            assert len(result.line) < 1_000


def test_a_key_in_the_list_of_models_or_an_error_is_struck_out() -> None:
    names = [{"id": f"tiny-{KEY}"}, {"id": "other"}]
    steps = (body(json.dumps({"data": names}).encode()), body(f"no {KEY[:-4]}".encode(), "text/plain", 401))
    with scripted(*steps) as server:
        assert trial(Connection(server.url, KEY), "").models == ("other", "tiny-[key]")
        assert KEY[:12] not in trial(Connection(server.url, KEY), "").line
