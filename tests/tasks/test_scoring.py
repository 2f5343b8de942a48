"""Selections and their scores."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import SelectionError, SettingError
from evidencebench_core.tasks import TASKS, score, task_named, validated_selection


def evidence(n_sentences: int, covers: list[tuple[int, ...]], results: set[int], optimal: int) -> EvidenceSet:
    """An evidence set whose result aspects, at these positions, need one sentence."""
    aspects = tuple(Aspect(f"a{i}", cover, i in results, f"A{i + 1}") for i, cover in enumerate(covers))
    return EvidenceSet(n_sentences, aspects, optimal, 1 if results else None)


GOLD = [
    ("p1", evidence(10, [(0,), (1,), (2, 3)], {1}, 3)),
    ("p2", evidence(4, [(0, 1)], {0}, 1)),
    ("p3", evidence(6, [(5,), (4,)], set(), 2)),
]
LONG = [(f"a{'-' * n}", GOLD[1][1]) for n in range(7)]
ER, RESULTS = TASKS["er@optimal"], TASKS["result-er@optimal"]


def test_by_hand() -> None:
    # p1: 0 and 3 meet two of three aspects: 2/3. p2: K = 1 of 2 picks, one of which covers:
    # 1 - C(1,1)/C(2,1) = 1/2. p3: an empty selection: 0. Mean (2/3 + 1/2 + 0) / 3 = 7/18.
    result = score(ER, GOLD, {"p1": [0, 3, 3], "p2": [0, 2], "p3": []})
    assert result.per_instance == pytest.approx({"p1": 2 / 3, "p2": 1 / 2, "p3": 0.0})
    assert result.aspect_recall == pytest.approx(7 / 18)
    counts = (result.n_scored, result.n_skipped, result.n_missing, result.n_empty, result.n_over_budget)
    assert (counts, result.n_papers, result.ceiling) == ((3, 0, 0, 1, 1), 3, 1.0)
    # p1: n 10, K 3: 1 - C(9,3)/C(10,3) = 3/10 twice, 1 - C(8,3)/C(10,3) = 1 - 56/120 = 8/15; mean 17/45.
    # p2: n 4, K 1: 2/4. p3: n 6, K 2: 2/6. Mean (17/45 + 1/2 + 1/3) / 3 = 109/270.
    assert result.random_expectation == pytest.approx(109 / 270)
    # mean 7/18 = 14/36; deviations 10/36, 4/36, -14/36; variance 312/3888; SE = sqrt(312/3888/3)
    assert result.standard_error == pytest.approx((312 / 3888 / 3) ** 0.5)
    # Three papers, deviation sqrt(312/3888 * 3/2) = 0.347, of the mean 0.2003, times 4.30: from below 0 to above 1.
    assert result.ci95 == (0.0, 1.0)
    # Picks 2, 2 and 0; of them cover an aspect 2/2, 1/2 and none; F1 2*1*(2/3)/(5/3) = 4/5, 1/2 and 0.
    means = {name: estimate.value for name, estimate in result.measures.items()}
    expected = {"aspect_recall": 7 / 18, "picks": 4 / 3, "precision": 1 / 2, "f1": 1.3 / 3}
    assert means == pytest.approx(expected)
    over, few = (next(note for note in result.notes if word in note) for word in ("more than K", "3 papers"))
    assert over.startswith("ER@Optimal: 1 selection has more")
    assert result.ceiling_text == "100.0%"
    assert "ER@" not in few  # so that it is said once for all tasks


def test_it_draws_itself_in_a_notebook() -> None:
    result = score("ER@2", GOLD, {"p1": [0, 3]})
    assert repr(result) == "Score(ER@2: 66.7%, n=1)"
    assert [text in result._repr_html_() for text in ("Precision", "100.0%", "2.0", "ER@2")] == [True] * 4


def test_an_instance_without_result_aspects_is_skipped_with_its_reason() -> None:
    result = score(RESULTS, GOLD, {"p1": [1], "p2": [3], "p3": [0]})
    assert (result.skipped, result.n_skipped) == ({"p3": "it has no result aspects"}, 1)
    assert (result.per_instance, result.missing) == ({"p1": 1.0, "p2": 0.0}, ())
    assert score(RESULTS, GOLD, {"p1": [1], "p2": [3]}).n_missing == 0  # what is skipped is not missing


def test_a_missing_instance_is_named_and_left_out_or_scored_0_when_asked() -> None:
    result, zero = (score(ER, GOLD, {"p1": [0, 1, 2]}, missing=how) for how in ("report", "zero"))
    assert result.missing == zero.missing == ("p2", "p3")
    assert (result.n_scored, result.n_missing, result.n_empty, result.aspect_recall) == (1, 2, 0, 1.0)
    assert result.standard_error is result.ci95 is None  # one instance says nothing about the spread
    assert result.notes[0] == "ER@Optimal: 2 instances without an answer, left out of the mean: p2, p3"
    assert "scored 0: a, a-, a--, a---, a---- and 2 more" in score(ER, LONG, {}, missing="zero").notes[0]
    assert (zero.n_scored, zero.n_missing, zero.n_empty) == (3, 2, 0)
    assert zero.per_instance == {"p1": 1.0, "p2": 0.0, "p3": 0.0}
    assert zero.aspect_recall == pytest.approx(1 / 3)
    for nothing in (score(ER, GOLD, {}), score(ER, [], {})):
        means = (nothing.aspect_recall, nothing.standard_error, nothing.ci95, nothing.ceiling)
        assert (*means, nothing.random_expectation, nothing.per_instance) == (*[None] * 5, {})
        assert (len(nothing.notes), nothing.ceiling_text) == (bool(nothing.missing), "")


def test_without_a_limit_any_number_is_right_and_a_small_one_lowers_the_ceiling() -> None:
    result = score(TASKS["result-er@unconstrained"], GOLD, {"p1": list(range(10)), "p2": [3]})
    assert result.per_instance == {"p1": 1.0, "p2": 0.0}
    assert (result.ceiling, result.random_expectation) == (1.0, None)
    # er@1: p1 1 of 3, p2 1 of 1, p3 1 of 2; mean 11/18
    result = score(task_named("er@1"), GOLD, {"p1": [0], "p2": [0], "p3": [5]})
    assert result.ceiling == result.aspect_recall == pytest.approx(11 / 18)
    assert result.n_over_budget == 0
    bare = score(
        task_named("er@1"), [("x", evidence(3, [()], set(), 0))], {"x": [0]}
    )  # nothing covers its aspect
    assert bare.random_expectation == bare.aspect_recall == bare.ceiling == 0.0


def test_recalls_that_were_measured_elsewhere() -> None:
    result = score(ER, GOLD, {"p1": 0.5, "p2": 1.0})
    assert (result.aspect_recall, result.missing) == (0.75, ("p3",))
    assert [result.measures[name].value for name in ("aspect_recall", "picks")] == [0.75, None]


def test_papers_are_drawn_whole() -> None:
    selections = {"p1": [0, 3], "p2": [0], "p3": []}  # recalls 2/3, 1 and 0
    two, one_paper = (score(ER, GOLD, selections, papers={"p1": "a", "p2": "a", "p3": p}) for p in "ba")
    assert (two.n_papers, two.aspect_recall, two.ci95) == (2, pytest.approx(5 / 9), (0.0, 1.0))
    assert (one_paper.n_papers, one_paper.ci95) == (1, None)
    assert [("1 paper " in note, "2 papers" in note) for note in (one_paper.notes[-1], two.notes[-1])] == [
        (True, False), (False, True),
    ]  # fmt: skip


def test_what_is_refused() -> None:
    strangers = {"p1": [0], "q1": [0], "q2": [0], "q3": [], "q4": [1]}
    unknown = "Selections have 4 of 5 ids that no instance .*: 'q1', 'q2', 'q3', …"
    skipped = {"p3": [6]}  # is checked all the same
    for error, problem, call in (
        (SelectionError, unknown, lambda: score(ER, GOLD, strangers)),
        (SelectionError, "p1 selects sentence 10", lambda: score(ER, GOLD, {"p1": [10]})),
        (SelectionError, "p3 selects sentence 6", lambda: score(RESULTS, GOLD, skipped)),
        (SettingError, "Gold repeats instance 'p1'", lambda: score(ER, [GOLD[0], GOLD[0]], {})),
        (SettingError, "Missing cannot be 'drop'", lambda: score(ER, GOLD, {}, missing="drop")),
    ):
        with pytest.raises(error, match=problem):
            call()


def test_as_json_and_as_a_table_every_instance_has_a_row_and_a_reason() -> None:
    answers = {"p1": [0]}  # which does not meet its result aspect
    result = score(RESULTS, GOLD, answers)
    as_dict = result.as_dict()
    assert set(as_dict) == {  # a contract of the command line
        *("task", "n_scored", "n_skipped", "n_missing", "aspect_recall", "standard_error", "ci95", "ceiling"),
        *("ceiling_range", "random_expectation", "per_instance", "n_empty", "skipped", "missing"),
        *("measures", "n_over_budget", "n_papers"),
    }
    assert json.loads(json.dumps(as_dict)) == as_dict
    assert score(RESULTS, GOLD, answers, sufficient=True).as_dict() == as_dict | {"sufficient_gold": True}
    assert (as_dict["task"], as_dict["missing"], as_dict["ci95"]) == ("result-er@optimal", ["p2"], None)
    assert as_dict["skipped"] == {"p3": "it has no result aspects"}
    assert as_dict["measures"]["picks"] == {"value": 1.0, "low": None, "high": None, "n": 1}
    table = result.to_pandas()
    assert table.instance.tolist() == ["p1", "p3", "p2"]
    assert table.aspect_recall.tolist() == pytest.approx([0.0, math.nan, math.nan], nan_ok=True)
    assert table.left_out.tolist() == ["", "skipped: it has no result aspects", "no selection"]
    zeros = score(RESULTS, GOLD, answers, missing="zero").to_pandas()
    assert zeros.left_out.tolist()[:2] == ["", ""]


@pytest.mark.parametrize(
    ("picks", "problem"),
    [
        ("0, 1", "p1 has '0, 1' for a selection. Give a list of 0-based sentence indices."),
        ({"0": 1}, "for a selection"),
        (7, "p1 has 7 for a selection"),
        ([1, True], "p1 selects True, not an integer"),
        ([1.0], "p1 selects 1.0, not an integer"),
        (["1"], "p1 selects '1', not an integer"),
        ([np.True_], "not an integer"),
        (np.array([1.0]), "p1 selects 1.0, not an integer"),
        (np.array(1), "p1 has 1 for a selection"),
        ([-1], "p1 selects sentence -1, but the paper has 5 sentences. Indices run from 0 to 4."),
        ([0, 5], "p1 selects sentence 5, but the paper has 5 sentences"),
    ],
)
def test_bad_selections_are_named(picks: object, problem: str) -> None:
    with pytest.raises(SelectionError) as caught:
        validated_selection(picks, 5, "p1")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 8)))
def test_a_selection_keeps_every_index_once_in_order(picks: list[int]) -> None:
    for form in (picks, [np.int64(index) for index in picks], np.array(picks, int)):
        checked = validated_selection(form, 9, "p1")
        assert all(type(index) is int for index in checked)
        assert list(checked) == sorted(set(picks), key=picks.index)
