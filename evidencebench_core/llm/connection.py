"""Which server is asked, and with which key. Keys stay in here: no repr, error or record shows one."""

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
_LONG_KEY: Final = 12  # characters; of shorter keys no pieces are looked for
_PIECE: Final = 8
_SHORTEST_STRUCK: Final = 8
_SHORTEST_SECRET: Final = 4  # striking out every "a" would only garble texts


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
            return self._without_secrets(url)
        return f"{parts.scheme.lower()}://{host.lower()}{parts.path.rstrip('/')}"

    def scrubbed(self, text: str) -> str:
        """A text without the key, the password of the address and other secrets, however they are written."""
        return _BEARER.sub(rf"\1{_HIDDEN}", self._without_secrets(text))

    def without_keys(self, text: str) -> str:
        """An answer without the key and other secrets, were the server to echo them whole; short ones stay.

        Made-up keys of local servers are words (``none``, ``sk-no-key-required``), and answers may have them.
        """
        for secret in self._secrets():
            text = text.replace(secret, _HIDDEN) if len(secret) >= _SHORTEST_STRUCK else text
        return text

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, _HIDDEN)
        return _without_pieces(text, self.api_key or "")

    def _secrets(self) -> list[str]:
        found = {self.api_key or "", (self.api_key or "").strip()}
        if self.base_url:
            before = self.base_url.partition("://")[2].partition("/")[0].rpartition("@")[0]
            found.add(before.partition(":")[2] or before)
            query = self.base_url.partition("?")[2]
            found.update(pair.partition("=")[2] for pair in query.split("&"))
        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()  # the package sends them
        values = (line.partition(":")[2].strip() for line in lines)
        found.update(value for value in values if len(value) >= _LONG_KEY)
        found |= {unquote(secret) for secret in found} | {quote(secret, safe="") for secret in found}
        return sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)


def _without_pieces(text: str, key: str) -> str:
    """The text without pieces of a long key: servers shorten it, break it off, or escape characters of it."""
    if len(key) < _LONG_KEY:
        return text
    pieces = {key[at : at + _PIECE] for at in range(len(key) - _PIECE + 1)}
    end = 0  # of the last piece
    without: list[str] = []
    for at, character in enumerate(text):
        if text[at : at + _PIECE] in pieces:
            without += [_HIDDEN] if at >= end else []
            end = at + _PIECE
        elif at >= end:
            without.append(character)
    return "".join(without)


# Servers quote keys back, shortened or not: "Incorrect API key provided: sk-abc***xyz".
_BEARER: Final = re.compile(r"((?:[Bb]earer\s+)|(?=\bsk-))[A-Za-z0-9._~+/*=-]{4,}")

_OVERRIDE: ContextVar[Connection | None] = ContextVar("evidencebench_connection", default=None)


def connection_from_environment() -> Connection:
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the openai package reads them; of neither, the saved server."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    base_url = (os.environ.get("OPENAI_BASE_URL") or "").strip() or ("" if key else saved_server()[0])
    return Connection(base_url or None, key or None)


def current_connection() -> Connection:
    """The one that `using` has put in force in this context, else that of the environment."""
    return _OVERRIDE.get() or connection_from_environment()


@contextmanager
def using(connection: Connection) -> Iterator[Connection]:
    """Within the block, and in what is called from it, `current_connection` is this one.

    Whoever hands work to a thread passes the context on: ``contextvars.copy_context().run(work)``.
    """
    token = _OVERRIDE.set(connection)
    try:
        yield connection
    finally:
        _OVERRIDE.reset(token)
