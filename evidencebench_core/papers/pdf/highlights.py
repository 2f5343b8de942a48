"""Highlights in a PDF file; like `chars`, in the child of `papers.child` only."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from evidencebench_core.papers.paper import Box
from evidencebench_core.papers.pdf.chars import open_document

_AUTHOR: Final = "EvidenceBench Explorer"
_COLOUR: Final = (184, 216, 234, 255)  # that of a pick, as light as a highlighter's
_PRINTED: Final = 4  # the flag of what is shown on paper, too


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
