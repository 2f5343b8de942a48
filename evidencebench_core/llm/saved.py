"""The model server that was chosen last: its address and a model, in a file of the user's settings. Never a key."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from pathlib import Path

import platformdirs

from evidencebench_core.errors import SettingError


def saved_server() -> tuple[str, str]:
    """Base URL and model, both empty where nothing is saved."""
    try:
        settings = tomllib.loads(_path().read_text("utf-8"))
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError) as error:
        raise SettingError(str(_path()), f"cannot be read ({error})", "Mend it or delete it.") from None
    return str(settings.get("server", "")), str(settings.get("model", ""))


def save_server(server: str, model: str) -> None:
    """Keep both for the next session; where the folder cannot be written nothing is kept."""
    with suppress(OSError):
        _path().parent.mkdir(parents=True, exist_ok=True)
        _path().write_text(  # JSON's escapes are among TOML's
            f"server = {json.dumps(server)}\nmodel = {json.dumps(model)}\n", "utf-8"
        )


def _path() -> Path:
    return platformdirs.user_config_path("evidencebench", appauthor=False) / "server.toml"
