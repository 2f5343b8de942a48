"""What is to be decided on a paper, and where the decisions start: a model's proposal, and two annotations."""

from __future__ import annotations

from evidencebench_core.annotation.differences import Difference, aspect_like, aspect_pairs
from evidencebench_core.annotation.model import CONSENSUS, MODEL, Annotation, MarkedAspect


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


def open_proposals(annotation: Annotation, proposal: Annotation) -> tuple[Difference, ...]:
    """What a model proposes and nobody decided, one by one: an aspect, then each of its marks.

    What the annotation has already is no proposal any more, and the marks of a rejected aspect need no decision.
    """
    items, by = [], proposal.annotator
    for pair in aspect_pairs(annotation, proposal):
        if pair.b is None:
            continue
        if pair.a is None:
            aspect = Difference(pair, None, by, pair.b.text)
            if aspect.key in annotation.decisions:
                continue
            items.append(aspect)
        of_a, of_b = pair.marks
        items += [Difference(pair, index, by, pair.b.text) for index in sorted(of_b - of_a)]
    return tuple(item for item in items if item.key not in annotation.decisions)


def has_item(annotation: Annotation, item: Difference) -> bool:
    """Whether an annotation has what only one of two had."""
    aspect = aspect_like(annotation, item.pair)
    return aspect is not None and (item.sentence is None or item.sentence in aspect.sentences)
