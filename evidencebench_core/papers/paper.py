"""A reader's own paper, as a candidate pool like those of the benchmark.

The title is the first sentence, of type ``section_name``, once. The abstract has no heading above it; labels of its
parts ("Background", "Methods:") are sentences of type ``abstract`` where they stand alone. A heading is one
sentence, with its number. Tables, figures, display formulas, references, footnotes, back matter and supplements
are left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from evidencebench_core.data.model import EvidenceSet, Instance, SentenceType
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import PaperError

PaperKind = Literal["jats", "tei", "html", "pdf", "docx", "text", "markdown"]


class Box(NamedTuple):
    """Where a sentence, or the part of it on one line, is printed.

    ``page`` counts from 1. The edges are in PDF points (1/72 inch) from the upper left corner of the page as a
    viewer shows it: its crop box, turned as the file says; y grows downwards.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page of a PDF as a viewer shows it."""

    page: int  # from 1
    n_pages: int
    width: float  # in points, as the edges of a `Box`
    height: float
    webp: bytes


@dataclass(frozen=True, slots=True)
class Float:
    """A table or figure, which is not in the pool: what a sentence that cites it brings along."""

    label: str  # "Table 2", "Figure 1"; "" where none was recognised
    caption: str  # plain text without the label, cut after 2,000 characters
    page: int | None = None  # of a PDF, from 1
    box: Box | None = None  # of a PDF


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something about the recovered text that a reader should check against the printed paper."""

    section: str  # its heading; "" above the first one
    page: int | None  # from 1, where it concerns a page
    text: str  # one plain sentence

    @property
    def place(self) -> str:
        """Section and page, for a reader."""
        parts = [self.section, f"page {self.page}" if self.page else ""]
        return ", ".join(part for part in parts if part) or "before the first heading"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as a candidate pool."""

    paper_id: str  # what the file says ("PMC123"), else made from its text
    title: str  # "" where none was recognised
    sentences: tuple[str, ...]  # in the order of the paper, headings included; never empty
    sentence_types: tuple[SentenceType, ...]  # same length
    kind: PaperKind  # what it was read from
    left_out: Mapping[str, int]  # how many tables, figures, ... are not in the pool; only what was met
    notes: tuple[str, ...]  # sentences for a user, such as "No abstract was recognised."
    doubts: tuple[Doubt, ...] = ()  # of a PDF
    # For every sentence its lines on the pages, of a PDF; else empty. A sentence added by hand has none.
    boxes: tuple[tuple[Box, ...], ...] = ()
    licence: str = ""  # one of `licence.LICENCES`, as the file says it
    floats: tuple[Float, ...] = ()  # its tables and figures, in the order of the file

    @property
    def sections(self) -> tuple[str, ...]:
        """The section of every sentence, as in an `Instance`."""
        return section_titles(self.sentences, self.sentence_types)

    @property
    def pages(self) -> dict[int, int]:
        """The page on which a sentence begins, from 1, by sentence index; of a PDF, else empty."""
        return {index: boxes[0].page for index, boxes in enumerate(self.boxes) if boxes}

    def instance(self, hypothesis: str, instance_id: str | None = None) -> Instance:
        """The paper with a hypothesis and no gold; `PaperError` for a hypothesis without a word."""
        if not hypothesis.strip():
            raise PaperError("hypothesis", "is empty", "Write the hypothesis to look for in the paper.")
        return Instance(
            id=self.paper_id if instance_id is None else instance_id,
            hypothesis=hypothesis.strip(),
            paper_id=self.paper_id,
            sentences=self.sentences,
            sentence_types=self.sentence_types,
            sections=self.sections,
            evidence=EvidenceSet(len(self.sentences), aspects=(), optimal=0, results_optimal=None),
        )

    def as_dict(self) -> dict[str, Any]:
        """The paper as JSON has it; `from_dict` turns it back."""
        raw: dict[str, Any] = TypeAdapter(Paper).dump_python(self, mode="json")
        return raw

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Paper:
        """A paper that `as_dict` wrote, also after a way through JSON."""
        return TypeAdapter(cls).validate_python(raw)
