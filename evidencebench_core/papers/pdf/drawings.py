"""The drawings of a PDF's page beside its characters, through pdfium: horizontal rules, and how many pictures."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2.raw as pdfium

from evidencebench_core.papers.pdf.page import Counts, Rule

_MOST_OBJECTS: Final = 20_000
_MOST_RULES: Final = 5_000
_DEEPEST_FORM: Final = 8
_THIN: Final = 3.0
_SHORTEST: Final = 12.0


def rules_of(page: Any, x0: float, y0: float, counts: Counts) -> tuple[Rule, ...]:
    """The horizontal lines of paths, from the origin (x0, y0); counts pictures and pieces of text too."""
    rules: list[Rule] = []
    matrix = pdfium.FS_MATRIX(1, 0, 0, 1, -x0, -y0)
    for n, (kind, item, place) in enumerate(_objects(page, matrix, 0)):
        if n > _MOST_OBJECTS or len(rules) > _MOST_RULES:
            break
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            counts.pictures += 1
        elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
            counts.strings += 1
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            for start, end, y in _lines(item, place):
                left, right = start * place.a + place.e, end * place.a + place.e
                if right - left > _SHORTEST:
                    rules.append(Rule(left, right, y * place.d + place.f))
    return tuple(rules)


def _objects(holder: Any, place: Any, depth: int) -> Iterator[tuple[int, Any, Any]]:
    """Kind, handle and place of all objects of a page, those within forms too."""
    count = pdfium.FPDFFormObj_CountObjects if depth else pdfium.FPDFPage_CountObjects
    get = pdfium.FPDFFormObj_GetObject if depth else pdfium.FPDFPage_GetObject
    for i in range(count(holder)):
        item = get(holder, i)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            own = pdfium.FS_MATRIX()
            if depth < _DEEPEST_FORM and pdfium.FPDFPageObj_GetMatrix(item, own):
                e, f = own.e * place.a + place.e, own.f * place.d + place.f
                inner = pdfium.FS_MATRIX(own.a * place.a, 0, 0, own.d * place.d, e, f)
                yield from _objects(item, inner, depth + 1)
        else:
            yield kind, item, place


def _lines(path: Any, place: Any) -> Iterator[tuple[float, float, float]]:
    """Left, right and height of what a path draws flat, in its own space."""
    corners = [ctypes.c_float() for _ in range(4)]
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if not (fill.value or stroke.value) or not pdfium.FPDFPageObj_GetBounds(path, *corners):
        return
    x0, y0, x1, y1 = (corner.value for corner in corners)
    if (x1 - x0) * place.a <= _SHORTEST:
        return
    if (y1 - y0) * abs(place.d) <= _THIN:
        yield x0, x1, (y0 + y1) / 2
        return
    own = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, own)
    x, y = ctypes.c_float(), ctypes.c_float()
    before: tuple[float, float] | None = None
    for i in range(min(pdfium.FPDFPath_CountSegments(path), _MOST_RULES)):
        segment = pdfium.FPDFPath_GetPathSegment(path, i)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (x.value * own.a + own.e, y.value * own.d + own.f)
        drawn = pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_LINETO
        if drawn and before is not None and abs(point[1] - before[1]) * abs(place.d) < 1.0:
            yield min(before[0], point[0]), max(before[0], point[0]), point[1]
        before = point
