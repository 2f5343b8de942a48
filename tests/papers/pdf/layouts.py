"""Ten layouts that journals print in."""

from tests.papers.pdf.typesetting import LETTER, Layout

LAYOUTS = (
    Layout("one column, numbered", page=LETTER, margin=72, size=11, leading=14, headings="numbered", abstract_size=10),
    Layout(
        "two columns, wide front", columns=2, headings="bold",
        header="Author and Writer | Journal of Things 2011, 12:34", footer="J Things 2011; doi:10.1000/things",
        footnote="* Corresponding author.",
    ),
    Layout(
        "two columns, narrow gutter", columns=2, gutter=10, margin=40, size=9, leading=10.5, abstract_size=9,
        wide_abstract=False, headings="capitals", table="plain", abstract="inline", indent=9,
    ),
    Layout(
        "two columns, wide table", columns=2, headings="numbered", table="wide", header="A. Author et al.",
        abstract="apart", masthead="Research article   Open Access   Journal of Things", stated_title=True,
    ),
    Layout(
        "manuscript, line numbers", page=LETTER, margin=80, size=12, leading=24, hyphens=False, justified=False,
        line_numbers=True, headings="bold", indent=36, abstract_size=12, table="plain",
    ),
    Layout(
        "two columns, ligatures", columns=2, font="Vera", size=8, leading=10.5, ligatures=True, headings="large",
        header="Things | Volume 12 | Author and Writer", reference_style="hanging", abstract_size=8,
    ),
    Layout(
        "two columns, block paragraphs", columns=2, font="Helvetica", size=9, leading=11.5, indent=0, between=6,
        headings="bold", placed=False, justified=False, footer="www.things.example | Volume 12 | Article 34",
    ),
    Layout(
        "one column, small capitals", headings="small capitals", placed=False,
        header="A. Author and C. Writer | On Things", reference_style="hanging", abstract="inline",
        footnote="a Present address: elsewhere.",
    ),
    Layout(
        "three columns", columns=3, gutter=14, margin=36, size=8.5, leading=10, headings="bold", abstract_size=9,
        table="ruled", abstract="unnamed", header="Things Weekly | 12 May 2011",
    ),
    Layout(
        "two columns, italic headings", columns=2, headings="italic", font="Times", size=10, leading=12, between=2,
        abstract="heading", footer="Things 2011, 12 (3), e100", footnote="Received 1 May 2011; accepted 2 June 2011.",
    ),
)  # fmt: skip
