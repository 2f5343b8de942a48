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
    "text",
    [
        "localhost:1",
        "ftp://a/b",
        "http://",
        "http://a:b@c/v1",
        "http://a/v1?k=v",
        "http://a:99999/",
        "http://0?",
    ],
)
def test_other_addresses_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        checked_address(text)
    assert "a:b" not in str(caught.value)


def test_an_unreachable_server_is_one_line_without_the_key() -> None:
    found = trial(Connection("http://127.0.0.1:9/v1", KEY), "tiny")
    assert not found.ok
    assert "\n" not in found.line
    assert KEY not in found.line


_PAGE = (
    b"<html><head><title>Router</title></head>\n<body><pre>user: admin\npassword: hunter2</pre></body></html>"
)


@pytest.mark.parametrize("code", [200, 302, 403, 404, 500])
@pytest.mark.parametrize(
    ("content", "kind"),
    [(_PAGE, "text/html"), (b'{"error": {"message": "Router\\nhunter2"}}', "application/json")],
)
def test_another_page_is_one_short_line_without_the_key(code: int, content: bytes, kind: str) -> None:
    with scripted(body(content, kind, code), body(content, kind, code)) as server:
        for model in ("", "tiny"):
            found = trial(Connection(server.url, KEY), model)
            assert KEY not in found.line
            assert len(found.line) < 1_000


def test_a_key_in_the_list_of_models_or_an_error_is_struck_out() -> None:
    names = [f"tiny-{KEY}", "other"]
    with scripted(body(json.dumps({"data": [{"id": name} for name in names]}).encode())) as server:
        assert trial(Connection(server.url, KEY), "").models == ("other", "tiny-[key]")
    with scripted(body(f"no key like {KEY[:-4]}".encode(), "text/plain", 401)) as server:
        assert KEY[:12] not in trial(Connection(server.url, KEY), "").line
