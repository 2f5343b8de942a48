"""Colours that stand out, in both themes."""

import tomllib
from pathlib import Path

import pytest

from evidencebench_core import palette
from evidencebench_core.palette import ASPECTS, DARK_PAGE, LIGHT_PAGE, MARKS, SYSTEMS
from tests.contrast import contrast

CONFIG = Path(__file__).parents[1] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("hue", [*MARKS.values(), *ASPECTS, *SYSTEMS])
def test_every_colour_stands_out_from_the_page(hue: palette.Hue) -> None:
    # a rank stands in the pick's colour on the page, or in the page's colour on the filled pill
    least = 4.5 if hue in (MARKS["picked"], MARKS["both"]) else 3
    assert contrast(hue.light, LIGHT_PAGE) >= least
    assert contrast(hue.dark, DARK_PAGE) >= least


def test_the_page_is_the_themes_and_css_names_every_colour_in_both() -> None:
    theme = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]
    assert (theme["light"]["backgroundColor"], theme["dark"]["backgroundColor"]) == (LIGHT_PAGE, DARK_PAGE)
    light, dark = palette.css_variables(".a", ".b").split(".b {")
    for name, hue in [*MARKS.items(), ("aspect-7", ASPECTS[7])]:
        assert f"--{name}: {hue.light};" in light
        assert f"--{name}: {hue.dark};" in dark


def test_colours_are_distinct_and_constant() -> None:
    assert len({hue.light for hue in ASPECTS}) == len({hue.dark for hue in ASPECTS}) == 8
    assert palette.retriever_hue("bm25") != palette.retriever_hue("dense")
    assert palette.retriever_hue("my-own") == palette.retriever_hue("my-own")
