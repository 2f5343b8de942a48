"""Pages of a PDF file as images, and highlights in it; like `chars`, in the child of `papers.child` only."""

from __future__ import annotations

import ctypes
import io
import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Box, PageImage
from evidencebench_core.papers.pdf.chars import open_document

MAX_PIXELS: Final = 8_000_000  # of an image
_LONGEST: Final = 16_000  # pixels; what WebP can hold
_AUTHOR: Final = "EvidenceBench Explorer"
_COLOUR: Final = (184, 216, 234, 255)  # that of a pick, as light as a highlighter's
_PRINTED: Final = 4  # the flag of what is shown on paper, too


def drawn_pages(
    content: bytes, parts: Sequence[tuple[int, Box | None]], scale: float, place: str
) -> Iterator[PageImage]:
    """Pages, from 1, or what stands in a box of one, at so many pixels a point, fewer where it would be too large.

    Beyond the last page it is the last one. Nothing in the file is run, and fields of forms stay empty.
    """
    with open_document(content, place) as document:
        for page, box in parts:
            number = min(max(page, 1), len(document))
            try:
                handle = document[number - 1]
                width, height = handle.get_size()
                most = min(math.sqrt(MAX_PIXELS / (width * height)), _LONGEST / max(width, height))
                _, x0, y0, x1, y1 = box or (page, 0.0, 0.0, width, height)
                crop = tuple(max(edge, 0.0) for edge in (x0, height - y1, width - x1, y0))
                bitmap = handle.render(scale=min(scale, most), crop=crop, may_draw_forms=False)
            except (pypdfium2.PdfiumError, ZeroDivisionError, ValueError) as error:
                problem = f"has a page {number} that cannot be drawn"
                raise PaperError(place, problem, "Look at another page, or at the text.") from error
            stream = io.BytesIO()
            bitmap.to_pil().convert("RGB").save(stream, "WEBP", quality=80, method=2)
            size = (width - crop[0] - crop[2], height - crop[1] - crop[3])
            yield PageImage(number, len(document), *size, stream.getvalue())


def highlighted(content: bytes, marks: Sequence[tuple[Sequence[Box], str]], place: str) -> bytes:
    """The file with a highlight for each mark: its lines, all on one page, and its comment."""
    stream = io.BytesIO()
    with open_document(content, place) as document:
        page_at = cache(document.get_page)
        for boxes, comment in marks:
            _annotate(page_at(boxes[0][0] - 1), boxes, comment)
        document.save(stream)  # whole: what pdfium appends to a file of PDF 1.5, others cannot read
    return stream.getvalue()


def _annotate(page: pypdfium2.PdfPage, boxes: Sequence[Box], comment: str) -> None:
    annotation = pdfium.FPDFPage_CreateAnnot(page, pdfium.FPDF_ANNOT_HIGHLIGHT)
    pdfium.FPDFAnnot_SetColor(annotation, pdfium.FPDFANNOT_COLORTYPE_Color, *_COLOUR)
    pdfium.FPDFAnnot_SetFlags(annotation, _PRINTED)
    for key, text in ((b"T", _AUTHOR), (b"Contents", comment)):
        raw = ctypes.create_string_buffer(f"{text}\0".encode("utf-16-le", "replace"))
        pdfium.FPDFAnnot_SetStringValue(annotation, key, ctypes.cast(raw, pdfium.FPDF_WIDESTRING))
    width, height = (round(100 * size) for size in page.get_size())
    shown = pypdfium2.PdfPosConv(page, (0, 0, width, height, 0))  # hundredths of points, cropped and turned
    points: list[tuple[float, float]] = []
    for _, x0, y0, x1, y1 in boxes:
        edges = [(x, y) for y in (y0, y1) for x in (x0, x1)]
        corners = [shown.to_page(round(100 * x), round(100 * y)) for x, y in edges]
        quad = pdfium.FS_QUADPOINTSF(*chain.from_iterable(corners))
        pdfium.FPDFAnnot_AppendAttachmentPoints(annotation, quad)
        points += corners
    xs, ys = zip(*points, strict=True)
    is_placed = pdfium.FPDFAnnot_SetRect(annotation, pdfium.FS_RECTF(min(xs), max(ys), max(xs), min(ys)))
    pdfium.FPDFPage_CloseAnnot(annotation)
    if not is_placed:
        raise pypdfium2.PdfiumError("The page takes no annotation.")
