"""Prices of tokens, and a rough count of those in a text."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.request import Message

_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_FIELDS: Final = ("prompt", "completion", "batch", "date", "source")
_DOLLARS: Final = "dollars for a million tokens"
_MEANINGS: Final = {"prompt": _DOLLARS, "completion": _DOLLARS, "batch": "a part, such as 0.5"}
_PER_MESSAGE: Final = 4  # tokens around each turn of a conversation


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of prompt and of answer; as of when, and who says so.

    ``batch``: what a batch endpoint charges, as a part of it.
    """

    prompt: float
    completion: float
    date: str = ""
    source: str = ""
    batch: float = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float:
        """Dollars, asked one by one or by a batch."""
        whole = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return whole * self.batch if batch else whole


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, without any model's own tokenizer.

    One for every four ASCII characters and one for every other character, rounded up. English papers come
    out within some 20 percent of the common tokenizers; 0 for the empty text.
    """
    n_ascii = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return math.ceil(n_ascii / 4) + len(text) - n_ascii


def estimated_prompt_tokens(messages: Iterable[Message]) -> int:
    """The same for a conversation, with 4 for every turn."""
    return sum(estimated_tokens(message.content) + _PER_MESSAGE for message in messages)


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
    table = _table(files(__package__).joinpath("prices.toml").read_text(encoding="utf-8"), "prices.toml")
    path = prices_path() if own is None else own
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(str(path), f"cannot be read ({error})", "Save it as UTF-8 text.") from error
        table |= _table(text, str(path))
    return table


def price_of(model: str, table: Mapping[str, Price] | None = None) -> Price | None:
    """A model's price; a dated version without one of its own has that of its name. ``None``: not known."""
    known = prices() if table is None else table
    return known.get(model) or known.get(_DATED.sub("", model))


def _table(text: str, place: str) -> dict[str, Price]:
    try:
        document = tomllib.loads(text)
        entries = document.pop("models", {})
        if not isinstance(entries, dict):
            raise ValueError("'models' is no table")
        if document:
            raise ValueError(f"{shown(next(iter(document)))} does not stand below a line [models]")
        return {model: _price(model, entry) for model, entry in entries.items()}
    except ValueError as error:
        raise SettingError(
            place, f"is no table of prices ({error})", "Fix it, or copy ours again."
        ) from error


def _price(model: str, entry: Any) -> Price:
    values = []
    entry = entry if isinstance(entry, dict) else {}
    if unknown := sorted(entry.keys() - _FIELDS):
        raise ValueError(f"{model} has {shown(unknown[0])}; known are {', '.join(_FIELDS)}")
    for name, default in (("prompt", None), ("completion", 0.0), ("batch", 1.0)):
        value = entry.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise ValueError(f"{model}: {name} is {shown(value)}, not {_MEANINGS[name]}")
        values.append(float(value))
    prompt, completion, batch = values
    return Price(prompt, completion, str(entry.get("date", "")), str(entry.get("source", "")), batch)
