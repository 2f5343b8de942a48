"""Nuggets and their matching (bioace spec rules 10 to 21 and 53 to 55, examples 12.4; faults C1, C3, C4, C25)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evidencebench_core.answers.matching import (
    NuggetScore,
    judged_recall,
    matches,
    mean_nugget_scores,
    nugget_score,
    similarities,
    threshold_curve,
)
from evidencebench_core.answers.nuggets import once, parsed_nuggets, written_out
from evidencebench_core.errors import SettingError

LISTED = """<think>NUGGETS:
- a thought</think>The text says NUGGETS: none of this.
**NUGGETS:**
- 2.5 mg works
* B. subtilis  grows

2.5 mg works
1. b. Subtilis grows
3) It may help."""


def test_lines_become_nuggets() -> None:
    read = parsed_nuggets(LISTED)
    assert read.nuggets == ("2.5 mg works", "B. subtilis  grows", "It may help.")
    assert (read.outcome, read.n_duplicates, read.is_cut_off) == ("nuggets", 2, False)


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome"),
    [
        ("NUGGETS: NONE", "stop", "none"),
        ("NUGGETS:\n- None.", "stop", "none"),
        ("There are two facts.", "stop", "unparsed"),
        ("I list the NUGGETS: a", "stop", "unparsed"),
        ("", "content_filter", "refusal"),
        ("<think>NUGGETS:\n- a", "length", "cut_off"),
        ("NUGGETS:\n- half a li", "length", "cut_off"),
    ],
)
def test_lists_that_are_none(text: str, finish_reason: str, outcome: str) -> None:
    assert parsed_nuggets(text, finish_reason).outcome == outcome


def test_cut_off_the_last_line_is_dropped() -> None:
    read = parsed_nuggets("NUGGETS:\n- one\n- tw", "length")
    assert (read.nuggets, read.is_cut_off) == (("one",), True)


def test_ten_megabytes_in_linear_time() -> None:
    """Pytest ends a test that hangs, as a quadratic reading would."""
    for text in ("NUGGETS:\n" * 500_000, "NUGGETS:\n" + "- a [C0000001]\n" * 500_000, "*" * 3_000_000):
        parsed_nuggets(text)


@pytest.mark.parametrize(
    ("triple", "sentence", "fits"),
    [
        ("[may] Treat (drug [C0000001], ache, severe [C0000002])", "drug may treat ache, severe", True),
        ("Treat (drug, new [C0000001], ache [C0000002])", "drug, new treat ache", True),
        ("Cause (a (b, c), d)", "a (b, c) cause d", True),
        ("It treats aches [C0000001].", "It treats aches.", False),
        ("Treat (drug [C0000001])", "Treat (drug)", False),
    ],
)
def test_triples_are_written_out(triple: str, sentence: str, fits: bool) -> None:
    assert written_out(triple) == (sentence, fits)


P = np.array([[0.90, 0.80, 0.10], [0.85, 0.20, 0.15], [0.30, 0.65, 0.05], [0.05, 0.04, 0.02]])


@pytest.mark.parametrize(
    ("threshold", "pairs", "precision", "recall", "f1"),
    [
        (0.6267, [(0, 0), (2, 1)], 0.5, 0.6667, 0.5714),
        (0.70, [(0, 0)], 0.25, 0.3333, 0.2857),
        (0.95, [], 0.0, 0.0, 0.0),
        (0.05, [(0, 0), (2, 1), (1, 2)], 0.75, 1.0, 0.8571),
    ],
)
def test_example_12_4(
    threshold: float, pairs: list[tuple[int, int]], precision: float, recall: float, f1: float
) -> None:
    found = matches(P, threshold=threshold)
    assert [(one.predicted, one.gold) for one in found] == pairs
    score = nugget_score(found, 4, 3)
    assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1), abs=1e-4)
    assert score.counting == 1


def test_greedy_is_not_optimal() -> None:
    p = np.array([[0.90, 0.80], [0.85, 0.10]])
    assert len(matches(p)) == 1
    assert [(one.predicted, one.gold) for one in matches(p, assignment="optimal")] == [(1, 0), (0, 1)]
    with pytest.raises(SettingError, match="assignment"):
        matches(p, assignment="best")  # type: ignore[arg-type]
    assert matches(np.zeros((2, 2)), threshold=0.0, assignment="optimal") == ()


def test_the_same_words_twice_are_two_nuggets_and_never_a_recall_of_two() -> None:
    score = nugget_score(matches(np.ones((2, 1))), 2, 1)
    assert (score.precision, score.recall) == (0.5, 1.0)
    assert once(["a", "A ", "b"]) == (("a", "b"), 1)


def test_what_is_not_there_is_none_and_counted() -> None:
    assert nugget_score((), 0, 3) == NuggetScore(0, 0, 3)
    none, zero = NuggetScore(0, 0, None), NuggetScore(0, 0, 0)
    for score in (none, zero):
        assert (score.precision, score.recall, score.f1, score.counting) == (None,) * 4
    empty = NuggetScore(0, 0, 3)
    assert (empty.precision, empty.recall, empty.f1) == (None, 0.0, 0.0)
    means = mean_nugget_scores([none, zero, empty, NuggetScore(2, 4, 2, 0.5)])
    assert (means["precision"], means["recall"], means["f1"]) == (0.5, 0.5, pytest.approx(1 / 3))
    assert means["f_of_means"] == 0.5
    counted = ("n", "n_precision", "n_recall", "n_without_gold", "n_empty_gold", "n_without_nuggets")
    assert [means[name] for name in counted] == [4, 1, 2, 1, 1, 3]


def test_judged_recall() -> None:
    said = ["support", "partial", "none", None]
    assert judged_recall(said) == 0.375  # type: ignore[arg-type]
    assert judged_recall(said, strict=True) == 0.25  # type: ignore[arg-type]
    assert judged_recall([]) is None


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.integers(0, 4).map(lambda n: n / 4),
    )
)
def test_as_the_threshold_falls_pairs_only_come_to_it(p: np.ndarray) -> None:
    every = matches(p, threshold=0.0)
    assert len(every) == min(p.shape)
    last = ()
    for value in (1.1, 1.0, 0.75, 0.5, 0.25, 0.0):
        found = matches(p, threshold=value)
        assert found == tuple(one for one in every if one.p >= value)
        assert found[: len(last)] == last
        last = found
    (*_, lowest) = threshold_curve([(every, *p.shape)])
    assert lowest["recall"] == nugget_score(every, *p.shape).counting


@pytest.mark.model
def test_similarity_of_texts() -> None:
    cosines = similarities(
        ["Aspirin relieves pain.", "", "Cats sleep."], ["Pain is relieved by aspirin.", "Cats sleep."]
    )
    assert cosines[2, 1] == 1.0
    assert cosines[0, 0] > 0.8 > cosines[2, 0]
    assert not cosines[1].any()
    assert similarities([], ["a"]).shape == (0, 1)
