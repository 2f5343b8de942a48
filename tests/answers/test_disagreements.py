"""The queue of disagreements, and unit ids there and back (rule 75)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers.agreement import HumanLabels
from evidencebench_core.answers.disagreements import label_pairs
from evidencebench_core.answers.model import unit_id, unit_parts


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_a_unit_id_gives_its_parts_back(parts: list[str]) -> None:
    assert unit_parts(unit_id(*parts)) == tuple(parts)


def human(**labels: str) -> HumanLabels:
    return HumanLabels(labels, dict.fromkeys(labels, ("q", "M1")))


def test_the_worst_disagreement_comes_first() -> None:
    people = human(a="supports", b="neutral", c="supports", d="contradicts", e="supports", f="neutral")
    judge = {"a": "supports", "b": "contradicts", "c": None, "d": "supports", "e": "contradicts"}
    pairs = label_pairs(people, judge, "ternary")
    # d and e are opposites, in the file's order; b is one step off; c has no label; a agrees; f was not judged
    assert [(one.unit, one.distance) for one in pairs] == [
        ("d", 2), ("e", 2), ("b", 1), ("c", 0.25), ("a", 0),
    ]  # fmt: skip


def test_labels_of_a_finer_scale_and_of_relevance() -> None:
    people = human(a="attributable", b="not attributable")
    pairs = label_pairs(people, {"a": "contradicting", "b": "not relevant"}, "binary")
    assert [(one.unit, one.judged, one.distance) for one in pairs] == [
        ("a", "not attributable", 1), ("b", "not attributable", 0),
    ]  # fmt: skip
    (one,) = label_pairs(human(a="required"), {"a": "inappropriate"}, "relevance")
    assert one.distance == 3
