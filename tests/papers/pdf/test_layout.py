"""What stands beside, between and below the running text: small print, addresses, tables, figures."""

import io
from collections.abc import Sequence
from itertools import product

import pytest
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from evidencebench_core.papers import Paper
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import gold_of
from tests.papers.rendering import of_type

GOLD = gold_of("pdf_two_columns")
ABSTRACT = [text for text, kind in zip(GOLD.sentences, GOLD.types, strict=True) if kind == "abstract"]
TEXT = [text for text, kind in zip(GOLD.sentences, GOLD.types, strict=True) if kind == "normal_paragraph"]
PROSE = " ".join(TEXT)[:3000]
SMALL_PRINT = (
    "1Department of Medicine, University of Somewhere Correspondence to Dr Ann Author, Some Street 5, Sometown; "
    "a.author@example.org This paper is freely available online under the unlocked scheme, see http://example.org"
)
# Left edge, top, width, size, text; bold if the size is below 0.
Piece = tuple[float, float, float, float, str]


def read(*pages: Sequence[Piece], rules: Sequence[float] = ()) -> Paper:
    """The paper in pages of pieces of text, with rules in the right column of the first page."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(595, 842))
    for y in rules:
        canvas.line(340, y, 550, y)
    for pieces in pages:
        for x, y, width, size, text in pieces:
            font = "Times-Bold" if size < 0 else "Times-Roman"
            for number, line in enumerate(simpleSplit(text, font, abs(size), width), 1):
                canvas.setFont(font, abs(size))
                canvas.drawString(x, y - 1.2 * abs(size) * number, line)
        canvas.showPage()
    canvas.save()
    return paper_of_pdf(target.getvalue())


BODY = (37.0, 400.0, 520.0, 10.0, PROSE)
TITLE = (37.0, 800.0, 520.0, -16.0, GOLD.article.title)
FRONTS: dict[str, list[Piece]] = {
    "addresses left of the abstract": [
        (37, 700, 100, 6.5, SMALL_PRINT), (150, 700, 300, -9, "ABSTRACT"), (150, 688, 380, 9, " ".join(ABSTRACT)),
    ],
    "addresses right of it": [
        (37, 700, 300, -9, "Summary"), (37, 688, 400, 8.5, " ".join(ABSTRACT)), (450, 720, 90, 6.5, SMALL_PRINT),
    ],
    "key points right of it": [
        (37, 700, 300, -9, "Abstract"), (37, 688, 330, 9, " ".join(ABSTRACT)), (405, 700, 150, -9, "Key Points"),
        (405, 686, 150, 8, "Question Does amber glass bring sleep forward? Findings In this trial it did."),
        (400, 600, 160, 7, SMALL_PRINT),
    ],
    "addresses between heading and text": [
        (37, 700, 200, -12, "Abstract"), (330, 696, 200, -11, "ann@example.org"), (37, 660, 243, 9, " ".join(ABSTRACT)),
        (330, 672, 200, -11, "carl.writer@things.example.edu"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FRONTS)
def test_small_print_and_addresses_are_told_from_the_abstract(name: str) -> None:
    paper = read([TITLE, *FRONTS[name], (37, 415, 300, -10, "Introduction"), BODY])
    assert of_type(paper, "abstract") == ABSTRACT
    assert of_type(paper, "section_name") == [GOLD.article.title, "Introduction"]
    assert of_type(paper, "normal_paragraph") == of_type(read([(*TITLE[:4], "A"), BODY]), "normal_paragraph")


def test_a_caption_wider_than_its_first_line_is_of_the_figure_and_kept() -> None:
    left, right = (37.0, 800.0, 250.0, 10.0, PROSE), (307.0, 800.0, 250.0, 10.0, PROSE[1000:2500])
    caption = [
        (37.0, 160.0, 200.0, -7.5, "Figure 2 Sleep by arm"),
        (60.0, 151.0, 480.0, 7.5, "(A) Nurses are shown as dots. Lines show the means of both arms. " * 2),
    ]  # fmt: skip
    paper = read([left, right], [(*left[:4], PROSE[:2000]), (*right[:4], PROSE[:1500]), *caption])
    assert not any("dots" in text for text in paper.sentences)
    (figure,) = paper.floats
    assert (figure.label, figure.page) == ("Figure 2", 2)
    assert figure.caption.startswith("Sleep by arm (A) Nurses")
    assert figure.caption.endswith("both arms.")
    assert figure.box is not None
    assert figure.box.x1 > 540


def test_rows_of_a_ruled_table_above_its_caption_are_not_text() -> None:
    """They look like the running text, whose sentence goes on below the caption."""
    rows = [(360.0, 790.0 - 13 * n, 190.0, 10.0, f"With arm {n} 49.{n}") for n in range(4)]
    caption = (307.0, 720.0, 250.0, 10.0, "Table 3: Results of both arms.")
    text = [(37.0, 800.0, 250.0, 10.0, PROSE[:2600]), (307.0, 680.0, 250.0, 10.0, PROSE[2600:])]
    paper = read([*text, *rows, caption], rules=[792, 778, 736])
    assert " ".join(paper.sentences) == PROSE
    assert [(item.label, item.caption) for item in paper.floats] == [("Table 3", "Results of both arms.")]


@pytest.mark.parametrize("caption", ["Table 2 (continued)", "Table A: Estimates."])
def test_cells_of_a_page_with_a_table_alone_are_not_sentences(caption: str) -> None:
    places = product(range(4), range(9))
    cells = [(37.0 + 90 * n, 740.0 - 11 * row, 90.0, 9.0, f"p{n} = 0.{row}5") for n, row in places]
    paper = read([BODY], [(37, 770, 200, 9, caption), *cells], [BODY])
    assert not any("=" in text for text in paper.sentences if "p0" in text)
    assert [item.label for item in paper.floats] == (["Table A"] if "A" in caption else [])
