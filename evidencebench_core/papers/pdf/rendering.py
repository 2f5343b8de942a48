"""A page of a PDF file as an image; like `chars`, in the child of `papers.child` only."""

from __future__ import annotations

import io
import math
from typing import Final

import pypdfium2

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import PageImage
from evidencebench_core.papers.pdf.chars import open_document

MAX_PIXELS: Final = 8_000_000  # of an image
_LONGEST: Final = 16_000  # pixels; what WebP can hold


def drawn_page(content: bytes, page: int, scale: float, place: str) -> PageImage:
    """A page, from 1, at so many pixels a point, fewer where it would be too large; the last one beyond the last.

    Nothing in the file is run, and fields of forms stay empty.
    """
    with open_document(content, place) as document:
        number = min(max(page, 1), len(document))
        try:
            handle = document[number - 1]
            width, height = handle.get_size()
            most = min(math.sqrt(MAX_PIXELS / (width * height)), _LONGEST / max(width, height))
            bitmap = handle.render(scale=min(scale, most), may_draw_forms=False)
        except (pypdfium2.PdfiumError, ZeroDivisionError) as error:
            problem = f"has a page {number} that cannot be drawn"
            raise PaperError(place, problem, "Look at another page, or at the text.") from error
        stream = io.BytesIO()
        bitmap.to_pil().convert("RGB").save(stream, "WEBP", quality=80, method=2)
        return PageImage(number, len(document), width, height, stream.getvalue())
