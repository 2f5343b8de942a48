"""What is read from the environment, and that keys are shown nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.llm import Connection, connection_from_environment
from evidencebench_core.llm.connection import DEFAULT_ADDRESS

KEY = "sk-verysecret0123456789"


def test_the_environment_is_read_as_the_openai_package_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for url in ("http://localhost:8000/v1", "https://example.org/api/v1/", None):
        if url is None:
            monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        else:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        with openai.OpenAI() as theirs:
            ours = connection_from_environment()
            assert ours.address == str(theirs.base_url).rstrip("/")
            assert ours.api_key == theirs.api_key
    assert connection_from_environment().address == DEFAULT_ADDRESS
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert connection_from_environment().api_key is None


@pytest.mark.parametrize(
    "url", [f"http://me:{KEY}@host/v1", f"http://host/v1?api-key={KEY}", "http://host/v1"]
)
def test_no_key_is_shown(url: str) -> None:
    connection = Connection(url, KEY)
    assert KEY not in repr(connection) + str(connection)
    assert connection.address == "http://host/v1"
    scrubbed = connection.scrubbed(f"refused: {KEY}, Bearer abcdef0123, sk-ab***6789 of {url}")
    assert not any(secret in scrubbed for secret in (KEY, "abcdef0123", "6789"))
    assert scrubbed.startswith("refused: [key], [key], [key] of http://")


def test_headers_of_the_environment_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Org: org-of-mine-7\nProxy-Authorization: Basic dXNlcjpwYXNz"
    )
    connection = Connection("http://host/v1", KEY)
    for text in ("no such org-of-mine-7", "Basic dXNlcjpwYXNz was refused", "dXNlcjpwYXNz"):
        for shown in (connection.scrubbed(text), connection.without_keys(text)):
            assert "[key]" in shown
            assert not any(secret in shown for secret in ("org-of-mine", "dXNlcjpwYXNz"))


@given(st.integers(0, 19), st.integers(8, 27), st.sampled_from([str, json.dumps, quote, repr]))
def test_no_piece_of_a_key_is_shown(start: int, length: int, written: Callable[[str], object]) -> None:
    key = "AIza7Qw-pLm_XcvB9-nT4_zRkU"
    pieces = {key[at : at + 8] for at in range(len(key) - 7)}
    scrubbed = Connection("http://host/v1", key).scrubbed(f"no such key: {written(key[start:][:length])}.")
    assert not any(piece in scrubbed for piece in pieces)
    assert scrubbed.startswith("no such key: ")


def test_short_keys_garble_nothing() -> None:
    assert Connection("http://host/v1", "ollama").scrubbed("ollamas and llama") == "[key]s and llama"
    assert Connection("http://host/v1", "ollama").without_keys("ollamas") == "ollamas"
    assert Connection("http://host/v1", "a").scrubbed("a and b") == "a and b"
