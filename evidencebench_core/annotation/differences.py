"""Two annotations of one paper: which aspects are the same, where the two differ, and decisions on that.

A proposal of a model is decided by the same means as what two people mark differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evidencebench_core.annotation.model import CONSENSUS, MODEL, Annotation, MarkedAspect
from evidencebench_core.errors import PaperError


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
class Difference:
    """Something that one annotator has and the other has not: a mark, or a whole aspect."""

    pair: AspectPair
    number: int  # of the pair, from 1
    sentence: int | None  # marked by one of them; None where one has no such aspect at all
    by: str  # who has it
    text: str  # what the aspect says there

    @property
    def id(self) -> str:
        """Tells it from the others of its two annotations."""
        return f"{self.number}:{'' if self.sentence is None else self.sentence}"

    @property
    def key(self) -> str:
        """The same whatever else the two annotations have: what a decision is kept under."""
        return f"{self.by}\t{_words(self.text)}\t{'' if self.sentence is None else self.sentence}"


def aspect_pairs(a: Annotation, b: Annotation) -> tuple[AspectPair, ...]:
    """Aspects that say the same (case and white space apart), in the order of the first annotator.

    Then come those that only the second has. Of several that say the same, those of one id are paired.
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
        same = [other for other in left if _texts(other) & _texts(aspect)]
        same.sort(key=lambda other: other.id != aspect.id)
        if same:
            left.remove(same[0])
        pairs.append(AspectPair(aspect, same[0] if same else None))
    return (*pairs, *(AspectPair(None, other) for other in left))


def aspect_groups(annotations: Sequence[Annotation]) -> list[dict[str, MarkedAspect]]:
    """Aspects that say the same, by annotator, in the order in which annotators have them."""
    first, *others = annotations
    groups = [{first.annotator: aspect} for aspect in first.aspects]
    for annotation in others:
        known = replace(first, aspects=tuple(next(iter(group.values())) for group in groups))
        for number, pair in enumerate(aspect_pairs(known, annotation)):
            if pair.a is None:
                groups.append({})
            if pair.b is not None:
                groups[number][annotation.annotator] = pair.b
    return groups


def differences(a: Annotation, b: Annotation) -> tuple[Difference, ...]:
    """Marks of the aspects of both, and whole aspects of one; by aspect, in order."""
    items = []
    for number, pair in enumerate(aspect_pairs(a, b), start=1):
        owner = b.annotator if pair.a is None else a.annotator
        if pair.a is None or pair.b is None:
            items.append(Difference(pair, number, None, owner, pair.text))
            continue
        of_a, of_b = pair.marks
        for index in sorted(of_a ^ of_b):
            by_a = index in of_a
            text = pair.a.text if by_a else pair.b.text
            items.append(Difference(pair, number, index, a.annotator if by_a else b.annotator, text))
    return tuple(items)


def first_consensus(a: Annotation, b: Annotation) -> Annotation:
    """Everything that either marked, for the two to decide from; what they decided on models' proposals counts.

    EvidenceBench's guidelines (appendix B) include what two annotators cannot resolve.
    """
    aspects = tuple(
        MarkedAspect(f"aspect_{n}", pair.text, pair.is_result, tuple(sorted(frozenset.union(*pair.marks))))
        for n, pair in enumerate(aspect_pairs(a, b))
    )
    return Annotation(
        CONSENSUS,
        a.hypothesis or b.hypothesis,
        a.n_sentences,
        aspects,
        len(aspects),
        frozenset(key for key in a.decisions | b.decisions if key.startswith(MODEL)),
        {"consensus_of": [a.annotator, b.annotator]},
    )


def proposals(annotation: Annotation, proposal: Annotation) -> tuple[Difference, ...]:
    """What a model proposes for an annotation, one by one: an aspect, then each of its marks.

    What the annotation has already is no proposal any more; decided or not, the rest is listed.
    """
    items = []
    for number, pair in enumerate(aspect_pairs(annotation, proposal), start=1):
        if pair.b is None:
            continue
        by = proposal.annotator
        if pair.a is None:
            items.append(Difference(pair, number, None, by, pair.b.text))
        of_a, of_b = pair.marks
        items += [Difference(pair, number, index, by, pair.b.text) for index in sorted(of_b - of_a)]
    return tuple(items)


def open_proposals(annotation: Annotation, proposal: Annotation) -> tuple[Difference, ...]:
    """Those of `proposals` that nobody decided; the marks of a rejected aspect need no decision."""
    items = proposals(annotation, proposal)
    rejected = {item.number for item in items if item.sentence is None and item.key in annotation.decisions}
    return tuple(
        item for item in items if item.key not in annotation.decisions and item.number not in rejected
    )


def has_item(annotation: Annotation, item: Difference) -> bool:
    """Whether an annotation has what only one of two had."""
    aspect = _aspect_like(annotation, item.pair)
    return aspect is not None and (item.sentence is None or item.sentence in aspect.sentences)


def decide(annotation: Annotation, items: Iterable[Difference], keep: bool) -> Annotation:
    """The annotation with, or without, what only one of two had; the decisions are remembered."""
    for item in items:
        annotation = _decide_one(annotation, item, keep).decide([item.key])
    return annotation


def decide_for(annotation: Annotation, items: Iterable[Difference], annotator: str) -> Annotation:
    """The annotation in which one annotator is right about all items."""
    for item in items:
        annotation = decide(annotation, [item], keep=item.by == annotator)
    return annotation


def _decide_one(annotation: Annotation, item: Difference, keep: bool) -> Annotation:
    aspect = _aspect_like(annotation, item.pair)
    if not keep:
        if aspect is None:
            return annotation
        if item.sentence is None:
            return annotation.remove_aspect(aspect.id)
        return annotation.unmark(aspect.id, [item.sentence])
    if aspect is None:
        of_a, of_b = item.pair.marks
        marks = of_a | of_b if item.sentence is None else of_a & of_b
        if item.by.startswith(MODEL):  # its marks are decided one by one
            marks = frozenset()
        annotation = annotation.add_aspect(item.pair.text, item.pair.is_result, marks, item.pair.text)
        aspect = annotation.aspects[-1]
    return annotation if item.sentence is None else annotation.mark(aspect.id, [item.sentence])


def _aspect_like(annotation: Annotation, pair: AspectPair) -> MarkedAspect | None:
    words = _words(pair.text)
    return next((aspect for aspect in annotation.aspects if words in _texts(aspect)), None)


def _texts(aspect: MarkedAspect) -> frozenset[str]:
    """What an aspect says, and what it said where it was taken from another annotation."""
    return frozenset(_words(text) for text in (aspect.text, aspect.source) if text)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
