"""The server and its key: read from the environment, never shown."""

import openai
import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection, connection_from_environment
from evidencebench_core.llm.connection import OPENAI

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
    assert connection_from_environment().address == OPENAI
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert connection_from_environment().api_key is None


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://me:pass%20word@host/v1", "http://host/v1"),
        (f"http://host/v1?api-key={KEY}", "http://host/v1"),
        (f"{KEY}@host", "(no web address)"),
    ],
)
def test_no_key_is_shown(url: str, address: str) -> None:
    connection = Connection(url, KEY)
    assert connection.address == address
    shown = repr(connection) + connection.without_keys(f"no such key: {KEY}")
    assert not any(secret in shown for secret in (KEY, "pass%20word"))
    with pytest.raises(SettingError):
        connection.check()
    assert Connection(url, "ollama").without_keys("ollamas") == "ollamas"  # too short to be a secret
