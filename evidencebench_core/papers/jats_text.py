"""The running text of an inline element of JATS: what stands there when it is printed in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidencebench_core.papers.xml_tree import Element

__all__ = ["flowing_text", "is_unread"]

# TeX beside MathML, notes, pictures, and what a paragraph holds and does not say.
_UNREAD: Final = frozenset({
    "tex-math", "annotation", "annotation-xml", "fn", "inline-graphic", "graphic", "media",
    "inline-supplementary-material", "alt-text", "long-desc", "disp-formula", "table-wrap", "fig",
    "index-term", "processing-meta",
})  # fmt: skip
_NOTE_MARKS: Final = frozenset({"fn", "table-fn", "author-notes", "corresp", "aff"})
_SPACED: Final = frozenset({"break", "hr", "p", "title", "mspace", "mtd", "mtr"})
_MATH: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msup", "msub", "msubsup", "msqrt", "mroot",
    "mfenced", "mover", "munder", "munderover", "mstyle", "mtable", "mtr", "mtd", "mpadded",
    "semantics",
})  # fmt: skip
_SPACED_SIGNS: Final = frozenset("=<>≤≥±+×≈∼~")


def flowing_text(element: Element) -> str:
    """Text of an element with all in it: emphasis and links without their marks, citations as printed.

    Superscripts and subscripts follow directly ("m2"), a fraction has its stroke, MathML goes before TeX.
    """
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    if element.tag == "mo":
        sign = element.text().strip()
        yield f" {sign} " if sign in _SPACED_SIGNS else sign
        return
    number = 0
    for node in element.children:
        if isinstance(node, str):
            yield node.strip() if element.tag in _MATH else node
        elif not is_unread(node):
            number += 1
            if number > 1 and element.tag == "alternatives":
                return
            if number > 1 and element.tag == "mfrac":
                yield "/"
            space = " " if node.tag in _SPACED else ""
            yield space
            yield from _pieces(node)
            yield space


def is_unread(node: Element) -> bool:
    """Whether nothing of an element is read out: a note's mark, a picture, TeX."""
    marks_note = node.tag == "xref" and node.attributes.get("ref-type") in _NOTE_MARKS
    return marks_note or node.tag in _UNREAD
