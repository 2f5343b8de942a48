"""Corrections by hand of what was recognised in a paper: title, abstract, and text that is not its own.

Spans of sentences have both ends included; ``PaperError`` where they are not in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import clean_text

BY_HAND: Final = "sentences taken out by hand"


def with_title(paper: Paper, title: str) -> Paper:
    """The paper under another title, which is its first sentence; an empty one takes the title away."""
    called = clean_text(title)
    had = _has_title(paper)
    sentences = ((called,) if called else ()) + paper.sentences[had:]
    heading: tuple[SentenceType, ...] = ("section_name",) if called else ()
    types = heading + paper.sentence_types[had:]
    notes = _without_note(paper, "title") if called else paper.notes
    boxes = paper.boxes[had:]
    if called and paper.boxes:
        boxes = (paper.boxes[0] if had else (), *boxes)
    return replace(paper, title=called, sentences=sentences, sentence_types=types, notes=notes, boxes=boxes)


def with_abstract(paper: Paper, first: int, last: int) -> Paper:
    """The paper whose abstract is the sentences ``first`` to ``last``, headings among them, and no others."""
    _check_span(paper, first, last)
    types: list[SentenceType] = [
        "normal_paragraph" if kind == "abstract" else kind for kind in paper.sentence_types
    ]
    begin = max(first, int(_has_title(paper)))
    types[begin : last + 1] = ["abstract"] * (last + 1 - begin)
    doubts = tuple(doubt for doubt in paper.doubts if doubt.kind != "abstract")
    notes = _without_note(paper, "abstract")
    return replace(paper, sentence_types=tuple(types), notes=notes, doubts=doubts)


def without_sentences(paper: Paper, first: int, last: int) -> Paper:
    """The paper without the sentences ``first`` to ``last``, which are counted in ``left_out``."""
    _check_span(paper, first, last)
    types = paper.sentence_types[:first] + paper.sentence_types[last + 1 :]
    if not {"abstract", "normal_paragraph"} & set(types):
        raise PaperError("the paper", "would have no text left", "Take out less.")
    n_before = paper.left_out.get(BY_HAND, 0)
    return replace(
        paper,
        title="" if first == 0 and _has_title(paper) else paper.title,
        sentences=paper.sentences[:first] + paper.sentences[last + 1 :],
        sentence_types=types,
        boxes=paper.boxes[:first] + paper.boxes[last + 1 :],
        left_out=MappingProxyType({**paper.left_out, BY_HAND: n_before + last - first + 1}),
    )


def _has_title(paper: Paper) -> bool:
    """Whether the first sentence is the title."""
    return bool(paper.title) and paper.sentences[:1] == (paper.title,)


def _check_span(paper: Paper, first: int, last: int) -> None:
    n_sentences = len(paper.sentences)
    if not 0 <= first <= last < n_sentences:
        raise PaperError(
            "the sentences",
            f"from {first} to {last} are not in the paper",
            f"Give two of 0 to {n_sentences - 1}, the smaller one first.",
        )


def _without_note(paper: Paper, about: str) -> tuple[str, ...]:
    return tuple(note for note in paper.notes if note != f"No {about} was recognised.")
