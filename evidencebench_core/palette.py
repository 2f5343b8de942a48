"""The colours everything shares: marks, aspects, retrievers, each for light and dark.

The hues are those of Okabe and Ito's colour-blind-safe set, made darker or lighter only as far
as it takes to stand out 3:1 against the page in each theme (text in a mark's colour: 4.5:1).
Colour is never alone: marks differ in icon and border as well, aspects carry their label.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# The page's background, as .streamlit/config.toml has it.
LIGHT_PAGE: Final = "#ffffff"
DARK_PAGE: Final = "#15171a"


@dataclass(frozen=True, slots=True)
class Hue:
    """One colour as it is drawn on a light and on a dark page, ``#rrggbb``."""

    light: str
    dark: str

    def on(self, dark: bool) -> str:
        """The value for the theme."""
        return self.dark if dark else self.light


_BLUE: Final = Hue("#0072b2", "#4a9fdc")
_ORANGE: Final = Hue("#b87a00", "#e69f00")
_GREEN: Final = Hue("#009e73", "#20b48b")
_PURPLE: Final = Hue("#b85f92", "#dd94bd")
_SKY: Final = Hue("#3f94d1", "#8ed0f5")
_VERMILLION: Final = Hue("#d55e00", "#f0803c")
_YELLOW: Final = Hue("#8f8500", "#f0e442")
_GREY: Final = Hue("#5f6670", "#a9b0ba")

MARKS: Final[Mapping[str, Hue]] = {
    "gold": Hue("#b37800", "#e69f00"),
    "picked": Hue("#0072b2", "#56b4e9"),
    "both": Hue("#00785a", "#2fbf95"),
    "missed": Hue("#d55e00", "#f0803c"),
    "proposed": Hue("#a1447a", "#dd94bd"),
}
"""By mark, as `evidencebench_core.metrics.Mark` names them, and a sentence that a model proposes."""

ASPECTS: Final = (_BLUE, _ORANGE, _GREEN, _PURPLE, _VERMILLION, _SKY, _YELLOW, _GREY)
"""The colours of the aspects, in turn; the ninth starts over (and gets another dot)."""

SYSTEMS: Final = (_BLUE, _VERMILLION, _PURPLE)
"""Systems A, B and C where up to three retrievers stand side by side."""

CHANGES: Final[Mapping[str, Hue]] = {"better": _BLUE, "same": _GREY, "worse": _VERMILLION}
"""Better and worse, of whatever is compared: told apart by every kind of colour vision."""

_RETRIEVERS: Final[Mapping[str, Hue]] = {
    "random": _GREY,
    "oracle": _ORANGE,
    "lead": _YELLOW,
    "abstract-tail": _VERMILLION,
    "bm25": _SKY,
    "dense": _BLUE,
    "hybrid": _PURPLE,
    "llm": _GREEN,
    "structure": Hue("#7d4a1e", "#c99a6b"),
    "evidence-ranker": Hue("#4b3fa8", "#a99cf0"),
}


def retriever_hue(name: str) -> Hue:
    """The colour of a retriever in every chart: always the same for the same name."""
    known = _RETRIEVERS.get(name)
    return ASPECTS[sum(name.encode()) % len(ASPECTS)] if known is None else known


def css_variables(selector: str, dark_selector: str) -> str:
    """All colours as CSS custom properties: ``--gold`` ... and ``--aspect-0`` ..."""
    hues = {**MARKS, **{f"aspect-{place}": hue for place, hue in enumerate(ASPECTS)}}

    def block(where: str, dark: bool) -> str:
        lines = (f"  --{name}: {hue.on(dark)};" for name, hue in hues.items())
        return "\n".join((f"{where} {{", *lines, "}"))

    return f"{block(selector, dark=False)}\n{block(dark_selector, dark=True)}\n"
