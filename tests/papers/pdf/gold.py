"""Papers whose sentences were written one to a line, by hand."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from evidencebench_core.data.model import SentenceType
from tests.papers.pdf.layouts import Article, Section

FOLDER = Path(__file__).parent.parent / "gold"
_RUN_IN = re.compile(r"\*\*(.+?)\*\*\s*")


@dataclass(frozen=True)
class Gold:
    """An article and the pool it should become."""

    article: Article
    sentences: tuple[str, ...]
    types: tuple[SentenceType, ...]


def gold_of(name: str) -> Gold:
    """The article of a file in ``tests/papers/gold``."""
    title, abstract = "", []
    sections: list[tuple[str, list[list[str]]]] = []
    pool: list[tuple[str, SentenceType]] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "=":
            title = text
            pool.append((text, "section_name"))
        elif mark == "A":
            abstract.append(text)
            pool.append((_printed(text), "abstract"))
        elif mark == "#":
            sections.append((text, [[]]))
            pool.append((text, "section_name"))
        elif mark == "-":
            sections[-1][1][-1].append(text)
            run_in = _RUN_IN.match(text)
            if run_in:
                pool.append((run_in[1].rstrip("."), "section_name"))
                text = text[run_in.end() :]
            pool.append((_printed(text), "normal_paragraph"))
        elif not line and sections:
            sections[-1][1].append([])
    printed = []
    for heading, parts in sections:
        paragraphs = tuple(" ".join(part) for part in parts if part)
        printed.append(Section(heading, paragraphs, 2 if re.match(r"\d\.\d", heading) else 1))
    article = Article(title, (Section("", (" ".join(abstract),)),), tuple(printed))
    return Gold(article, tuple(text for text, _ in pool), tuple(kind for _, kind in pool))


def _printed(text: str) -> str:
    """A sentence as it is read: superscripts stand on the line."""
    return re.sub(r"\[\^([^\]]+)\]", r"\1", text)


def boundaries(sentences: Sequence[str]) -> Counter[tuple[str, str]]:
    """Where one sentence ends and the next begins: the 12 characters before and after, without white space."""
    texts = ["".join(sentence.lower().lstrip("0123456789. ").split()) for sentence in sentences]
    return Counter((a[-12:], b[:12]) for a, b in pairwise(texts))
