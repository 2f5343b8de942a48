"""The model server and its key, which no repr, error or stored answer shows."""

from __future__ import annotations

import json
import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import platformdirs

from evidencebench_core.errors import SettingError

OPENAI: Final = "https://api.openai.com/v1"

_REMEDY: Final = "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server such as http://localhost:8000/v1."
_SHORTEST: Final = 8  # of a key that is struck out: keys of local servers are words such as "none"


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
            raise SettingError("model server", "no key is set", _REMEDY)
        check_address(self.base_url)
        check_key(self.api_key or "")

    def without_keys(self, text: str) -> str:
        """A server's words without the key and the address's password, were it to echo them."""
        password = urlsplit(self.base_url).password or ""
        for secret in (self.api_key or "", password, unquote(password)):
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, "[key]")
        return text


def check_address(text: str) -> None:
    """Raise `SettingError` where a server's address cannot be used."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not (is_address and text.isascii() and text.isprintable() and not set(text) & set(' `<>"')):
        raise SettingError("address of the server", "is no web address", _REMEDY)


def check_key(text: str) -> None:
    """Raise `SettingError`, without the key, where a text cannot be one."""
    if not (text.isascii() and text.isprintable() and " " not in text):
        problem = "has a space, a line end, or a character that is not ASCII"
        raise SettingError(
            "key of the server", problem, "Copy it again; keys are letters, digits and punctuation."
        )


def connection_from_environment() -> Connection:
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as the openai package reads them; of neither, the saved server."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    base_url = (os.environ.get("OPENAI_BASE_URL") or "").strip() or ("" if key else saved_server()[0])
    return Connection(base_url or OPENAI, key or None)


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
