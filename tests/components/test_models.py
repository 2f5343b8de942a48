"""A model server's address, and what comes of trying it."""

import json

import pytest

from components.server import address_text, checked_address, trial
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection
from tests.llm.server import body, scripted

KEY = "sk-live-0123456789abcdef"


@pytest.mark.parametrize("text", ["http://localhost:8000/v1", "https://a.b/v1/", "http://[::1]:11434/v1"])
def test_usual_addresses_are_taken_and_shown_as_no_link(text: str) -> None:
    assert checked_address(f" {text} ") == text
    assert address_text(Connection(text)) == f"`{text.rstrip('/')}`"


@pytest.mark.parametrize(
    "text",
    [
        *("localhost:1", "ftp://a/b", "http://", "http://a:b@c/v1", "http://a/v1?k=v", "http://a:99999/"),
        *("http://a/`b`", "http://a/<b>", "http://a /v1", "http://a/\nb", "http://a/\u202e"),
    ],
)
def test_other_addresses_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        checked_address(text)
    assert "a:b" not in str(caught.value)


def test_a_try_lists_the_models_or_says_in_one_line_what_came_back_and_never_the_key() -> None:
    models = body(json.dumps({"data": [{"id": f"tiny-{KEY}"}, {"id": "other"}]}).encode())
    page = body(b"<html><title>Router</title>\n<pre>password: hunter2</pre></html>", "text/html")
    echo = body(f"no {KEY}\nhunter2".encode(), "text/plain", 401)
    with scripted(models, page, echo) as server:
        there = Connection(server.url, KEY)
        assert trial(there, "").models == ("other", "tiny-[key]")
        for connection in (there, there, Connection("http://127.0.0.1:9/v1", KEY)):
            result = trial(connection, "")
            assert not [text for text in ("\n", KEY[:12], "hunter2") if text in result.line]
