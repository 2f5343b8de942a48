"""Three layouts that journals print in."""

from tests.papers.pdf.typesetting import LETTER, Layout

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
