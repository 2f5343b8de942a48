"""The model server and its key. No repr, error or stored answer shows a key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from evidencebench_core.llm.saved import saved_server

DEFAULT_ADDRESS: Final = "https://api.openai.com/v1"

_HIDDEN: Final = "[key]"
_PIECE: Final = 8  # characters of a key that are struck out of an error even alone
_SHORTEST_IN_ERRORS: Final = 4
_SHORTEST_IN_ANSWERS: Final = 8  # keys of local servers are words such as "none"
# Servers quote keys back, shortened or not: "Incorrect API key provided: sk-abc***xyz".
_BEARER: Final = re.compile(r"(\b[Bb]earer\s{1,9}|\bsk-)[A-Za-z0-9._~+/*=-]{4,}")

_CURRENT: ContextVar[Connection | None] = ContextVar("evidencebench_connection", default=None)


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that speaks the OpenAI protocol.

    Attributes
    ----------
    base_url : str or None
        Such as ``http://localhost:8000/v1``; ``None``: OpenAI itself.
    api_key : str or None
        ``None``: the server needs none. Not part of the repr.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        key = "none" if self.api_key is None else "hidden"
        return f"Connection(base_url={self.address!r}, api_key=<{key}>)"

    @property
    def address(self) -> str:
        """The server's address without user name, password, query and closing slash: safe to show."""
        url = (self.base_url or "").strip() or DEFAULT_ADDRESS
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        if not parts.scheme or not host:
            return self.scrubbed(url)
        return f"{parts.scheme.lower()}://{host.lower()}{parts.path.rstrip('/')}"

    def scrubbed(self, text: str) -> str:
        """An error's text without the key, or a long piece of it, and other secrets of the address."""
        for secret in self._secrets(_SHORTEST_IN_ERRORS):
            text = text.replace(secret, _HIDDEN)
        key = self.api_key or ""
        for start in range(len(key) - _PIECE + 1):
            text = text.replace(key[start : start + _PIECE], _HIDDEN)
        return _BEARER.sub(_HIDDEN, text)

    def without_keys(self, text: str) -> str:
        """An answer without the key and other secrets, were the server to echo them."""
        for secret in self._secrets(_SHORTEST_IN_ANSWERS):
            text = text.replace(secret, _HIDDEN)
        return text

    def _secrets(self, shortest: int) -> list[str]:
        parts = urlsplit(self.base_url or "")
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        values = {self.api_key or "", (self.api_key or "").strip(), password or user}
        values.update(pair.partition("=")[2] for pair in parts.query.split("&"))
        values |= {unquote(value) for value in values} | {quote(value, safe="") for value in values}
        return sorted((value for value in values if len(value) >= shortest), key=len, reverse=True)


def connection_from_environment() -> Connection:
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the openai package reads them; of neither, the saved server."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    base_url = (os.environ.get("OPENAI_BASE_URL") or "").strip() or ("" if key else saved_server()[0])
    return Connection(base_url or None, key or None)


def current_connection() -> Connection:
    """The one that `using` has put in force in this context, else that of the environment."""
    return _CURRENT.get() or connection_from_environment()


@contextmanager
def using(connection: Connection) -> Iterator[Connection]:
    """Within the block `current_connection` is this one."""
    token = _CURRENT.set(connection)
    try:
        yield connection
    finally:
        _CURRENT.reset(token)
