"""Colours that stand out, in both themes."""

import tomllib
from pathlib import Path

import pytest

from evidencebench_core import palette
from evidencebench_core.export.reader import css_variables
from evidencebench_core.palette import ASPECTS, MARKS, PAGE, SYSTEMS
from tests.contrast import contrast

CONFIG = Path(__file__).parents[1] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("hue", [*MARKS.values(), *ASPECTS, *SYSTEMS])
def test_every_colour_stands_out_from_the_page(hue: palette.Hue) -> None:
    # a rank stands in the pick's colour on the page, or in the page's colour on the filled pill
    least = 4.5 if hue in (MARKS["picked"], MARKS["both"]) else 3
    assert contrast(hue.light, PAGE.light) >= least
    assert contrast(hue.dark, PAGE.dark) >= least


def test_the_page_is_the_themes_and_css_names_every_colour_in_both() -> None:
    theme = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]
    assert palette.Hue(theme["light"]["backgroundColor"], theme["dark"]["backgroundColor"]) == PAGE
    light, dark = css_variables(".a", ".b").split(".b {")
    for name, hue in [*MARKS.items(), ("aspect-7", ASPECTS[7])]:
        assert f"--{name}: {hue.light};" in light
        assert f"--{name}: {hue.dark};" in dark


def test_colours_are_distinct() -> None:
    assert len({hue.light for hue in ASPECTS}) == len({hue.dark for hue in ASPECTS}) == 8
    assert len({hue.light for hue in palette.RETRIEVERS.values()}) == len(palette.RETRIEVERS)
