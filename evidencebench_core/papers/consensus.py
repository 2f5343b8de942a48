"""Two annotators of one paper: which of their aspects are the same, where they differ, and a consensus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import (
    Annotation,
    MarkedAspect,
    add_aspect,
    mark,
    remove_aspect,
    unmark,
)

CONSENSUS: Final = "consensus"
"""The annotator whose annotation two others agreed on."""


@dataclass(frozen=True, slots=True)
class AspectPair:
    """An aspect as each of two annotators has it; ``None`` where one does not."""

    a: MarkedAspect | None
    b: MarkedAspect | None

    @property
    def text(self) -> str:
        return (self.a or self.b or MarkedAspect("", "")).text

    @property
    def is_result(self) -> bool:
        """Whether either of them calls it a result."""
        return any(aspect is not None and aspect.is_result for aspect in (self.a, self.b))

    @property
    def marks(self) -> tuple[frozenset[int], frozenset[int]]:
        """The sentences that each marked for it."""
        of_a, of_b = (frozenset(aspect.sentences if aspect else ()) for aspect in (self.a, self.b))
        return of_a, of_b


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something that one annotator has and the other has not.

    Attributes
    ----------
    number : int
        Of the pair, from 1.
    sentence : int or None
        Marked for the aspect by one of them; ``None`` where one has no such aspect at all.
    by : str
        Who has it.
    """

    pair: AspectPair
    number: int
    sentence: int | None
    by: str

    @property
    def id(self) -> str:
        """Tells it from the others of its two annotations."""
        return f"{self.number}:{'' if self.sentence is None else self.sentence}"


def matched_aspects(a: Annotation, b: Annotation) -> tuple[AspectPair, ...]:
    """Aspects that say the same (case and white space apart), in the order of the first annotator.

    Then come those that only the second has. Of several that say the same, those of one id are matched.
    """
    if a.n_sentences != b.n_sentences:
        raise PaperError(
            f"annotations of {a.annotator} and {b.annotator}",
            f"were made on papers of {a.n_sentences} and {b.n_sentences} sentences",
            "Compare annotations of one paper.",
        )
    left = list(b.aspects)
    pairs = []
    for aspect in a.aspects:
        same = [other for other in left if _words(other) == _words(aspect)]
        same.sort(key=lambda other: other.id != aspect.id)
        if same:
            left.remove(same[0])
        pairs.append(AspectPair(aspect, same[0] if same else None))
    return (*pairs, *(AspectPair(None, other) for other in left))


def evidence_of(annotation: Annotation) -> frozenset[int]:
    """The sentences that cover any aspect."""
    return frozenset(index for aspect in annotation.aspects for index in aspect.sentences)


def disagreements(a: Annotation, b: Annotation) -> tuple[Disagreement, ...]:
    """The differences between the two: marks of the aspects of both, and whole aspects of one; by aspect, in order."""
    found = []
    for number, pair in enumerate(matched_aspects(a, b), start=1):
        if pair.a is None or pair.b is None:
            found.append(Disagreement(pair, number, None, b.annotator if pair.a is None else a.annotator))
            continue
        of_a, of_b = pair.marks
        found += [
            Disagreement(pair, number, index, a.annotator if index in of_a else b.annotator)
            for index in sorted(of_a ^ of_b)
        ]
    return tuple(found)


def first_consensus(a: Annotation, b: Annotation) -> Annotation:
    """Everything that either marked, for the two to decide from.

    EvidenceBench's guidelines (appendix B) end so as well: what two annotators cannot resolve, "one person
    says yes, and the other person says no", is included.
    """
    aspects = tuple(
        MarkedAspect(
            f"aspect_{number}", pair.text, pair.is_result, tuple(sorted(frozenset.union(*pair.marks)))
        )
        for number, pair in enumerate(matched_aspects(a, b))
    )
    return Annotation(CONSENSUS, a.hypothesis or b.hypothesis, a.n_sentences, aspects, len(aspects))


def is_in(consensus: Annotation, item: Disagreement) -> bool:
    """Whether the consensus has what only one of them had."""
    aspect = _aspect_like(consensus, item.pair)
    return aspect is not None and (item.sentence is None or item.sentence in aspect.sentences)


def with_decision(consensus: Annotation, item: Disagreement, keep: bool) -> Annotation:
    """The consensus with, or without, what only one of them had."""
    aspect = _aspect_like(consensus, item.pair)
    if not keep:
        if aspect is None:
            return consensus
        if item.sentence is None:
            return remove_aspect(consensus, aspect.id)
        return unmark(consensus, aspect.id, [item.sentence])
    if aspect is None:
        consensus = add_aspect(consensus, item.pair.text, item.pair.is_result)
        aspect = consensus.aspects[-1]
        of_a, of_b = item.pair.marks
        consensus = mark(consensus, aspect.id, of_a | of_b if item.sentence is None else of_a & of_b)
    return consensus if item.sentence is None else mark(consensus, aspect.id, [item.sentence])


def with_all_of(consensus: Annotation, items: Iterable[Disagreement], annotator: str) -> Annotation:
    """The consensus in which one annotator is right about all items."""
    for item in items:
        consensus = with_decision(consensus, item, keep=item.by == annotator)
    return consensus


def _aspect_like(annotation: Annotation, pair: AspectPair) -> MarkedAspect | None:
    wanted = _words(pair)
    return next((aspect for aspect in annotation.aspects if _words(aspect) == wanted), None)


def _words(aspect: MarkedAspect | AspectPair) -> str:
    return " ".join(aspect.text.split()).casefold()
