"""How well a paper that was read matches the paper that was printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evidencebench_core.papers.blocks import Block, paper_of_blocks
from evidencebench_core.papers.paper import Paper
from tests.papers.pdf.typesetting import Article

__all__ = ["Match", "boundaries", "match_of", "printed_paper"]


@dataclass(frozen=True)
class Match:
    """Shares from 0 to 1, and what was counted."""

    sentences: float
    precision: float
    recall: float
    headings: float
    headings_right: float
    abstract: bool
    title: bool
    missing: tuple[str, ...]
    wrong: tuple[str, ...]


def printed_paper(article: Article) -> Paper:
    """The paper as an importer without a fault would give it."""
    blocks = []
    for part in article.abstract:
        label = f"{part.heading}: " if part.heading else ""
        blocks.append(Block("abstract", label + " ".join(part.paragraphs)))
    for section in article.sections:
        if section.heading:
            blocks.append(Block("heading", section.heading))
        blocks += [Block("paragraph", paragraph) for paragraph in section.paragraphs]
    return paper_of_blocks(blocks, article.title, {}, (), "pdf")


def match_of(read: Paper, printed: Paper) -> Match:
    """Compare white space, case and numbers of headings aside.

    A boundary is known by the 12 characters before and after it, without white space.
    """
    got, wanted = Counter(_texts(read)), Counter(_texts(printed))
    found = got & wanted
    got_bounds, wanted_bounds = boundaries(read.sentences), boundaries(printed.sentences)
    right = (got_bounds & wanted_bounds).total()
    got_heads, wanted_heads = _headings(read), _headings(printed)
    heads = (got_heads & wanted_heads).total()
    return Match(
        sentences=found.total() / wanted.total(),
        precision=right / max(1, got_bounds.total()),
        recall=right / max(1, wanted_bounds.total()),
        headings=heads / max(1, wanted_heads.total()),
        headings_right=heads / max(1, got_heads.total()),
        abstract=_abstract(read) == _abstract(printed),
        title=_plain(read.title) == _plain(printed.title),
        missing=tuple((wanted - got).elements()),
        wrong=tuple((got - wanted).elements()),
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _heading(text: str) -> str:
    return "".join(c for c in text.lower().lstrip("0123456789. ") if c.isalnum())


def _texts(paper: Paper) -> Iterable[str]:
    for text, kind in zip(paper.sentences, paper.sentence_types, strict=True):
        yield f"# {_heading(text)}" if kind == "section_name" else _plain(text)


def _headings(paper: Paper) -> Counter[str]:
    kinds = zip(paper.sentences, paper.sentence_types, strict=True)
    return Counter(_heading(text) for text, kind in kinds if kind == "section_name" and text != paper.title)


def _abstract(paper: Paper) -> list[str]:
    kinds = zip(paper.sentences, paper.sentence_types, strict=True)
    joined = " ".join(_plain(text) for text, kind in kinds if kind == "abstract")
    return joined.split()


def boundaries(sentences: Sequence[str]) -> Counter[tuple[str, str]]:
    """Where one sentence ends and the next begins: the 12 characters before and after, without white space."""
    texts = ["".join(sentence.lower().lstrip("0123456789. ").split()) for sentence in sentences]
    return Counter((a[-12:], b[:12]) for a, b in pairwise(texts))
