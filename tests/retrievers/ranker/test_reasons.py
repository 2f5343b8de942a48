"""Explanations in plain words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data.sections import SECTION_CLASSES
from evidencebench_core.retrievers import Retrieval, make_retriever
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.explanation import GROUP_OF
from evidencebench_core.retrievers.ranker.features import FEATURES
from evidencebench_core.retrievers.ranker.reasons import (
    Contribution,
    PickExplanation,
    coverage_line,
    explanations_in,
    reasons,
    why_texts,
)
from evidencebench_core.retrievers.ranker.wordings import GROUP_WORDINGS, WORDINGS, value_text

# A value at which each feature says something, and what it then says; None for those that never do.
SAID: dict[str, tuple[float, str] | None] = {
    "bm25": (0.4, "shares words with the hypothesis"),
    "bm25 standardised": (1.0, "shares telling words with the hypothesis"),
    "bm25 rank": (0.0, "shares telling words with the hypothesis"),
    "overlap by idf": (0.5, "has most of the hypothesis's telling words"),
    "overlap": (0.6, "has half of the hypothesis's words or more"),
    "word pairs": (0.1, "has words in the same order as the hypothesis"),
    "hypothesis length": None,
    "cosine": (0.5, "close to the hypothesis in meaning"),
    "cosine standardised": (2.0, "close to the hypothesis in meaning"),
    "cosine rank": (0.01, "among the closest to the hypothesis in meaning"),
    "cosine of heading": (0.4, "under a heading close to the hypothesis"),
    "fused rank": (0.1, "close to the hypothesis in words and meaning together"),
    "cosine before": (0.5, "follows a sentence close to the hypothesis"),
    "cosine after": (0.5, "comes before a sentence close to the hypothesis"),
    "cosine around 1": (0.4, "stands among sentences close to the hypothesis"),
    "cosine around 3": (0.4, "stands among sentences close to the hypothesis"),
    "bm25 around 1": None,
    "finding before": (1, "follows a sentence that says what was found"),
    "finding after": (2, "comes before a sentence that says what was found"),
    "significance before": (1, "follows a sentence that speaks of significance"),
    "significance after": (1, "comes before a sentence that speaks of significance"),
    "test statistic before": (1, "follows a sentence that reports a test result"),
    "test statistic after": (1, "comes before a sentence that reports a test result"),
    "aim before": (1, "follows a sentence that says what was examined"),
    "aim after": (1, "comes before a sentence that says what was examined"),
    "conclusion before": (1, "follows a sentence that draws a conclusion"),
    "conclusion after": (1, "comes before a sentence that draws a conclusion"),
    "method before": (1, "follows a sentence that tells how something was done"),
    "method after": (1, "comes before a sentence that tells how something was done"),
    "centrality": None,
    "centrality standardised": (1.2, "says what much of the paper is about"),
    "centrality rank": (0.05, "says what much of the paper is about"),
    "centrality by relevance": (0.4, "like the other sentences that bear on the hypothesis"),
    "nearest in abstract": (0.6, "says much the same as another sentence of the abstract"),
    "mean with abstract": (0.4, "close to the abstract in meaning"),
    "abstract's last": (0.7, "close to what the abstract ends with"),
    "abstract's last two": (0.7, "close to what the abstract ends with"),
    "abstract's first": (0.7, "close to what the abstract begins with"),
    "title": (0.5, "close to the paper's title"),
    "place in paper": (0.9, "towards the end of the paper"),
    "paper length": None,
    "abstract length": None,
    "from abstract's start": (0, "the abstract's first sentence"),
    "from abstract's end": (1, "the abstract's last sentence but one"),
    "place in abstract": (0.7, "in the abstract's last third"),
    "from section's start": (1, "at the beginning of its section"),
    "from section's end": (0, "at the end of its section"),
    "section length": None,
    "place in part": (0.9, "late in its part of the paper"),
    "part length": None,
    "from part's start": (0, "at the beginning of its part of the paper"),
    "from part's end": (1, "at the end of its part of the paper"),
    "abstract": (1, "in the abstract"),
    "heading": (1, "a heading"),
    "part: abstract": (1, "in the abstract"),
    "part: introduction": (1, "in the introduction"),
    "part: methods": (1, "in the methods"),
    "part: results": (1, "in the results"),
    "part: discussion": (1, "in the discussion"),
    "part: conclusion": (1, "in the conclusion"),
    "part: other": None,
    "length": None,
    "length standardised": (1.5, "long for this paper"),
    "numbers": (2, "gives figures"),
    "decimals": (1, "gives exact figures"),
    "acronyms": None,
    "parentheses": None,
    "finding": (1, "says what was found"),
    "significance": (1, "speaks of significance"),
    "association": (1, "tells of an association or a risk"),
    "conclusion": (1, "draws a conclusion"),
    "aim": (1, "says what was examined"),
    "method": (1, "tells how something was done"),
    "people": (1, "names who was studied"),
    "comparison": (1, "makes a comparison"),
    "negation": (1, "says that something is not so"),
    "earlier work": (1, "refers to earlier work"),
    "hedge": (1, "is worded with caution"),
    "first person": (1, "is said in the authors' own voice"),
    "limitation": (1, "names a limit"),
    "contrast": (1, "sets one thing against another"),
    "design": (1, "names the design of the study"),
    "test statistic": (3, "reports a test result"),
    "percentage": (1, "gives a percentage"),
    "citation": (1, "cites other work"),
    "figure or table": (1, "points to a figure or table"),
    "head count": (1, "says how many were studied"),
}
# Values at which a feature, though it helped, says nothing of the sentence.
SILENT = {
    "bm25": 0.0,
    "cosine": 0.49,
    "bm25 rank": 0.05,
    "place in paper": 0.5,
    "from abstract's start": -1,
    "from abstract's end": -1,
    "place in abstract": -1,
    "from section's start": 3,
    "place in part": 0.5,
    "length standardised": 0.2,
    "citation": 0,
    "heading": 0,
}


def explanation(
    *features: tuple[str, float, float], groups: dict[str, float] | None = None
) -> PickExplanation:
    return PickExplanation(
        3, 1.0, 1, 0.1, 0.0, groups or {}, tuple(Contribution(*feature) for feature in features)
    )


def test_every_feature_and_group_has_its_words() -> None:
    assert tuple(WORDINGS) == FEATURES == tuple(SAID)
    assert set(GROUP_WORDINGS) == set(GROUP_OF.values())
    assert {f"part: {part}" for part in SECTION_CLASSES} <= set(WORDINGS)
    assert len({wording.label for wording in WORDINGS.values()}) == len(FEATURES)


@pytest.mark.parametrize("name", FEATURES)
def test_what_each_feature_says(name: str) -> None:
    expected = SAID[name]
    if expected is None:
        assert not any(reasons(explanation((name, value, 1.0))) for value in (-1.0, 0.0, 0.5, 1.0, 40.0))
        return
    value, words = expected
    assert reasons(explanation((name, value, 1.0))) == (words,)
    assert reasons(explanation((name, value, -1.0))) == ()  # it took from the score


@pytest.mark.parametrize(("name", "value"), SILENT.items())
def test_a_value_that_does_not_bear_the_words_out_is_no_reason(name: str, value: float) -> None:
    assert reasons(explanation((name, value, 1.0))) == ()


def test_the_weightiest_first_one_a_topic_three_at_most() -> None:
    found = reasons(
        explanation(
            ("abstract", 1, 0.9),  # of the topic "where", as the next but one, which says more
            ("cosine standardised", 2.1, 0.8),
            ("place in abstract", 0.8, 0.4),
            ("test statistic", 1, 0.3),
            ("percentage", 1, 0.2),
        )
    )
    assert found == (
        "in the abstract's last third",
        "close to the hypothesis in meaning",
        "reports a test result",
    )


def test_what_added_next_to_nothing_is_no_reason() -> None:
    # the largest is 1.0, and 0.05 is a twentieth of it
    assert reasons(explanation(("cosine", 0.9, 1.0), ("finding", 1, 0.05))) == (
        "close to the hypothesis in meaning",
    )


def test_without_a_feature_the_group_that_added_most_is_named() -> None:
    groups = {"place": 0.2, "what it says": 0.7, "cue words": -1.0}
    assert reasons(explanation(("part length", 40, 1.0), groups=groups)) == ("says what evidence often says",)
    assert reasons(explanation(groups={"place": -0.1})) == ()
    assert reasons(explanation(groups={"something new": 1.0})) == ()
    assert reasons(explanation()) == ()


@pytest.mark.parametrize(
    ("place", "repeated", "number", "line"),
    [
        (7, 0.38, 3, "Chosen for coverage: rank 7 by score alone, 38% already said by earlier picks."),
        (1, 0.0, 1, "Rank 1 by score alone."),
        (2, 0.0, 2, "Rank 2 by score alone, nothing of it already said by earlier picks."),
        (2, 0.999, 5, "Rank 2 by score alone, all of it already said by earlier picks."),
        (4, 0.0, 1, "Chosen for coverage: rank 4 by score alone."),
    ],
)
def test_how_the_selection_came_to_it(place: int, repeated: float, number: int, line: str) -> None:
    assert coverage_line(PickExplanation(0, 1.0, place, 0.1, repeated, {}, ()), number) == line


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("abstract", 1.0, "yes"),
        ("heading", 0.0, "no"),
        ("paper length", 1234.0, "1,234"),
        ("cosine", -0.123, "−0.12"),
        ("cosine standardised", -1.26, "−1.3 SD"),
        ("overlap", 0.5, "50%"),
        ("bm25 rank", 0.0, "first"),
        ("bm25 rank", 0.004, "top 1%"),
        ("place in abstract", 0.75, "75%"),
        ("from abstract's end", 3.0, "3"),
        ("from abstract's end", -1.0, "not in it"),
        ("of another version", 1.5, "1.50"),
    ],
)
def test_values_for_people(name: str, value: float, text: str) -> None:
    assert value_text(name, value) == text


def retrieval(details: object) -> Retrieval:
    text = details if isinstance(details, str) else json.dumps(details)
    return Retrieval((0,), (1.0,), (0,), 0.0, {"explanation": text})


GOOD = {
    "score": 1.5,
    "place": 2,
    "gain": 0.1,
    "repeated": 0.2,
    "groups": {"place": 0.4},
    "features": [["abstract", 1, 0.4]],
}


def test_what_was_written_is_read_back() -> None:
    assert explanations_in(retrieval({"4": GOOD})) == {
        4: PickExplanation(4, 1.5, 2, 0.1, 0.2, {"place": 0.4}, (Contribution("abstract", 1.0, 0.4),))
    }
    assert why_texts(retrieval({"4": GOOD})) == {4: "In the abstract."}


@pytest.mark.parametrize(
    "details",
    [
        "not JSON",
        "[" * 100_000,
        [],
        "because it fits",
        {"one": GOOD},
        {"4": {**GOOD, "score": "1.5"}},
        {"4": {**GOOD, "score": float("nan")}},
        {"4": {**GOOD, "place": True}},
        {"4": {**GOOD, "groups": []}},
        {"4": {**GOOD, "features": [["abstract", 1]]}},
        {"4": {**GOOD, "features": {"abstract": 1}}},
        {"4": {"score": 1}},
        {"4": None},
    ],
)
def test_what_is_no_explanation_of_ours_is_left_out(details: object) -> None:
    assert explanations_in(retrieval(details)) == {}
    assert why_texts(retrieval(details)) == {}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_nothing_in_the_details_raises(details: object) -> None:
    assert explanations_in(retrieval({"0": details})) == {}


def test_structure_explains_every_pick() -> None:
    sentences = (
        "Tea and blood pressure",
        "We asked whether tea lowers blood pressure.",
        "Tea lowered blood pressure (p < 0.01).",
        "Methods",
        "Nobody slept.",
    )
    types = ("section_name", "abstract", "abstract", "section_name", "normal")
    query = Query("Tea lowers blood pressure.", sentences, types, ("",) * 5, "all", 3)  # type: ignore[arg-type]
    found = make_retriever("structure").retrieve(query)
    assert set(explanations_in(found)) == set(found.selection)
    assert why_texts(found)[2].startswith(("In the abstract", "The abstract", "Close to", "Shares"))
    assert why_texts(found)[2].endswith(".")
