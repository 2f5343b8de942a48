"""Conditions on instances: by hand, in a link, and never in the way of those that can be read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.analyses.conditions import (
    MOST,
    RELATIONS,
    ScoreCondition,
    SliceCondition,
    conditions_from,
    conditions_text,
    instances_meeting,
    meeting,
)
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, retrieval_spec
from tests.factories import raw_dataset, raw_instance, store_with

RECALLS = np.array([0, 1 / 3, 0.5, 2 / 3, 1, np.nan])


@pytest.mark.parametrize(
    ("relation", "value", "upper", "rows"),
    [
        ("=", 0, None, [0]),
        ("=", 33.3, None, [1]),  # as it is shown: a third is 33.3%
        ("<", 33.3, None, [0]),
        ("<=", 33.3, None, [0, 1]),
        (">", 66.7, None, [4]),
        (">=", 66.7, None, [3, 4]),
        (">", 50, None, [3, 4]),
        ("between", 33.3, 66.7, [1, 2, 3]),
        ("between", 66.7, 33.3, []),
        (">=", 0, None, [0, 1, 2, 3, 4]),  # never where there is no score
    ],
)
def test_recalls_are_compared_as_they_are_shown(
    relation: str, value: float, upper: float | None, rows: list[int]
) -> None:
    condition = ScoreCondition("r", "er@10", relation, value, upper)
    assert np.flatnonzero(condition.holds(RECALLS)).tolist() == rows


def test_all_conditions_are_to_be_met_and_what_lacks_a_score_is_counted() -> None:
    family = {"few": np.array([True, True, False]), "many": np.array([False, False, True])}
    slice_of = SliceCondition("sentences", "few")
    score = ScoreCondition("r", "er@10", ">", 50)
    recalls = {"r": np.array([0.6, np.nan, np.nan])}
    met, unscored = meeting([slice_of, score], 3, lambda one: recalls[one.run], lambda: {"sentences": family})
    assert (met.tolist(), unscored.tolist()) == ([True, False, False], [False, True, False])


def run_with(store: Store, name: str, picks: dict[str, tuple[int, ...]]) -> str:
    dataset, runs = store.dataset("tiny"), RunStore(store)
    run = runs.create(retrieval_spec(dataset.sha256, name, {}))
    runs.add(run.id, {name: {"er@10": Retrieval(picked, (), picked)} for name, picked in picks.items()})
    return run.id


def test_one_run_finds_nothing_and_another_over_half(tmp_path: Path) -> None:
    # Instance i has three aspects, covered by sentences i; i + 3 and i + 5; i + 5 and i + 7.
    store = store_with(raw_dataset(3), tmp_path)
    a = run_with(store, "a", {"tiny_0": (1,), "tiny_1": (2,), "tiny_2": (2,)})  # recalls 0, 0, 1/3
    b = run_with(store, "b", {"tiny_0": (5,), "tiny_1": (1,), "tiny_2": (7,)})  # 2/3, 1/3, 2/3
    zero, half = ScoreCondition(a, "er@10", "=", 0), ScoreCondition(b, "er@10", ">", 50)
    assert instances_meeting(store, "tiny", [zero]) == ("tiny_0", "tiny_1")
    assert instances_meeting(store, "tiny", [half]) == ("tiny_0", "tiny_2")
    assert instances_meeting(store, "tiny", [zero, half]) == ("tiny_0",)
    assert instances_meeting(store, "tiny", []) == ("tiny_0", "tiny_1", "tiny_2")
    with pytest.raises(UnknownNameError):
        instances_meeting(store, "tiny", [ScoreCondition("none", "er@10", "=", 0)])
    with pytest.raises(SettingError, match="cannot be made for this dataset"):
        instances_meeting(store, "tiny", [SliceCondition("sentences", "12")])


def test_slices_are_those_of_the_analysis(tmp_path: Path) -> None:
    papers = {f"n{n}": raw_instance(n, {"a": [1]}, hypothesis=f"{n}?", paper_id=str(n)) for n in (9, 5, 7)}
    store = store_with(papers, tmp_path)
    assert instances_meeting(store, "tiny", [SliceCondition("sentences", "5")]) == ("n5",)
    with pytest.raises(SettingError, match="There are: 5, 7, 9"):
        instances_meeting(store, "tiny", [SliceCondition("sentences", "6")])


percents = st.integers(0, 1000).map(lambda tenths: tenths / 10)
scores = st.builds(
    ScoreCondition,
    st.text(),
    st.just("er@10"),
    st.sampled_from([r for r in RELATIONS if r != "between"]),
    percents,
) | st.builds(ScoreCondition, st.text(), st.just("er@5"), st.just("between"), percents, percents)


@given(st.lists(scores | st.builds(SliceCondition, st.text(), st.text()), max_size=MOST, unique=True))
def test_a_link_brings_conditions_back(conditions: list[ScoreCondition | SliceCondition]) -> None:
    text = conditions_text(conditions)
    assert len(text) > 4_000 or conditions_from(text) == (tuple(conditions), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("7", "cannot be read"),
        ("[" * 3_000, "cannot be read"),
        (json.dumps([["slice", "x" * 5_000, "y"]]), "cannot be read"),
        ('[["score"]]', "Condition 1 of the link is left out"),
        ('[["score","r","er@10","~",5]]', "relation '~': is unknown"),
        (r'[["score","\ud800","er@10","=",5]]', "cannot be read"),
        ('[["score","r","er@zero","=",5]]', "er@zero"),
        ('[["score","r","er@10","=",NaN]]', "cannot be read"),
        ('[["score","r","er@10","=",101]]', "numbers from 0 to 100"),
        ('[["score","r","er@10","=",true]]', "numbers from 0 to 100"),
        ('[["score","r","er@10","between",5]]', "two for between"),
        (json.dumps([["slice", "a", str(n)] for n in range(13)]), "the first 12 are taken"),
    ],
)
def test_what_is_no_condition_is_named(text: str, said: str) -> None:
    _, problems = conditions_from(text)
    assert len(problems) == 1
    assert said in problems[0]


def test_a_bad_condition_does_not_take_the_good_ones_along() -> None:
    conditions, problems = conditions_from('[["slice","a","b"],["score"],["slice","a","b"]]')
    assert conditions == (SliceCondition("a", "b"),)
    assert len(problems) == 1
