"""The model server, its key, and the one that was chosen last. No repr, error or stored answer shows a key."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import platformdirs

from evidencebench_core.errors import SettingError

DEFAULT_ADDRESS: Final = "https://api.openai.com/v1"

_HIDDEN: Final = "[key]"
_SHORTEST: Final = 8  # of a key that is struck out of answers: keys of local servers are words such as "none"
_SHORTEST_IN_ERRORS: Final = 4

_CURRENT: ContextVar[Connection | None] = ContextVar("evidencebench_connection", default=None)


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that speaks the OpenAI protocol."""

    base_url: str | None = None  # such as http://localhost:8000/v1; None: OpenAI itself
    api_key: str | None = None  # None: the server needs none

    def __repr__(self) -> str:
        key = "none" if self.api_key is None else "hidden"
        return f"Connection(base_url={self.address!r}, api_key=<{key}>)"

    @property
    def address(self) -> str:
        """The server's address without user name, password, query and closing slash: safe to show."""
        parts = urlsplit(self.base_url or DEFAULT_ADDRESS)
        host = parts.netloc.rpartition("@")[2]
        if not parts.scheme or not host:
            return self.without_keys(self.base_url or "", is_error=True)
        return f"{parts.scheme.lower()}://{host.lower()}{parts.path.rstrip('/')}"

    def check(self) -> None:
        """Raise `SettingError` if the address or the key cannot be used."""
        url, key = self.base_url or DEFAULT_ADDRESS, self.api_key or ""
        remedy = (
            "Set OPENAI_API_KEY, and OPENAI_BASE_URL, such as http://localhost:8000/v1, for your own server."
        )
        if self.base_url is None and not key:
            raise SettingError("model server", "no key is set", remedy)
        if not (re.match(r"https?://[^/?#]", url) and key.isascii() and key.isprintable()):
            raise SettingError("model server", "its address or key cannot be used", remedy)

    def without_keys(self, text: str, is_error: bool = False) -> str:
        """A server's words without the key and the address's password, were it to echo them."""
        password = urlsplit(self.base_url or "").password or ""
        for secret in (self.api_key or "", password, unquote(password)):
            if len(secret) >= (_SHORTEST_IN_ERRORS if is_error else _SHORTEST):
                text = text.replace(secret, _HIDDEN)
        return text


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


def saved_server() -> tuple[str, str]:
    """Base URL and model of the server that was chosen last, both empty where none is saved."""
    try:
        settings = tomllib.loads(_saved_path().read_text("utf-8"))
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError) as error:
        raise SettingError(str(_saved_path()), f"cannot be read ({error})", "Mend it or delete it.") from None
    return str(settings.get("server", "")), str(settings.get("model", ""))


def save_server(server: str, model: str) -> None:
    """Keep both, and never a key, for the next session; where the folder cannot be written nothing is kept."""
    text = f"server = {json.dumps(server)}\nmodel = {json.dumps(model)}\n"  # JSON's escapes are among TOML's
    with suppress(OSError):
        _saved_path().parent.mkdir(parents=True, exist_ok=True)
        _saved_path().write_text(text, "utf-8")


def _saved_path() -> Path:
    return platformdirs.user_config_path("evidencebench", appauthor=False) / "server.toml"
