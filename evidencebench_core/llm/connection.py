"""The model server and its key, which no repr, error or stored answer shows."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import unquote, urlsplit

import platformdirs

from evidencebench_core.errors import LLMError, SettingError
from evidencebench_core.words import clipped_text

OPENAI: Final = "https://api.openai.com/v1"
AGAIN: Final = "Check the server, and start again: what is answered is kept."
_REMEDY: Final = "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server such as http://localhost:8000/v1."
_SHORTEST: Final = 8  # of a key that is struck out: keys of local servers are words such as "none"

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
        """A server's words without the key and the address's password, were it to echo them."""
        password = urlsplit(self.base_url).password or ""
        for secret in (self.api_key or "", password, unquote(password)):
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, "[key]")
        return text

    def error(self, kind: type[_E], problem: str, remedy: str = AGAIN, stops_run: bool = False) -> _E:
        """An error of the server; of its words, which may be any page, one line without keys."""
        line = (self.without_keys(problem).splitlines() or [""])[0]
        return kind(self.address, clipped_text(line, 200).rstrip("."), remedy, stops_run)


def check_address(text: str) -> None:
    """Raise `SettingError` where a server's address cannot be used."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not (is_address and text.isascii() and text.isprintable() and not set(text) & set(' `<>"')):
        raise SettingError("the server's address", "is no web address", _REMEDY)


def check_key(text: str) -> None:
    """Raise `SettingError`, without the key, where a text cannot be one."""
    if not (text.isascii() and text.isprintable() and " " not in text):
        problem = "has a space, a line end, or a character that is not ASCII"
        raise SettingError("the server's key", problem, "Copy it again.")


def connection_from_environment() -> Connection:
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the openai package reads them; of neither, the saved server."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    base_url = (os.environ.get("OPENAI_BASE_URL") or "").strip() or ("" if key else saved_server()[0])
    return Connection(base_url or OPENAI, key or None)


def saved_server() -> tuple[str, str]:
    """Base URL and model of the server that was chosen last, both empty where none is saved."""
    try:
        server, model = json.loads(_saved_path().read_text("utf-8"))
    except (OSError, ValueError):
        return "", ""
    return str(server), str(model)


def save_server(server: str, model: str) -> None:
    """Keep both, and never a key, for the next session, where the folder can be written."""
    with suppress(OSError):
        _saved_path().parent.mkdir(parents=True, exist_ok=True)
        _saved_path().write_text(json.dumps([server, model]), "utf-8")


def _saved_path() -> Path:
    return platformdirs.user_config_path("evidencebench", appauthor=False) / "server.json"
