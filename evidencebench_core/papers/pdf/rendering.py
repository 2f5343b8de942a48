"""Pages of a PDF file as images; like `chars`, in the child of `papers.child` only."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from typing import Final

import pypdfium2

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Box, PageImage
from evidencebench_core.papers.pdf.chars import open_document

MAX_PIXELS: Final = 8_000_000  # of an image
_LONGEST: Final = 16_000  # pixels; what WebP can hold


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
