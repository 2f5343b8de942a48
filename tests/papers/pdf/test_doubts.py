"""Where the recovered text is doubtful, the paper says so; where it is not, it says nothing."""

from dataclasses import replace

import pytest

from evidencebench_core.papers import Doubt
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.hostile import SENTENCE, paged, stream
from tests.papers.pdf.layouts import LAYOUTS, Section
from tests.papers.pdf.typesetting import typeset

ARTICLE = gold_of("pdf_two_columns").article
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 5 0 R%s>>>>>>"


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_well_printed_paper_has_no_doubts(layout: object) -> None:
    assert paper_of_pdf(typeset(ARTICLE, layout)).doubts == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", ["(P 5 0.03)", "(p ¼ .03)", "(P , .05)", "of 61.2 6 10.4 years"])
def test_symbols_that_came_out_as_others(sign: str) -> None:
    text = f"The difference was large {sign} in all of the arms. Nothing else was seen."
    section = Section("Results", (text,))
    article = replace(ARTICLE, sections=(*ARTICLE.sections, section))
    (doubt,) = paper_of_pdf(typeset(article, LAYOUTS[1])).doubts
    assert doubt.section == "Results"


def test_characters_that_no_font_names() -> None:
    names = [b"/a%d" % i for i in range(32, 127)]
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 900 900]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 32/LastChar 126"
        b"/Widths[" + b"500 " * 95 + b"]/CharProcs<<" + b"".join(name + b" 7 0 R" for name in names) + b">>"
        b"/Encoding<</Type/Encoding/Differences[32 " + b"".join(names) + b"]>>>>"
    )  # fmt: skip
    text = (
        b"BT /F1 10 Tf 72 700 Td 14 TL " + b"(%s) Tj T* " % SENTENCE.encode() * 5
        + b"(We saw ) Tj /F2 10 Tf (p) Tj /F1 10 Tf ( of it.) Tj ET"
    )  # fmt: skip
    glyph = stream(b"500 0 0 0 450 700 d1 0 0 450 700 re f")
    paper = paper_of_pdf(paged({3: PAGE % (4, b"/F2 6 0 R"), 4: stream(text), 6: font, 7: glyph}))
    assert paper.sentences[-1] == "We saw \ufffd of it."
    (doubt,) = paper.doubts
    assert doubt.text.startswith("Characters that no font names are shown as \ufffd")


def test_a_page_that_is_mostly_left_out() -> None:
    """A page of text that is set sideways, beside one that is read."""
    sideways = b" ".join(b"0 1 -1 0 %d 60 Tm (%s) Tj" % (60 + 14 * n, SENTENCE.encode()) for n in range(20))
    upright = b" ".join(b"1 0 0 1 72 %d Tm (%s) Tj" % (700 - 14 * n, SENTENCE.encode()) for n in range(20))
    pages = {3: PAGE % (4, b""), 7: PAGE % (8, b""), 2: b"<</Type/Pages/Kids[3 0 R 7 0 R]/Count 2>>"}
    texts = {n: stream(b"BT /F1 10 Tf " + text + b" ET") for n, text in ((4, upright), (8, sideways))}
    (doubt,) = paper_of_pdf(paged({**pages, **texts})).doubts
    assert doubt == Doubt("", 2, "Most of page 2 is in no sentence: it is set sideways.")
