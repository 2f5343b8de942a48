"""The colours everything shares, those of palette.toml: marks, aspects, retrievers, each for light and dark.

Colour is never alone: marks differ in icon and border as well, aspects carry their label.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Hue:
    """One colour as it is drawn on a light and on a dark page, ``#rrggbb``."""

    light: str
    dark: str

    def on(self, dark: bool) -> str:
        """The value for the theme."""
        return self.dark if dark else self.light


_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_HUES: Final = {name: Hue(*values) for name, values in _TABLES["hues"].items()}


def _hues_by(table: str) -> dict[str, Hue]:
    return {key: _HUES[name] for key, name in _TABLES[table].items()}


PAGE: Final = _HUES["page"]
"""The background."""

MARKS: Final[Mapping[str, Hue]] = _hues_by("marks")
"""By mark, as `evidencebench_core.metrics.Mark` names them, and a sentence that a model proposes."""

ASPECTS: Final = tuple(_HUES[name] for name in _TABLES["aspects"])
"""The colours of the aspects, in turn; the ninth starts over (and gets another dot)."""

SYSTEMS: Final = tuple(_HUES[name] for name in _TABLES["systems"])
"""Systems A, B and C where up to three retrievers stand side by side."""

CHANGES: Final[Mapping[str, Hue]] = _hues_by("changes")
"""Better and worse, of whatever is compared: told apart by every kind of colour vision."""

RETRIEVERS: Final[Mapping[str, Hue]] = _hues_by("retrievers")
"""Ours, in every chart."""
