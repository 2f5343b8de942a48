"""From headings and paragraphs, as plain text, Markdown and DOCX have them, to title, abstract and body.

These formats do not say what a heading is for, so it is told by its words: where the abstract begins and
ends, which headings within it are labels, which parts are references or other back matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.data.section_class import class_of_heading
from evidencebench_core.papers.draft import Block, clean_text

__all__ = ["Outline", "Part", "heading_opens", "is_label", "outlined"]

_FRONT_PARTS: Final = 25  # an abstract that begins later is no abstract
_FRONT_LENGTH: Final = 4000  # characters of authors and addresses
_LONGEST_TITLE: Final = 400

_REFERENCES: Final = re.compile(
    r"(?:references?|bibliography|literature cited|works cited|reference list|references and notes)",
    re.IGNORECASE,
)
_BACK_MATTER: Final = re.compile(
    r"(?:acknowledge?ments?|funding|funding sources?|funding information|financial (?:support|disclosures?)"
    r"|(?:potential |declaration of |disclosure of (?:potential )?)?(?:conflicts? of interests?|competing interests?)"
    r"|(?:conflict of interest|competing interests?) (?:statement|disclosure)|declarations?|declaration of interests?"
    r"|disclosures?|(?:authors?['’]? |author )?contributions?|authors['’] contributions|credit .* statement"
    r"|author (?:information|details|notes)|data availability(?: statement)?|availability of data(?: and materials?)?"
    r"|data sharing(?: statement)?|supplementary (?:materials?|information|data)|supporting information"
    r"|supplementary information|abbreviations|key ?words|footnotes|notes|publisher['’]s note"
    r"|(?:figure|table|figures?) (?:legends?|captions?)|electronic supplementary material)",
    re.IGNORECASE,
)
_LABELS: Final = re.compile(
    r"(?:study )?(?:design|population|setting|settings|participants|patients|subjects|interventions?|exposures?)"
    r"|(?:main |primary )?outcomes?(?: measures?| and measures)?|measurements?(?: and main results)?|main results"
    r"|data sources?|study selection|data (?:extraction|collection)(?: and synthesis)?|significance|impact"
    r"|interpretation|importance|relevance|limitations?|objectives?|aims?|purpose|context|hypothesis|question"
    r"|(?:trial )?registration|design and setting|setting and participants|design, setting,? and participants"
    r"|(?:main )?findings|principal findings|evidence|rationale|clinical relevance|conclusions? and relevance"
    r"|conclusions?/significance|methodology/principal findings",
    re.IGNORECASE,
)
_RUN_IN: Final = re.compile(r"(?:abstract|summary)\s*[:.—–-]\s*(?=\S)|ABSTRACT\s+(?=[A-Z])", re.IGNORECASE)
_KEYWORDS: Final = re.compile(r"key ?words?\s*[:—–]", re.IGNORECASE)
_CAPTION: Final = re.compile(
    r"(?:supplementary |supp?l?\. |extended data )?(?P<what>fig(?:ure)?s?\.?|table|scheme)\s+"
    r"[A-Z]?\.?(?:\d+|[IVX]+)[A-Za-z]?\s*[.:|–—]\s*\S",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.):]?|[IVX]+[.):])\s+")

Opening = Literal["abstract", "references", "back matter", "body"]


@dataclass(frozen=True, slots=True)
class Part:
    """A heading or a paragraph of an importer; ``level`` is 1 and up for headings, 0 where nobody knows it."""

    kind: Literal["heading", "text"]
    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """What `draft_paper` takes."""

    title: str
    blocks: tuple[Block, ...]
    left_out: Counter[str]


def heading_opens(heading: str) -> Opening:
    """What begins at a heading, by its words alone."""
    words = _NUMBER.sub("", heading).strip(" .:;-–—*")
    if _REFERENCES.fullmatch(words):
        return "references"
    if _BACK_MATTER.fullmatch(words):
        return "back matter"
    return "abstract" if class_of_heading(heading) == "abstract" else "body"


def is_label(heading: str) -> bool:
    """Whether a heading could be a label of a structured abstract ("Methods", "Main outcome measures:")."""
    words = heading.strip(" .:")
    return class_of_heading(heading) not in {None, "other"} or _LABELS.fullmatch(words) is not None


def outlined(parts: Sequence[Part], title: str = "") -> Outline:
    """Title, blocks and counts of a paper.

    Parameters
    ----------
    parts : sequence of Part
        In order; nothing left out but tables and pictures.
    title : str
        Where the format says it; else the first part is the title if it looks like one.
    """
    kept = [part for part in parts if clean_text(part.text)]
    reader = _Reader()
    if not title and kept and _is_title(kept):
        title, kept = kept[0].text, kept[1:]
    front = _front_matter(kept)
    reader.left_out["front matter"] += front
    for part in kept[front:]:
        (reader.heading if part.kind == "heading" else reader.text)(part)
    return Outline(clean_text(title), tuple(reader.blocks), reader.left_out)


def _is_title(parts: Sequence[Part]) -> bool:
    first = clean_text(parts[0].text)
    if heading_opens(first) != "body" or class_of_heading(first) or _RUN_IN.match(first):
        return False
    if parts[0].kind == "heading":
        return len(first) <= _LONGEST_TITLE
    follows = next((part for part in parts[1:_FRONT_PARTS] if part.kind == "heading"), None)
    return (
        len(first) <= _LONGEST_TITLE // 2
        and follows is not None
        and heading_opens(follows.text) == "abstract"
    )


def _front_matter(parts: Sequence[Part]) -> int:
    """How many parts stand above the abstract: authors and their addresses."""
    length = 0
    for index, part in enumerate(parts[:_FRONT_PARTS]):
        text = clean_text(part.text)
        is_heading = part.kind == "heading"
        if (is_heading and heading_opens(text) == "abstract") or (not is_heading and _RUN_IN.match(text)):
            return index
        if is_heading and class_of_heading(text) not in {None, "conclusion"}:
            return 0
        length += len(text)
        if length > _FRONT_LENGTH:
            return 0
    return 0


class _Reader:
    """Walks over the parts and remembers where it is."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self.where: Opening = "body"
        self.level = 0  # of the heading that opened where we are
        self.labels: set[str] = set()
        self.n_texts = 0  # in the abstract, before its first label

    def heading(self, part: Part) -> None:
        text = clean_text(part.text)
        opens = heading_opens(text)
        below = part.level > self.level > 0
        is_summary = text.strip(" .:").casefold() == "summary" and not self.blocks
        if opens == "abstract" or is_summary:
            self.enter("abstract", part.level)
            self.labels, self.n_texts = set(), 0
        elif self.where == "abstract" and self.is_label(text, below):
            self.labels.add(text.strip(" .:").casefold())
            self.blocks.append(Block("abstract", text))
        elif opens in {"references", "back matter"}:
            self.enter(opens, part.level)
            self.left_out["back matter"] += opens == "back matter"
        elif (
            self.where == "references" and not part.level and class_of_heading(text) in {None, "other"}
        ) or (self.where in {"references", "back matter"} and below):
            return  # a line of the references, or a heading below "Declarations"
        else:
            self.enter("body", part.level)
            self.blocks.append(Block("heading", text))

    def enter(self, where: Opening, level: int) -> None:
        self.where, self.level = where, level

    def is_label(self, text: str, below: bool) -> bool:
        """Whether a heading within the abstract is a label of it; the body begins at the first that is none."""
        name = text.strip(" .:").casefold()
        if below:
            return True
        opens_body = name.endswith("introduction") and (bool(self.labels) or self.n_texts > 0)
        begun = bool(self.labels) or not self.n_texts or text.endswith(":")
        return is_label(text) and begun and name not in self.labels and not opens_body

    def text(self, part: Part) -> None:
        text = clean_text(part.text)
        if self.where == "references":
            self.left_out["references"] += 1
        elif self.where == "back matter":
            return
        elif caption := _CAPTION.match(text):
            self.left_out["tables" if caption["what"].lower() == "table" else "figures"] += 1
        elif _KEYWORDS.match(text):
            self.left_out["back matter"] += 1
        elif self.where == "abstract":
            self.n_texts += 1
            self.blocks.append(Block("abstract", text))
        elif not self.blocks and (run_in := _RUN_IN.match(text)):
            self.blocks.append(Block("abstract", text[run_in.end() :]))
        else:
            self.blocks.append(Block("paragraph", text))
