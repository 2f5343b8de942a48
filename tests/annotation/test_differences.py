"""Aspects of two annotators matched."""

from collections.abc import Mapping, Sequence

import pytest

from evidencebench_core.annotation.differences import aspect_pairs
from evidencebench_core.annotation.model import Annotation, MarkedAspect
from evidencebench_core.errors import PaperError

Marks = Mapping[str, Sequence[int]]


def annotation(who: str, marks: Marks, results: tuple[str, ...] = (), n_sentences: int = 10) -> Annotation:
    """What somebody marked by hand, by the texts of the aspects."""
    aspects = tuple(
        MarkedAspect(f"aspect_{number}", text, text in results, tuple(sorted(indices)))
        for number, (text, indices) in enumerate(marks.items())
    )
    return Annotation(who, "Tea helps.", n_sentences, aspects, len(aspects))


ADA = annotation("Ada", {"Design": (1, 2), "Dose": (4,), "Harm": (7,)}, ("Harm",))
BEN = annotation("Ben", {"dose ": (4, 5), "Design": (2,), "Cost": (9,)})


def test_aspects_are_matched_by_what_they_say_whatever_their_place() -> None:
    pairs = aspect_pairs(ADA, BEN)
    assert [pair.text for pair in pairs] == ["Design", "Dose", "Harm", "Cost"]
    assert [(pair.a is None) - (pair.b is None) for pair in pairs] == [0, 0, -1, 1]
    assert pairs[1].marks == ({4}, {4, 5})
    assert pairs[2].is_result
    # Of aspects that say the same, those of one id are matched.
    aspects = (MarkedAspect("aspect_0", "X", sentences=(1,)), MarkedAspect("aspect_1", "X"))
    same = Annotation("Ada", "", 9, aspects)
    turned = Annotation("Ben", "", 9, same.aspects[::-1])
    assert [pair.a == pair.b for pair in aspect_pairs(same, turned)] == [True, True]
    with pytest.raises(PaperError, match="10 and 11 sentences"):
        aspect_pairs(ADA, annotation("Ben", {}, n_sentences=11))
