"""The blocks that the reader of a format gives, and the one way from them to a `Paper`.

Where a format does not say what a heading is for, its words tell: where the abstract begins and ends, which headings
within it are labels, which parts are references or other back matter.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Literal

from evidencebench_core.data.model import SentenceType
from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.data.sentences import sentences_of
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.headings import CAPTION, PaperPart, is_label, part_of_heading
from evidencebench_core.papers.paper import Box, Float, Paper, PaperKind

_MAX_SENTENCES: Final = 5000  # the longest paper of the benchmark has 794
_MAX_FLOATS: Final = 200
_MAX_CAPTION: Final = 2000  # characters
BlockKind = Literal["heading", "abstract", "paragraph"]
Places = tuple[tuple[int, Box], ...]
"""Where each word of a text begins in it, and where on the pages it is printed."""

_TYPE_OF: Final[Mapping[BlockKind, SentenceType]] = {
    "heading": "section_name",
    "abstract": "abstract",
    "paragraph": "normal_paragraph",
}
# Control characters, soft hyphens, byte order marks, and marks that turn the direction of all that follows.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff]"
)
_BROKEN: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")  # halves of characters; none has a meaning alone
_FRONT_BLOCKS: Final = 25  # an abstract that begins later is no abstract
_FRONT_LENGTH: Final = 4000  # characters of authors and addresses
_MAX_TITLE: Final = 400
_RUN_IN: Final = re.compile(r"(?:abstract|summary)\s*[:.—–-]\s*(?=\S)|ABSTRACT\s+(?=[A-Z])", re.IGNORECASE)
_KEYWORDS: Final = re.compile(r"key ?words?\s*[:—–]", re.IGNORECASE)
_STOP: Final = re.compile(r"\s*[.:|–—](?!\d)\s*\S")  # between a caption's number and its words


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a paper: a heading is one sentence, a label of a structured abstract is a block of its own."""

    kind: BlockKind
    text: str  # as printed; `paper_of_blocks` tidies it
    level: int = 0  # of a heading, from 1; 0 where nobody knows it
    places: Places = ()  # of a PDF

    def after(self, n: int) -> Block:
        """The block without its first characters."""
        places = tuple((start - n, box) for start, box in self.places)
        return replace(self, text=self.text[n:], places=places)

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """Where a part of its text is printed: one box for each line."""
        words = [box for offset, box in self.places if start <= offset < end]
        lines = [list(line) for _, line in groupby(words, key=lambda box: (box.page, box.y0, box.y1))]
        return tuple(
            line[0]._replace(x0=min(box.x0 for box in line), x1=max(box.x1 for box in line)) for line in lines
        )


@dataclass(slots=True)
class RawPaper:
    """What a reader recognised in a file, before it is split into sentences."""

    blocks: list[Block]
    title: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    paper_id: str = ""
    licence: str = ""
    floats: Sequence[Float] = ()
    title_places: Places = ()
    has_parts: bool = False  # the blocks are those of abstract and text alone


def clean_text(text: str) -> str:
    """Text for a candidate pool: white space is one space each, what cannot be seen or shown is gone."""
    return " ".join(_BROKEN.sub("\ufffd", _UNSEEN.sub("", text)).split())


def float_of(label: str, caption: str) -> Float:
    """A table or figure, called as sentences cite it: "Fig. 2" and "TABLE 2." are "Figure 2" and "Table 2"."""
    label, caption = clean_text(label), clean_text(caption)
    printed, in_caption = CAPTION.match(label), CAPTION.match(caption)
    name = _float_name(printed or in_caption) or label.rstrip(" .:")
    if in_caption and _float_name(in_caption) == name:
        caption = in_caption["rest"]
    return Float(name, caption.lstrip(" .:|–—")[:_MAX_CAPTION])


def _float_name(match: re.Match[str] | None) -> str:
    if match is None:
        return ""
    group = "tables" if match["tables"] else "figures"
    word = {"tab": "Table", "fig": "Figure"}.get(match[group][:3].casefold(), match[group].capitalize())
    number = match.string[match.end(group) : match.start("rest")].strip()
    return f"{match.string[: match.start(group)]}{word} {number}"


def paper_of_blocks(raw: RawPaper, kind: PaperKind) -> Paper:
    """Split the blocks into sentences and make the `Paper`; `PaperError` without text beside headings, or too much."""
    if not raw.has_parts:
        raw = with_parts(raw)
    title = Block("heading", clean_text(raw.title), places=raw.title_places)
    sentences: list[str] = []
    types: list[SentenceType] = []
    boxes: list[tuple[Box, ...]] = []
    for number, block in enumerate([title, *raw.blocks]):
        text = clean_text(block.text)
        repeats = number == 1 and text.casefold().rstrip(" .") == title.text.casefold().rstrip(" .")
        if not any(map(str.isalnum, text)) or (repeats and block.kind == "heading"):
            continue
        start = 0
        for sentence in [text] if block.kind == "heading" else sentences_of(text):
            sentences.append(sentence)
            types.append(_TYPE_OF[block.kind])
            boxes.append(block.boxes(start, start + len(sentence)))
            start += len(sentence) + 1
        if len(sentences) > _MAX_SENTENCES:
            remedy = "Give one paper; the longest of the benchmark has 794 sentences."
            raise PaperError("the paper", f"has more than {_MAX_SENTENCES:,} sentences", remedy)
    if set(types) <= {"section_name"}:
        problem = "has no text to look for evidence in"
        raise PaperError("the paper", problem, "Give the full text, or paste it as text.")
    missing = [] if title.text else ["No title was recognised."]
    missing += [] if "abstract" in types else ["No abstract was recognised."]
    missing += [] if "normal_paragraph" in types else ["The file has the abstract only, not the full text."]
    digest = hashlib.sha256("\n".join(sentences).encode()).hexdigest()
    return Paper(
        paper_id=clean_text(raw.paper_id) or f"paper_{digest[:12]}",
        title=title.text,
        sentences=tuple(sentences),
        sentence_types=tuple(types),
        kind=kind,
        left_out={name: n for name, n in raw.left_out.items() if n},
        notes=tuple(dict.fromkeys([*raw.notes, *missing])),
        boxes=tuple(boxes) if any(boxes) else (),
        licence=raw.licence,
        floats=tuple(each for each in raw.floats if each.label)[:_MAX_FLOATS],
    )


# -- the parts of a paper, by the words of its headings -------------------------------------------


def with_parts(raw: RawPaper) -> RawPaper:
    """The paper without front matter, references, captions and other back matter; these are counted."""
    blocks = [replace(block, text=text) for block in raw.blocks if (text := clean_text(block.text))]
    if not raw.title and blocks and _is_title(blocks):
        raw = replace(raw, title=blocks[0].text, title_places=blocks[0].places)
        blocks = blocks[1:]
    walk = _Walk()
    n_front = _front_matter(blocks)
    walk.left_out["front matter"] += n_front
    for block in blocks[n_front:]:
        if block.kind == "abstract":
            walk.part = "body"  # what a heading "Abstract" opened
            walk.blocks.append(block)
        elif block.kind == "heading":
            walk.pass_heading(block)
        else:
            walk.pass_text(block)
    left_out = walk.left_out + Counter(raw.left_out)
    floats = [*raw.floats, *walk.floats]
    return replace(raw, blocks=walk.blocks, left_out=left_out, floats=floats, has_parts=True)


def _is_title(blocks: Sequence[Block]) -> bool:
    first = blocks[0].text
    if part_of_heading(first) != "body" or class_of_heading(first) or _RUN_IN.match(first):
        return False
    if blocks[0].kind != "paragraph":
        return blocks[0].kind == "heading" and len(first) <= _MAX_TITLE
    heading = next((block.text for block in blocks[1:_FRONT_BLOCKS] if block.kind == "heading"), "")
    return len(first) <= _MAX_TITLE // 2 and part_of_heading(heading) == "abstract"


def _front_matter(blocks: Sequence[Block]) -> int:
    """How many blocks stand above the abstract: authors and their addresses."""
    length = 0
    for index, block in enumerate(blocks[:_FRONT_BLOCKS]):
        is_heading = block.kind == "heading"
        begins = part_of_heading(block.text) == "abstract" if is_heading else _RUN_IN.match(block.text)
        if begins or block.kind == "abstract":
            return index
        length += len(block.text)
        is_body = is_heading and class_of_heading(block.text) not in {None, "conclusion"}
        if is_body or length > _FRONT_LENGTH:
            return 0
    return 0


class _Walk:
    """A walk down the blocks of a paper."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self.floats: list[Float] = []
        self.part: PaperPart = "body"
        self.level = 0  # of the heading that opened the part
        self.has_results = False  # results or what follows them have begun
        self.labels: set[str] = set()  # in the abstract
        self.n_texts = 0

    def pass_heading(self, block: Block) -> None:
        name = block.text.strip(" .:").casefold()
        if part_of_heading(block.text) == "abstract" or (name == "summary" and not self.blocks):
            self.part, self.level = "abstract", block.level
            self.labels, self.n_texts = set(), 0
        elif self.part == "abstract" and (block.level > self.level > 0 or self._is_label(block.text, name)):
            self.labels.add(name)
            self.blocks.append(replace(block, kind="abstract"))
        elif self._opens_part(block):
            if self.part == "body":
                self.blocks.append(block)
            self.left_out["back matter"] += self.part == "back matter"

    def _is_label(self, text: str, name: str) -> bool:
        """Whether a heading within the abstract is a label of it; the body begins at the first that is none."""
        opens_body = name.endswith("introduction") and (bool(self.labels) or self.n_texts > 0)
        begun = bool(self.labels) or not self.n_texts or text.endswith(":")
        return is_label(text) and begun and name not in self.labels and not opens_body

    def _opens_part(self, block: Block) -> bool:
        """Whether a heading below the abstract opens something; lines of the references look like headings, too.

        Above the results any heading ends back matter, below them only a main one, unless levels say otherwise.
        """
        opens, main = part_of_heading(block.text), class_of_heading(block.text)
        if opens == "body" and self.part in ("references", "back matter"):
            is_minor = not block.level and main in (None, "other")
            if block.level > self.level > 0 or (is_minor and (self.part == "references" or self.has_results)):
                return False
        self.part, self.level = opens, block.level
        self.has_results = self.has_results or main in ("results", "discussion", "conclusion")
        return True

    def pass_text(self, block: Block) -> None:
        text = block.text
        if self.part == "references":
            self.left_out["references"] += 1
        elif self.part == "back matter":
            return
        elif (caption := CAPTION.match(text)) and _STOP.match(caption["rest"]):
            self.left_out["tables" if caption["tables"] else "figures"] += 1
            self.floats.append(float_of("", text))
        elif _KEYWORDS.match(text):
            self.left_out["back matter"] += 1
        elif self.part == "abstract":
            self.n_texts += 1
            self.blocks.append(replace(block, kind="abstract"))
        elif not self.blocks and (run_in := _RUN_IN.match(text)):
            self.blocks.append(replace(block.after(run_in.end()), kind="abstract"))
        else:
            self.blocks.append(block)
