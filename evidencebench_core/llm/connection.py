"""The model server and its key, which no repr, error or stored answer shows."""

import os
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.parse import urlsplit

from evidencebench_core.errors import LLMError, SettingError
from evidencebench_core.words import clipped_text

OPENAI: Final = "https://api.openai.com/v1"
AGAIN: Final = "Check the server and start again: answers so far are kept."
_REMEDY: Final = (
    "Set OPENAI_API_KEY, or OPENAI_BASE_URL to an address without a key, such as http://localhost:8000/v1."
)
_SHORTEST: Final = 8  # key that is struck out of texts: local servers have words such as "none" for a key

_E = TypeVar("_E", bound=LLMError)


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that speaks the OpenAI protocol."""

    base_url: str = field(default=OPENAI, repr=False)  # such as http://localhost:8000/v1
    api_key: str | None = field(default=None, repr=False)  # None: the server needs none

    @property
    def address(self) -> str:
        """The server's address without user name, password, query and closing slash: safe to show."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host.lower()}{parts.path.rstrip('/')}" if host else "(no web address)"

    def check(self) -> None:
        """Raise `SettingError` if the server cannot be asked."""
        if self.base_url == OPENAI and not self.api_key:
            raise SettingError("the model server", "has no key", _REMEDY)
        check_address(self.base_url)
        check_key(self.api_key or "")

    def without_keys(self, text: str) -> str:
        """A server's words, with the key struck out."""
        key = self.api_key or ""
        return text.replace(key, "[key]") if len(key) >= _SHORTEST else text

    def error(self, kind: type[_E], problem: str, remedy: str = AGAIN, stops_run: bool = False) -> _E:
        """An error with one line of the server's words, which may be any page, without the key."""
        line = (self.without_keys(problem).splitlines() or [""])[0]
        return kind(self.address, clipped_text(line, 200).rstrip("."), remedy, stops_run)


def check_address(text: str) -> None:
    """Raise `SettingError`, without the text, unless it is a plain web address."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not (is_address and text.isascii() and text.isprintable() and not set(text) & set(' `<>"@?#')):
        raise SettingError("the server's address", "is no plain web address", _REMEDY)


def check_key(text: str) -> None:
    """Raise `SettingError`, without the text, if it cannot be a key."""
    if not (text.isascii() and text.isprintable() and " " not in text):
        problem = "has a space, a line end, or a character that is not ASCII"
        raise SettingError("the server's key", problem, "Copy it again.")


def connection_from_environment() -> Connection:
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the openai package reads them."""
    base_url = os.environ.get("OPENAI_BASE_URL", "").strip()
    return Connection(base_url or OPENAI, os.environ.get("OPENAI_API_KEY", "").strip() or None)
