"""A model server's address."""

import pytest

from components.server import address_text, checked_address
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection


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
