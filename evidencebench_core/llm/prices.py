"""Prices of tokens."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from evidencebench_core.errors import SettingError, shown

_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of prompt and of answer; as of when, and who says so.

    ``batch``: what a batch endpoint charges, as a part of it.
    """

    prompt: float
    completion: float = 0.0
    date: str = ""
    source: str = ""
    batch: float = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float:
        """Dollars, asked one by one or by a batch."""
        whole = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return whole * self.batch if batch else whole


def prices_path() -> Path:
    """The user's own table; its entries win over ours."""
    import platformdirs

    return platformdirs.user_config_path("evidencebench", appauthor=False) / "prices.toml"


def prices(own: Path | None = None) -> dict[str, Price]:
    """By model, ours with the user's own in front.

    Raises
    ------
    SettingError
        If the user's table cannot be read; says where.
    """
    table = _table(files(__package__).joinpath("prices.toml").read_text(encoding="utf-8"))
    path = prices_path() if own is None else own
    if path.is_file():
        try:
            table |= _table(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            remedy = "Fix it, or copy ours again, as UTF-8 text."
            raise SettingError(str(path), f"is no table of prices ({error})", remedy) from error
    return table


def price_of(model: str, table: Mapping[str, Price] | None = None) -> Price | None:
    """A model's price; a dated version without one of its own has that of its name. ``None``: not known."""
    known = prices() if table is None else table
    return known.get(model) or known.get(_DATED.sub("", model))


def _table(text: str) -> dict[str, Price]:
    document = tomllib.loads(text)
    entries = document.pop("models", {})
    if document or not isinstance(entries, dict):
        raise ValueError("prices stand below a line [models], and nothing else does")
    return {model: _price(model, entry) for model, entry in entries.items()}


def _price(model: str, entry: object) -> Price:
    known = {"completion": 0.0, "date": "", "source": "", "batch": 1.0}
    values = {**known, **entry} if isinstance(entry, dict) else {}
    if values.keys() != {"prompt", *known}:
        raise ValueError(f"{model} needs prompt, and may have {', '.join(known)}")
    for name in ("prompt", "completion", "batch"):
        value = values[name]
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise ValueError(f"{model}: {name} is {shown(value)}, not a number from 0 on")
        values[name] = float(value)
    return Price(**values | {"date": str(values["date"]), "source": str(values["source"])})
