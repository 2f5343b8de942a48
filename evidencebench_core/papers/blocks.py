"""From what an importer recognised (headings, abstract, paragraphs) to a `Paper`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import MAX_CHARACTERS, MAX_SENTENCES
from evidencebench_core.papers.paper import Paper, PaperKind
from evidencebench_core.papers.sentences import sentences_of

BlockKind = Literal["heading", "abstract", "paragraph"]

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


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a paper: a heading is one sentence, a label of a structured abstract is a block of its own."""

    kind: BlockKind
    text: str  # as printed; `paper_of_blocks` tidies it
    level: int = 0  # of a heading, from 1; 0 where nobody knows it


def clean_text(text: str) -> str:
    """Text for a candidate pool: white space is one space each, what cannot be seen or shown is gone."""
    return " ".join(_BROKEN.sub("\ufffd", _UNSEEN.sub("", text)).split())


@dataclass(slots=True)
class RawPaper:
    """What an importer recognised in a file, before it is split into sentences."""

    blocks: list[Block]
    title: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    paper_id: str = ""
    licence: str = ""
    has_parts: bool = False  # the file says what is abstract and what is no part of the text


def paper_of_blocks(raw: RawPaper, kind: PaperKind) -> Paper:
    """Split the blocks into sentences and make the `Paper`; `PaperError` without text beside headings, or too much.

    A first heading that repeats the title is left out, so is a block without anything to read. A paper without an id
    gets one made from its text: the same text has the same id.
    """
    title = clean_text(raw.title)
    sentences: list[str] = [title] if title else []
    types: list[SentenceType] = ["section_name"] if title else []
    n_characters = 0
    for number, block in enumerate(raw.blocks):
        text = clean_text(block.text)
        repeats = number == 0 and text.casefold().rstrip(" .") == title.casefold().rstrip(" .")
        if not any(map(str.isalnum, text)) or (repeats and block.kind == "heading"):
            continue
        n_characters += len(text)
        if n_characters > MAX_CHARACTERS:
            raise _too_long(f"{MAX_CHARACTERS:,} characters")
        of_block = [text] if block.kind == "heading" else sentences_of(text)
        sentences += of_block
        types += [_TYPE_OF[block.kind]] * len(of_block)
        if len(sentences) > MAX_SENTENCES:
            raise _too_long(f"{MAX_SENTENCES:,} sentences")
    if set(types) <= {"section_name"}:
        problem = "has no text to look for evidence in"
        raise PaperError("the paper", problem, "Give the full text, or paste it as text.")
    missing = [] if title else ["No title was recognised."]
    missing += [] if "abstract" in types else ["No abstract was recognised."]
    digest = hashlib.sha256("\n".join(sentences).encode()).hexdigest()
    return Paper(
        paper_id=clean_text(raw.paper_id) or f"paper_{digest[:12]}",
        title=title,
        sentences=tuple(sentences),
        sentence_types=tuple(types),
        kind=kind,
        left_out=MappingProxyType({name: n for name, n in raw.left_out.items() if n}),
        notes=tuple(dict.fromkeys([*raw.notes, *missing])),
        licence=raw.licence,
    )


def _too_long(bound: str) -> PaperError:
    remedy = "Give one paper; the longest of the benchmark has 794 sentences."
    return PaperError("the paper", f"has more than {bound}", remedy)
