"""Explanations in plain words."""

import json

import pytest

from evidencebench_core.data.sections import SECTION_CLASSES
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.ranker.features import FEATURES, TABLE
from evidencebench_core.retrievers.ranker.reasons import (
    GROUP_REASONS,
    WORDINGS,
    Contribution,
    PickExplanation,
    explanations_in,
    reasons,
    why_texts,
)

NEVER = {
    *(
        "hypothesis length",
        "bm25 around 1",
        "centrality",
        "paper length",
        "abstract length",
        "section length",
    ),
    *("part length", "part: other", "length", "acronyms", "parentheses"),
}


def explanation(*features: tuple[str, float, float], **groups: float) -> PickExplanation:
    return PickExplanation(3, 1.0, 1, 0.1, 0.0, groups, tuple(Contribution(*feature) for feature in features))


def test_every_feature_and_group_has_its_words() -> None:
    assert tuple(WORDINGS) == FEATURES
    assert set(GROUP_REASONS) == {*(row["group"] for row in TABLE), "what it says"}
    assert {f"part: {part}" for part in SECTION_CLASSES} <= set(WORDINGS)


def test_a_feature_is_a_reason_at_some_value_if_it_added() -> None:
    values = (-2.0, 0.0, 0.3, 0.5, 1.0, 40.0)
    for name in FEATURES:
        assert any(reasons(explanation((name, value, 1.0))) for value in values) == (name not in NEVER)
        assert not any(
            reasons(explanation((name, value, -1.0))) for value in values
        )  # it took from the score


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("overlap", 0.6, "has half of the hypothesis's words or more"),
        ("bm25 rank", 0.05, ""),
        ("cosine", 0.49, ""),
        ("from abstract's end", 1, "the abstract's last sentence but one"),
        ("from abstract's end", -1, ""),  # not in the abstract
        ("place in paper", 0.9, "towards the end of the paper"),
        ("length standardised", -1.5, "short for this paper"),
        ("citation", 0, ""),
        ("numbers", 1, "has numbers in it"),  # which may be those of a name (THP-1) or a reference
    ],
)
def test_the_value_bears_the_words_out(name: str, value: float, words: str) -> None:
    assert reasons(explanation((name, value, 1.0))) == ((words,) if words else ())


def test_the_weightiest_first_one_a_topic_three_at_most() -> None:
    features = (
        ("abstract", 1, 0.9),  # of the topic "where", as the next but one, which says more
        *(("cosine standardised", 2.1, 0.8), ("place in abstract", 0.8, 0.4)),
        *(("test statistic", 1, 0.3), ("percentage", 1, 0.2)),
    )
    expected = ("in the abstract's last third", "close to the hypothesis in meaning", "reports a test result")
    assert reasons(explanation(*features)) == expected
    # the largest is 1.0, and 0.05 is a twentieth of it
    small = explanation(("cosine", 0.9, 1.0), ("finding", 1, 0.05))
    assert reasons(small) == ("close to the hypothesis in meaning",)


def test_without_a_feature_the_group_that_added_most_is_named() -> None:
    groups = {"place": 0.2, "what it says": 0.7, "cue words": -1.0}
    assert reasons(explanation(("part length", 40, 1.0), **groups)) == ("says what evidence often says",)
    for none in ({"place": -0.1}, {"something new": 1.0}, {}):
        assert reasons(explanation(("part length", 40, 1.0), **none)) == ()


def retrieval(details: object) -> Retrieval:
    text = details if isinstance(details, str) else json.dumps(details)
    return Retrieval((0,), (1.0,), (0,), 0.0, {"explanation": text})


GOOD = {
    "score": 1.5, "place": 2, "gain": 0.1, "repeated": 0.2, "groups": {"place": 0.4},
    "features": [["abstract", 1, 0.4]],
}  # fmt: skip


def test_what_was_written_is_read_back() -> None:
    assert explanations_in(retrieval({"4": GOOD})) == {
        4: PickExplanation(4, 1.5, 2, 0.1, 0.2, {"place": 0.4}, (Contribution("abstract", 1.0, 0.4),))
    }
    assert why_texts(retrieval({"4": GOOD})) == {4: "In the abstract."}


@pytest.mark.parametrize("details", ["not JSON", [], {"one": GOOD}, {"4": {"score": 1}}, {"4": None}])
def test_what_is_no_explanation_is_left_out(details: object) -> None:
    assert explanations_in(retrieval(details)) == {}
    assert why_texts(retrieval(details)) == {}
