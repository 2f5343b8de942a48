"""Whole papers: gold written by hand, scans, passwords, turned pages."""

import io
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import boundaries, gold_of
from tests.papers.pdf.hostile import SENTENCE, paged, stream
from tests.papers.pdf.layouts import LAYOUTS, Layout
from tests.papers.pdf.typesetting import typeset
from tests.papers.rendering import of_type

ENCRYPTED = Path(__file__).parent / "encrypted"


@pytest.mark.parametrize(
    ("text", "layout", "n_wrong"),
    [
        ("pdf_two_columns", LAYOUTS[1], 0),
        # One sentence is cut after the author's abbreviation "Th." of a species: 1 of 49 boundaries too many.
        ("pdf_one_column", LAYOUTS[3], 1),  # a manuscript
    ],
)
def test_sentences_written_by_hand_come_back(text: str, layout: Layout, n_wrong: int) -> None:
    gold = gold_of(text)
    paper = paper_of_pdf(typeset(gold.article, layout))
    read, written = boundaries(paper.sentences), boundaries(gold.sentences)
    assert (read - written).total() <= n_wrong
    assert (written - read).total() == 0
    # A word broken at a line's end that the paper has nowhere else may lose its hyphen ("apnoea-hypopnoea").
    pool = Counter(zip(gold.sentences, gold.types, strict=True))
    assert (pool - Counter(zip(paper.sentences, paper.sentence_types, strict=True))).total() <= 2
    headings = [text for text, kind in zip(gold.sentences, gold.types, strict=True) if kind == "section_name"]
    assert of_type(paper, "section_name") == headings
    assert [paper.left_out[name] for name in ("tables", "figures", "references")] == [1, 1, 25]
    assert (paper.kind, paper.notes) == ("pdf", ())


def scan(n_pictures: int, n_texts: int) -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(595, 842))
    for _ in range(n_pictures):
        canvas.drawImage(ImageReader(Image.new("L", (60, 80), 200)), 0, 0, 595, 842)
        canvas.showPage()
    for _ in range(n_texts):
        for i in range(20):
            canvas.drawString(72, 700 - 14 * i, SENTENCE)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def test_files_without_text_to_read() -> None:
    unnamed = b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[.001 0 0 .001 0 0]"
    unnamed += b"/CharProcs<</g1 6 0 R>>/Encoding<<>>>>"
    for content in (scan(3, 0), paged({4: stream(b"")}), paged({5: unnamed, 6: stream(b"")})):
        with pytest.raises(PaperError, match=r"x\.pdf has no text"):
            paper_of_pdf(content, "x.pdf")
    assert "Pages without text are left out: 1, 2." in paper_of_pdf(scan(2, 1)).notes


def test_encrypted_files_open_if_they_ask_for_no_password() -> None:
    """`paged()`, encrypted by pypdf 7.1."""
    assert paper_of_pdf((ENCRYPTED / "AES-256.pdf").read_bytes()).sentences == (SENTENCE,) * 6
    with pytest.raises(PaperError, match="is encrypted and asks for a password"):
        paper_of_pdf((ENCRYPTED / "AES-256-secret.pdf").read_bytes())


def test_the_title_of_the_file_is_believed_if_it_is_printed() -> None:
    body = b" ".join(b"(%s) Tj T*" % SENTENCE.encode() for _ in range(9))
    text = b"BT /F1 10 Tf 72 700 Td 14 TL (On the growth of things) Tj T* T* %s ET" % body
    information = {7: b"<</Title(On the Growth of Things)>>", 4: stream(text)}
    assert paper_of_pdf(paged(information, b"/Info 7 0 R")).title == "On the growth of things"
    information[7] = b"<</Title(paper-final2.docx)>>"
    assert paper_of_pdf(paged(information, b"/Info 7 0 R")).title == ""
