"""An article to print, and the layouts that journals have."""

from dataclasses import dataclass
from typing import Literal

A4 = (595.0, 842.0)
LETTER = (612.0, 792.0)


@dataclass(frozen=True)
class Section:
    """A heading ("" for none) and paragraphs."""

    heading: str
    paragraphs: tuple[str, ...]
    level: int = 1


@dataclass(frozen=True)
class Article:
    """What is printed. ``[^12]`` in a text is a superscript, ``**Animals.**`` at its start a run-in heading."""

    title: str
    abstract: tuple[Section, ...]
    sections: tuple[Section, ...]
    references: int = 25


@dataclass(frozen=True)
class Layout:
    """How it is printed."""

    name: str
    page: tuple[float, float] = A4
    columns: int = 1
    margin: float = 54.0
    size: float = 10.0
    leading: float = 12.0
    ragged: bool = False  # neither justified nor broken within words
    abstract: Literal["heading", "apart", "unnamed"] = "heading"
    abstract_size: float = 9.0
    headings: Literal["bold", "numbered"] = "bold"
    indent: float = 12.0
    header: str = ""
    footer: str = ""
    line_numbers: bool = False
    table: Literal["ruled", "plain", "wide", ""] = "ruled"
    figure: bool = True
    footnote: str = ""
    reference_style: Literal["numbered", "hanging"] = "numbered"
    masthead: str = ""
    stated_title: bool = False


LAYOUTS = (
    Layout("one column, numbered", page=LETTER, margin=72, size=11, leading=14, headings="numbered", abstract_size=10),
    Layout(
        "two columns, wide front", columns=2, headings="bold",
        header="Author and Writer | Journal of Things 2011, 12:34", footer="J Things 2011; doi:10.1000/things",
        footnote="* Corresponding author.",
    ),
    Layout(
        "two columns, wide table", columns=2, headings="numbered", table="wide", header="A. Author et al.",
        abstract="apart", masthead="Research article   Open Access   Journal of Things", stated_title=True,
    ),
    Layout(
        "manuscript, line numbers", page=LETTER, margin=80, size=12, leading=24, ragged=True,
        line_numbers=True, headings="bold", indent=36, abstract_size=12, table="plain",
    ),
)  # fmt: skip
