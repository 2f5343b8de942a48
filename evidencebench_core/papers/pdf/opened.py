"""A PDF file opened with care, and its pages."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.pdf.budget import REMEDY, Budget
from evidencebench_core.papers.pdf.interpreter import FontCache, Interpreter
from evidencebench_core.papers.pdf.matrix import Matrix, product
from evidencebench_core.papers.pdf.page import Page

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

__all__ = ["MOST_PAGES", "OpenedPdf", "opened_pdf"]

MOST_PAGES: Final = 200
"""More pages than any paper has; a proceedings volume or a book is no paper."""

_TURNS: Final[dict[int, Matrix]] = {
    0: (1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
    90: (0.0, -1.0, 1.0, 0.0, 0.0, 0.0),
    180: (-1.0, 0.0, 0.0, -1.0, 0.0, 0.0),
    270: (0.0, 1.0, -1.0, 0.0, 0.0, 0.0),
}
_LARGEST_PAGE: Final = 14_400.0  # points; ISO 32000-1, annex C


@dataclass(frozen=True, slots=True)
class OpenedPdf:
    """What was read of a file.

    Attributes
    ----------
    title : str
        Of the document information; often empty, or the name of a file.
    pages : tuple of Page
    """

    title: str
    pages: tuple[Page, ...]


def opened_pdf(content: bytes, place: str, limits: Limits, budget: Budget) -> OpenedPdf:
    """All pages of a file.

    Scripts, launch actions, attached files and forms are never looked at: only the page tree, content
    streams and fonts are.

    Raises
    ------
    PaperError
        If it is no PDF, needs a password, is broken beyond reading, or passes a limit.
    """
    from pypdf.errors import LimitReachedError, PyPdfError

    try:
        with _careful(limits):
            return _read(content, place, budget)
    except (LimitReachedError, MemoryError) as beyond:
        problem = f"asks for more work or memory than a paper needs ({beyond})"
        raise PaperError(place, problem, REMEDY) from beyond
    except RecursionError as deep:
        raise PaperError(place, "has objects in each other without end", REMEDY) from deep
    except PyPdfError as broken:
        raise PaperError(place, f"cannot be read as PDF ({broken})", REMEDY) from broken
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as broken:
        # pypdf meets what is in broken files with errors of all these kinds, too.
        raise PaperError(place, "cannot be read as PDF: its objects are broken", REMEDY) from broken


@contextmanager
def _careful(limits: Limits) -> Iterator[None]:
    """pypdf with our bounds, and without its remarks about what it mends."""
    from pypdf import apply_configuration

    most = limits.max_inflated
    remarks = logging.getLogger("pypdf")
    before = remarks.level
    remarks.setLevel(logging.CRITICAL + 1)
    try:
        with apply_configuration(
            maximum_declared_stream_length=limits.max_bytes,
            array_based_stream_maximum_output_length=most,
            zlib_maximum_output_length=most,
            lzw_maximum_output_length=most,
            run_length_maximum_output_length=most,
            stream_decoding_work_maximum_length=2 * most,
            page_tree_maximum_entries=100 * MOST_PAGES,
            disable_legacy_handling=True,
        ):
            yield
    finally:
        remarks.setLevel(before)


def _read(content: bytes, place: str, budget: Budget) -> OpenedPdf:
    reader = _unlocked(content, place)
    n_pages = len(reader.pages)
    if not n_pages:
        raise PaperError(place, "has no pages", REMEDY)
    if n_pages > MOST_PAGES:
        raise PaperError(
            place,
            f"has {n_pages:,} pages, and at most {MOST_PAGES} are read",
            "Give one paper alone: print its pages to a new PDF.",
        )
    fonts: FontCache = {}
    pages = []
    for number, page in enumerate(reader.pages):
        budget.spend(0)
        pages.append(_page(page, number, fonts, budget))
    information = reader.metadata
    title = information.title if information is not None else None
    return OpenedPdf(str(title or "").strip(), tuple(pages))


def _unlocked(content: bytes, place: str) -> PdfReader:
    """The reader; a file that is encrypted opens if it asks for no password to be read."""
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(io.BytesIO(content), strict=False)
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
    except (DependencyError, NotImplementedError) as missing:
        raise PaperError(
            place,
            "is encrypted in a way that cannot be read here",
            "Install the package cryptography, or print the paper to a new PDF.",
        ) from missing
    if locked:
        raise PaperError(
            place,
            "is encrypted and asks for a password",
            "Open it with its password and print it to a new PDF without one.",
        )
    return reader


def _page(page: PageObject, number: int, fonts: FontCache, budget: Budget) -> Page:
    box = [float(n) for n in page.cropbox]
    x0, x1 = sorted((box[0], box[2]))
    y0, y1 = sorted((box[1], box[3]))
    width, height = min(x1 - x0, _LARGEST_PAGE), min(y1 - y0, _LARGEST_PAGE)
    turned = page.rotation % 360
    base = product((1.0, 0.0, 0.0, 1.0, -x0, -y0), _TURNS.get(turned, _TURNS[0]))
    if turned in (90, 180):
        base = product(base, (1.0, 0.0, 0.0, 1.0, 0.0, width if turned == 90 else height))
    if turned in (180, 270):
        base = product(base, (1.0, 0.0, 0.0, 1.0, width if turned == 180 else height, 0.0))
    if turned in (90, 270):
        width, height = height, width
    interpreter = Interpreter(base, fonts, budget.spend)
    contents: Any = page.get_contents()
    if contents is not None:
        resources = page.get("/Resources")
        interpreter.run(contents.get_data(), resources.get_object() if resources is not None else {})
    words = tuple(
        word
        for word in interpreter.words
        if word.x0 >= -1 and word.x1 <= width + 1 and -1 <= word.y <= height + 1 and word.size > 1
    )
    return Page(number, width, height, words, tuple(interpreter.drawing.rules), interpreter.counts)
