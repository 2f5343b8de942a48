"""Pages of a PDF as images, and highlighted: as a viewer shows them, within bounds, whatever the file is."""

from __future__ import annotations

import ctypes
import io
from pathlib import Path

import pypdfium2.raw as pdfium
import pytest
from PIL import Image
from pypdfium2 import PdfDocument

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Box, PageImage, highlighted_pdf, page_image, page_images
from evidencebench_core.papers.pdf import paper_of_pdf
from evidencebench_core.papers.pdf.rendering import MAX_PIXELS
from tests.papers.pdf.hostile import SENTENCE, paged, stream

pytestmark = pytest.mark.slow

PLACES = {  # the crop box begins at (20, 30) and is 400 by 600; text begins at (72, 50) from its upper left corner
    0: b"1 0 0 1 92 580",
    90: b"0 1 -1 0 70 102",
    180: b"-1 0 0 -1 348 80",
    270: b"0 -1 1 0 370 558",
}


def drawn(image: PageImage) -> Image.Image:
    return Image.open(io.BytesIO(image.webp)).convert("L")


def darkest(picture: Image.Image, box: Box, scale: float = 2.0) -> int:
    low, _ = picture.crop(tuple(int(scale * edge) for edge in box[1:])).getextrema()  # type: ignore[arg-type]
    return int(low)


def turned(turn: int) -> bytes:
    """Three sentences on a page that is cropped, and turned."""
    text = b"BT /F1 10 Tf %s Tm 40 TL " % PLACES[turn] + b"(%s) Tj T*" % SENTENCE.encode() * 3
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/CropBox[20 30 420 630]/Rotate %d/Contents 4 0 R"
    page += b"/Resources<</Font<</F1 5 0 R>>>>>>"
    return paged({3: page % turn, 4: stream(text + b" ET")})


@pytest.mark.parametrize("turn", PLACES)
def test_a_page_is_drawn_as_shown_and_its_sentences_stand_in_their_boxes(turn: int) -> None:
    content = turned(turn)
    image = page_image(content, 1)
    width, height = (400, 600) if turn in (0, 180) else (600, 400)
    assert (image.page, image.n_pages, image.width, image.height) == (1, 1, width, height)
    picture = drawn(image)
    assert picture.size == (2 * width, 2 * height)
    boxes = [box for boxes in paper_of_pdf(content, "").boxes for box in boxes]
    assert len(boxes) == 3
    for box in boxes:
        assert darkest(picture, box) < 100
        below = box._replace(y0=box.y0 + 15, y1=box.y1 + 15)  # between two lines
        assert darkest(picture, below) > 200
    parts = page_images(content, [(1, box), (1, below)])
    assert [part.width for part in parts] == pytest.approx([box.x1 - box.x0] * 2)
    assert [drawn(part).getextrema()[0] < 100 for part in parts] == [True, False]


@pytest.mark.parametrize("turn", PLACES)
def test_a_highlight_stands_where_its_sentence_does_and_nothing_else_changes(turn: int) -> None:
    content = turned(turn)
    (box,), _, (third,) = paper_of_pdf(content).boxes
    marked = highlighted_pdf(content, [([box], "1: größer ≥ 2\nWhy")])
    before, after = PdfDocument(content)[0], PdfDocument(marked)[0]
    assert before.get_textpage().get_text_bounded() == after.get_textpage().get_text_bounded()
    assert pdfium.FPDFPage_GetAnnotCount(after) == 1
    annotation = pdfium.FPDFPage_GetAnnot(after, 0)
    assert pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_HIGHLIGHT
    raw, frame = ctypes.create_string_buffer(99), pdfium.FS_RECTF()
    wide = ctypes.cast(raw, ctypes.POINTER(pdfium.FPDF_WCHAR))
    n_bytes = pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", wide, 99)
    assert raw.raw[: n_bytes - 2].decode("utf-16-le") == "1: größer ≥ 2\nWhy"
    pdfium.FPDFAnnot_GetRect(annotation, frame)
    a, b, c, d, e, f = map(float, PLACES[turn].split())  # of the first letter, which is shown at (72, 50)
    shown = [(x - 72, 50 - y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
    xs, ys = [a * x + c * y + e for x, y in shown], [b * x + d * y + f for x, y in shown]
    edges = [frame.left, frame.bottom, frame.right, frame.top]
    assert edges == pytest.approx([min(xs), min(ys), max(xs), max(ys)], abs=0.1)
    lit, plain = page_images(marked, [(1, box), (1, third)])
    assert drawn(lit).getextrema()[1] < 240 < drawn(plain).getextrema()[1]


def test_the_last_page_stands_for_those_beyond_and_large_ones_have_fewer_pixels() -> None:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %s]>>"
    pages = {3: page % b"600 800", 7: page % b"14400 14400", 8: page % b"1 14400"}
    content = paged({2: b"<</Type/Pages/Kids[3 0 R 7 0 R 8 0 R]/Count 3>>", **pages})
    sizes = [drawn(page_image(content, page, scale=3)).size for page in (0, 1, 2, 99)]
    assert sizes[:2] == [(1800, 2400)] * 2
    assert max(sizes[2]) ** 2 <= MAX_PIXELS * 1.01
    assert max(sizes[3]) <= 16_001
    assert page_image(content, 99).page == 3


def test_a_file_that_asks_for_a_password_says_so() -> None:
    content = (Path(__file__).parent / "encrypted" / "AES-256-secret.pdf").read_bytes()
    with pytest.raises(PaperError, match="asks for a password"):
        page_image(content, 1)
    with pytest.raises(PaperError, match="asks for a password"):
        highlighted_pdf(content, [])
