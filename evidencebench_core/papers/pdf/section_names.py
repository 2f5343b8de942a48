"""What headings say: the class of a section, the list of references, back matter."""

from __future__ import annotations

import re
from typing import Final

from evidencebench_core.data.section_class import SectionClass, class_of_heading

__all__ = [
    "CAPTION_LABEL",
    "begins_beside_text",
    "heading_class",
    "is_back_matter",
    "is_caption",
    "is_references",
]

_REFERENCES: Final = re.compile(
    r"(?:\d+[.)]?\s+)?(?:list of )?(?:references?|bibliography|literature(?: cited)?|works cited|cited literature)"
    r"(?:\s+(?:and|&)\s+(?:recommended reading|notes)|\s+list)?\s*[.:]?",
    re.IGNORECASE,
)
_BACK_MATTER: Final = re.compile(
    r"(?:\W|\d+\.?\s)*(?:acknowledge?ments?|funding|financial support|(?:grant|financial) (?:support|disclosure)|"
    r"(?:potential |disclosure of potential |declaration of |disclosure of )?(?:conflicts?|competing|declarations?)"
    r"(?: of)?(?: interests?)?|declaration of interests?|disclosures?|(?:authors?['’]?s?['’]? )?contributions?|"
    r"authors?['’] information|author details|abbreviations?(?: used)?|pre-publication history|"
    r"(?:data )?availability(?: of data)?(?: and materials?)?|data availability(?: statement)?|"
    r"(?:supplement\w*|supporting|additional|electronic supplementary) (?:materials?|data|information|files?)|"
    r"appendi(?:x|ces)(?: \w)?|footnotes?|notes?|figure legends?|legends? (?:to|of|for) \w+|tables?|"
    r"consent(?: for publication| to publish)?|publisher['’]s note|open access)\s*[.:]?",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"(?:key\s?-?words?\b|index terms|mesh terms|subject (?:terms|headings)|abbreviations?\s*(?:[:.—–-]|used\b|$)|"
    r"(?:jel|pacs)\b|(?:article|trial) (?:history|info|registration)|©|doi\b|https?:)",
    re.IGNORECASE,
)

CAPTION_LABEL: Final = re.compile(
    r"(?:(?:supplementa(?:ry|l)|online|extended data|additional)\s+)?"
    r"(?:(?P<tables>table|tab\.|box)|(?P<figures>figure|fig\.?|scheme|chart|plate|graph))"
    r"\s*(?:[se]?\d+[a-z]?|[ivx]+)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)


def begins_beside_text(text: str) -> bool:
    """Whether a paragraph holds key words, abbreviations or the like."""
    return _BESIDE.match(text) is not None


def heading_class(text: str) -> SectionClass | None:
    """The class of a heading, also of one with a letter or Roman number before it, or set with wide spaces."""
    known = class_of_heading(text)
    if known is None:
        known = class_of_heading(re.sub(r"^(?:[A-H][.)]?|[IVX]+[.)]?|■|\W+)\s+", "", text))
    return known


def is_references(text: str) -> bool:
    """Whether a heading begins the list of references."""
    together = re.sub(r"\s", "", text) if re.fullmatch(r"(?:\S\s?){3,12}", text) and text.isupper() else text
    return bool(_REFERENCES.fullmatch(text.strip()) or _REFERENCES.fullmatch(together))


def is_back_matter(text: str) -> bool:
    """Whether a heading begins acknowledgements, funding, supplements or the like."""
    return _BACK_MATTER.fullmatch(text.strip()) is not None


def is_caption(text: str) -> bool:
    """Whether a line begins like a caption, "Table 1" or "Fig. 2"."""
    return CAPTION_LABEL.match(text) is not None
