"""Articles out of the texts of the train set."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evidencebench_core.data.sections import part_of_heading
from tests.papers.pdf.typesetting import Article, Section

_PER_PARAGRAPH = 5


def article_of(raw: Mapping[str, Any]) -> Article:
    """An article with the sentences of an instance, in the characters that every font has."""
    pool: Sequence[str] = raw["paper_as_candidate_pool"]
    kinds: Sequence[str] = raw["sentence_types_in_candidate_pool"]
    first = next(i for i, kind in enumerate(kinds) if kind != "section_name")
    title = _printable(pool[0]) if kinds[0] == "section_name" else ""
    if not 4 <= len(title.split()) <= 40:
        title = "What was found of " + " ".join(_printable(raw["hypothesis"]).split()[:12])
    abstract: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for text, kind in list(zip(map(_printable, pool), kinds, strict=True))[first:]:
        if kind == "abstract":
            abstract.append(text)
        elif kind == "section_name":
            if len(text) > 3 and text[:1].isalpha() and len(text) < 90 and text.lower() != "abstract":
                sections.append((text.strip(" .:"), []))
        elif len(text.split()) > 3:
            if not sections:
                sections.append(("Introduction", []))
            sections[-1][1].append(text)
    kept = [
        (heading, texts) for heading, texts in sections if texts and part_of_heading(heading) != "back matter"
    ]
    return Article(
        title,
        (Section("", (" ".join(abstract),)),) if abstract else (),
        tuple(Section(heading, _paragraphs(texts)) for heading, texts in kept),
    )


def _paragraphs(texts: Sequence[str]) -> tuple[str, ...]:
    """Paragraphs that end as sentences do."""
    found: list[list[str]] = [[]]
    for text in texts:
        found[-1].append(text)
        if len(found[-1]) >= _PER_PARAGRAPH and text.endswith("."):
            found.append([])
    return tuple(" ".join(part) for part in found if part)


def _printable(text: str) -> str:
    text = text.replace("−", "-").replace("∼", "~").replace("\u2010", "-").replace("\u00ad", "")
    shown = text.encode("cp1252", "replace").decode("cp1252")
    return " ".join(re.sub(r"\?{2,}", "?", shown).split())
