"""Prices of tokens."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evidencebench_core.errors import SettingError

_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """Dollars for a million tokens of prompt and of answer; as of when, and who says so.

    ``batch``: what a batch endpoint charges, as a part of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    prompt: _Dollars
    completion: _Dollars = 0.0
    date: str = ""
    source: str = ""
    batch: _Dollars = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float:
        """Dollars, asked one by one or by a batch."""
        whole = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return whole * self.batch if batch else whole


_Table: Final = TypeAdapter(dict[str, Price])


def prices_path() -> Path:
    """The user's own table; its entries win over ours."""
    import platformdirs

    return platformdirs.user_config_path("evidencebench", appauthor=False) / "prices.toml"


def prices(path: Path | None = None) -> dict[str, Price]:
    """By model, ours with those of the user's table in front.

    Raises
    ------
    SettingError
        If the user's table cannot be read; says where.
    """
    table = _table(files(__package__).joinpath("prices.toml").read_text(encoding="utf-8"))
    path = path or prices_path()
    if path.is_file():
        try:
            table |= _table(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise _no_table(path, f"{place}: {fault['msg']}") from error
        except (OSError, ValueError, KeyError) as error:
            raise _no_table(path, str(error)) from error
    return table


def price_of(model: str, table: Mapping[str, Price] | None = None) -> Price | None:
    """A model's price; a dated version without one of its own has that of its name. ``None``: not known."""
    known = prices() if table is None else table
    return known.get(model) or known.get(_DATED.sub("", model))


def _table(text: str) -> dict[str, Price]:
    return _Table.validate_python(tomllib.loads(text)["models"])


def _no_table(path: Path, problem: str) -> SettingError:
    return SettingError(str(path), f"is no table of prices ({problem})", "Fix it, or copy ours again.")
