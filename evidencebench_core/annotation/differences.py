"""Two annotations of one paper: which aspects are the same, where the two differ, and decisions on that.

A proposal of a model is decided by the same means as what two people mark differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evidencebench_core.annotation.model import MODEL, Annotation, MarkedAspect
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
    sentence: int | None  # marked by one of them; None where one has no such aspect at all
    by: str  # who has it
    text: str  # what the aspect says there

    @property
    def key(self) -> str:
        """The same whatever else the two annotations have: what a decision is kept under."""
        return f"{self.by}\t{_words(self.text)}\t{'' if self.sentence is None else self.sentence}"


def aspect_groups(annotations: Sequence[Annotation]) -> list[dict[str, MarkedAspect]]:
    """Aspects that say the same (case and white space apart), by annotator, in the order in which annotators have them.

    Of several that say the same, those of one id are matched.
    """
    lengths = sorted({annotation.n_sentences for annotation in annotations})
    if len(lengths) > 1:
        names = ", ".join(annotation.annotator for annotation in annotations)
        problem = f"were made on papers of {' and '.join(map(str, lengths))} sentences"
        raise PaperError(f"annotations of {names}", problem, "Compare annotations of one paper.")
    groups: list[dict[str, MarkedAspect]] = []
    for annotation in annotations:
        left = list(annotation.aspects)
        for group in groups:
            first = next(iter(group.values()))
            same = [aspect for aspect in left if _texts(aspect) & _texts(first)]
            same.sort(key=lambda aspect: aspect.id != first.id)
            if same:
                left.remove(same[0])
                group[annotation.annotator] = same[0]
        groups += [{annotation.annotator: aspect} for aspect in left]
    return groups


def aspect_pairs(a: Annotation, b: Annotation) -> list[AspectPair]:
    """The aspects of the first annotator, then those that only the second has."""
    groups = aspect_groups((a, b))
    return [AspectPair(group.get(a.annotator), group.get(b.annotator)) for group in groups]


def differences(a: Annotation, b: Annotation) -> tuple[Difference, ...]:
    """Marks of the aspects of both, and whole aspects of one; by aspect, in order."""
    items = []
    for pair in aspect_pairs(a, b):
        owner = b.annotator if pair.a is None else a.annotator
        if pair.a is None or pair.b is None:
            items.append(Difference(pair, None, owner, pair.text))
            continue
        of_a, of_b = pair.marks
        for index in sorted(of_a ^ of_b):
            by_a = index in of_a
            text = pair.a.text if by_a else pair.b.text
            items.append(Difference(pair, index, a.annotator if by_a else b.annotator, text))
    return tuple(items)


def decide(annotation: Annotation, items: Iterable[Difference], keep: bool) -> Annotation:
    """The annotation with, or without, what only one of two had; the decisions are remembered."""
    for item in items:
        annotation = _decide_one(annotation, item, keep).decide([item.key])
    return annotation


def _decide_one(annotation: Annotation, item: Difference, keep: bool) -> Annotation:
    aspect = aspect_like(annotation, item.pair)
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


def aspect_like(annotation: Annotation, pair: AspectPair) -> MarkedAspect | None:
    """The aspect of an annotation that says the same."""
    words = _words(pair.text)
    return next((aspect for aspect in annotation.aspects if words in _texts(aspect)), None)


def _texts(aspect: MarkedAspect) -> frozenset[str]:
    """What an aspect says, and what it said where it was taken from another annotation."""
    return frozenset(_words(text) for text in (aspect.text, aspect.source) if text)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
