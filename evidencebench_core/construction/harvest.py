"""S1, harvest: the citations of a review from which an instance can be made (construction rules 4, 5 and 92)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evidencebench_core.construction.funnel import DropReason
from evidencebench_core.papers.citations import CitingArticle, CitingParagraph, Reference


@dataclass(frozen=True, slots=True)
class Citation:
    """One paper cited by one sentence of a review."""

    id: str
    review_id: str
    review_title: str
    review_doi: str
    review_licence: str
    section: tuple[str, ...]
    paragraph: tuple[str, ...]  # sentences
    citing: int  # which of them, from 0
    context_before: str  # the paragraph before, of the same section
    context_after: str
    reference: Reference

    def as_dict(self) -> dict[str, Any]:
        """A line of input: ``paper`` is what the cited paper can be fetched by."""
        return {
            "id": self.id,
            "paper": self.reference.paper,
            "title": self.reference.title,
            "review": {
                "id": self.review_id,
                "title": self.review_title,
                "doi": self.review_doi,
                "licence": self.review_licence,
            },
            "section": list(self.section),
            "paragraph": list(self.paragraph),
            "citing": self.citing,
            "context_before": self.context_before,
            "context_after": self.context_after,
        }


@dataclass(frozen=True, slots=True)
class Harvest:
    """The citations of a review that are left, and how many were not, by reason."""

    citations: tuple[Citation, ...]
    dropped: dict[DropReason, int]
    skipped: dict[str, int]

    @property
    def n_in(self) -> int:
        return len(self.citations) + sum(self.dropped.values())


def harvest(review: CitingArticle) -> Harvest:
    """Keep the citations that stand alone in their sentence, of papers cited once in their section.

    A citation is one reference in one sentence. One without PMC id, PMID and DOI cannot be fetched, and is dropped.
    """
    papers: dict[str, str] = {}  # by reference the first that shares an id with it
    known: dict[str, str] = {}
    for name, of in review.references.items():
        ids = [one.casefold() for one in (of.pmcid, of.pmid, of.doi) if one]
        papers[name] = next((known[one] for one in ids if one in known), name)
        known |= dict.fromkeys(ids, papers[name])
    sentences = Counter(
        (paragraph.section_number, papers[one])
        for paragraph in review.paragraphs
        for cited in paragraph.cited
        for one in cited
    )
    kept: list[Citation] = []
    dropped: Counter[DropReason] = Counter()
    for place, index, one in _citations(review):
        paragraph = review.paragraphs[place]
        if len(paragraph.cited[index]) > 1:
            dropped["multi_citation"] += 1
        elif sentences[paragraph.section_number, papers[one]] > 1:
            dropped["cited_twice"] += 1
        elif not (cited := review.references[one]).paper or cited.is_same_paper(review.own):
            dropped["unresolvable"] += 1  # nothing to fetch it by, or the review itself
        else:
            kept.append(_citation(review, place, index, cited))
    return Harvest(tuple(kept), dict(sorted(dropped.items())), dict(review.skipped))


def _citations(review: CitingArticle) -> Iterator[tuple[int, int, str]]:
    for place, paragraph in enumerate(review.paragraphs):
        for index, cited in enumerate(paragraph.cited):
            for one in cited:
                yield place, index, one


def _citation(review: CitingArticle, place: int, index: int, reference: Reference) -> Citation:
    paragraph = review.paragraphs[place]
    identity = "\n".join((review.id, reference.id, *paragraph.sentences))
    return Citation(
        hashlib.sha256(identity.encode()).hexdigest()[:16],
        review.id,
        review.title,
        review.own.doi,
        review.licence,
        paragraph.section,
        paragraph.sentences,
        index,
        _neighbour(review, paragraph, place - 1),
        _neighbour(review, paragraph, place + 1),
        reference,
    )


def _neighbour(review: CitingArticle, paragraph: CitingParagraph, place: int) -> str:
    if not 0 <= place < len(review.paragraphs):
        return ""
    other = review.paragraphs[place]
    return " ".join(other.sentences) if other.section_number == paragraph.section_number else ""
