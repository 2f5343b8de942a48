"""Corrections by hand of what was recognised in a paper: title, abstract, and text that is not its own."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import clean_text

BY_HAND: Final = "sentences taken out by hand"


def retitled(paper: Paper, title: str) -> Paper:
    """The paper under another title, which is its first sentence; an empty one takes the title away."""
    called = clean_text(title)
    had = bool(paper.title) and paper.sentences[:1] == (paper.title,)
    sentences = ((called,) if called else ()) + paper.sentences[had:]
    heading: tuple[SentenceType, ...] = ("section_name",) if called else ()
    types = heading + paper.sentence_types[had:]
    notes = _without_note(paper, "title") if called else paper.notes
    boxes = paper.boxes[had:]
    if called and paper.boxes:
        boxes = (paper.boxes[0] if had else (), *boxes)
    return replace(paper, title=called, sentences=sentences, sentence_types=types, notes=notes, boxes=boxes)


def with_abstract(paper: Paper, first: int, last: int) -> Paper:
    """The paper whose abstract is the sentences ``first`` to ``last`` (both included), and no others.

    Headings among them become labels of the abstract; the title stays. ``PaperError`` where there are no
    such sentences.
    """
    _check_span(paper, first, last)
    types: list[SentenceType] = []
    for index, (sentence, kind) in enumerate(zip(paper.sentences, paper.sentence_types, strict=True)):
        if index == 0 and paper.title and sentence == paper.title:
            types.append("section_name")
        elif first <= index <= last:
            types.append("abstract")
        else:
            types.append("normal_paragraph" if kind == "abstract" else kind)
    doubts = tuple(doubt for doubt in paper.doubts if doubt.kind != "abstract")
    notes = _without_note(paper, "abstract")
    return replace(paper, sentence_types=tuple(types), notes=notes, doubts=doubts)


def without_sentences(paper: Paper, first: int, last: int) -> Paper:
    """The paper without the sentences ``first`` to ``last`` (both included), which are counted in ``left_out``.

    ``PaperError`` where there are no such sentences, or nothing to read would be left.
    """
    _check_span(paper, first, last)
    types = paper.sentence_types[:first] + paper.sentence_types[last + 1 :]
    if not {"abstract", "normal_paragraph"} & set(types):
        raise PaperError("the paper", "would have no text left", "Take out less.")
    n_before = paper.left_out.get(BY_HAND, 0)
    return replace(
        paper,
        title="" if first == 0 and paper.title == paper.sentences[0] else paper.title,
        sentences=paper.sentences[:first] + paper.sentences[last + 1 :],
        sentence_types=types,
        boxes=paper.boxes[:first] + paper.boxes[last + 1 :],
        left_out=MappingProxyType({**paper.left_out, BY_HAND: n_before + last - first + 1}),
    )


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
