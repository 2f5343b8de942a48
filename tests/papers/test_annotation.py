"""Edits of an annotation: each gives a new one, and none leaves it broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import (
    Annotation,
    add_aspect,
    mark,
    move,
    remove_aspect,
    rename,
    set_hypothesis,
    set_result,
    unmark,
)

EMPTY = Annotation("Ada", "Tea helps.", 10)


def two() -> Annotation:
    """Two aspects: the first covered by 3 and 5, the second, a result, by nothing."""
    annotation = add_aspect(add_aspect(EMPTY, " What was\n drunk "), "What came of it", is_result=True)
    return mark(annotation, "aspect_0", [5, 3])


def test_aspects_are_made_and_marked() -> None:
    first, second = two().aspects
    assert (first.id, first.text, first.is_result, first.sentences) == (
        "aspect_0",
        "What was drunk",
        False,
        (3, 5),
    )
    assert (second.id, second.is_result, second.sentences) == ("aspect_1", True, ())
    assert EMPTY.aspects == ()
    assert two().uncovered == (second,)


def test_each_edit() -> None:
    assert mark(two(), "aspect_0", [0, 5]).aspect("aspect_0").sentences == (0, 3, 5)
    assert unmark(two(), "aspect_0", [3, 9]).aspect("aspect_0").sentences == (5,)
    assert rename(two(), "aspect_1", "Harm").aspect("aspect_1").text == "Harm"
    assert set_result(two(), "aspect_1", False).aspect("aspect_1").is_result is False
    assert set_hypothesis(two(), " It harms. ").hypothesis == "It harms."
    assert [a.id for a in move(two(), "aspect_1", 0).aspects] == ["aspect_1", "aspect_0"]
    assert [a.id for a in move(two(), "aspect_0", 99).aspects] == ["aspect_1", "aspect_0"]
    assert [a.id for a in move(two(), "aspect_1", -4).aspects] == ["aspect_1", "aspect_0"]


def test_an_id_is_never_used_again() -> None:
    again = add_aspect(remove_aspect(two(), "aspect_1"), "New")
    assert [a.id for a in again.aspects] == ["aspect_0", "aspect_2"]


@pytest.mark.parametrize("wrong", [[-1], [10], [True], ["3"], [2.0]])
def test_marks_outside_the_paper(wrong: list[Any]) -> None:
    with pytest.raises(PaperError, match="the paper has 0 to 9"):
        mark(two(), "aspect_0", wrong)


def test_what_cannot_be() -> None:
    with pytest.raises(
        PaperError, match=r"aspect 'x': is not in the annotation. There are: aspect_0, aspect_1"
    ):
        mark(two(), "x", [1])
    with pytest.raises(PaperError, match="There are: none yet"):
        remove_aspect(EMPTY, "aspect_0")
    with pytest.raises(PaperError, match="aspect: is empty"):
        add_aspect(EMPTY, " \u200b")
    with pytest.raises(PaperError, match="has 2,001 characters"):
        rename(two(), "aspect_0", "x" * 2001)


def test_the_gold_so_far() -> None:
    evidence = two().evidence()
    assert [(a.id, a.sentence_indices, a.is_result, a.label, a.text) for a in evidence.aspects] == [
        ("aspect_0", (3, 5), False, "A1", "What was drunk"),
        ("aspect_1", (), True, "A2", "What came of it"),
    ]
    assert (evidence.n_sentences, evidence.optimal, evidence.results_optimal) == (10, 1, 0)
    assert EMPTY.evidence().optimal == 0
    assert EMPTY.evidence().results_optimal is None


def test_json_round_trip() -> None:
    raw = json.loads(json.dumps(two().as_dict()))
    assert Annotation.from_dict("Ada", "Tea helps.", raw) == two()


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["add", "mark", "unmark", "move", "remove", "result"]),
        st.integers(0, 5),
        st.integers(0, 9),
    )
)


@given(EDITS)
def test_no_row_of_edits_breaks_it(edits: list[tuple[str, int, int]]) -> None:
    annotation = EMPTY
    for edit, which, number in edits:
        ids = [aspect.id for aspect in annotation.aspects]
        if edit == "add" or not ids:
            annotation = add_aspect(annotation, f"Aspect {number}")
            continue
        chosen = ids[which % len(ids)]
        annotation = {
            "mark": lambda a, c=chosen, n=number: mark(a, c, [n]),
            "unmark": lambda a, c=chosen, n=number: unmark(a, c, [n]),
            "move": lambda a, c=chosen, n=number: move(a, c, n),
            "remove": lambda a, c=chosen: remove_aspect(a, c),
            "result": lambda a, c=chosen, n=number: set_result(a, c, n > 4),
        }[edit](annotation)
    ids = [aspect.id for aspect in annotation.aspects]
    assert len(set(ids)) == len(ids) <= annotation.n_made
    for aspect in annotation.aspects:
        assert list(aspect.sentences) == sorted(set(aspect.sentences))
        assert set(aspect.sentences) <= set(range(10))
