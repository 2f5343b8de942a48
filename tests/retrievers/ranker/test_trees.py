from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.trees import Trees, trees_from_json, trees_of_booster


@pytest.fixture(scope="module")
def rows() -> Any:
    return np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def booster(rows: Any) -> Any:
    target = rows[:, 0] * 2 + (rows[:, 1] > 0) * (rows[:, 2] > 0.5)
    data = lightgbm.Dataset(rows, target, params={"verbose": -1})
    return lightgbm.train(
        {"objective": "regression", "num_leaves": 12, "verbose": -1, "num_threads": 1}, data, 20
    )


@pytest.fixture(scope="module")
def trees(booster: Any) -> Trees:
    return trees_of_booster(booster.dump_model())


def test_scores_are_those_of_lightgbm(trees: Trees, booster: Any, rows: Any) -> None:
    assert trees.scores(rows) == pytest.approx(booster.predict(rows), abs=1e-5)


def test_masks_and_walking_give_the_same(trees: Trees, rows: Any) -> None:
    assert trees.masks is not None
    on_thresholds = rows.copy()
    n = min(len(rows), len(trees.threshold))
    on_thresholds[np.arange(n), trees.feature[:n]] = trees.threshold[:n].astype(np.float32)
    walked = replace(trees, masks=None)
    for asked in (rows, on_thresholds, rows[:0]):
        assert (trees.scores(asked) == walked.scores(asked)).all()


def test_trees_that_are_too_large_for_masks_are_walked(rows: Any) -> None:
    data = lightgbm.Dataset(rows, rows[:, 0] * rows[:, 1], params={"verbose": -1})
    params = {"num_leaves": 60, "min_data_in_leaf": 2, "verbose": -1, "num_threads": 1}
    large = lightgbm.train(params, data, 3)
    found = trees_of_booster(large.dump_model())
    assert found.masks is None
    assert found.scores(rows) == pytest.approx(large.predict(rows), abs=1e-5)


def test_contributions_sum_up_to_the_score(trees: Trees, rows: Any) -> None:
    expected = trees.scores(rows) - trees.value[trees.roots].sum()
    assert trees.contributions(rows).sum(axis=1) == pytest.approx(expected, abs=1e-9)


def test_columns_that_no_tree_asks_add_nothing(trees: Trees, rows: Any) -> None:
    asked = set(trees.feature[trees.left != np.arange(len(trees.left))].tolist())
    unasked = [place for place in range(5) if place not in asked]
    assert not trees.contributions(rows)[:, unasked].any()
    changed = rows.copy()
    changed[:, unasked] = 9
    assert (trees.scores(changed) == trees.scores(rows)).all()


def test_a_stump_by_hand() -> None:
    # x0 <= 1 gives 2, else 5; the mean below the root is 3
    stump = trees_from_json(
        {
            "roots": [0],
            "feature": [0, 0, 0],
            "left": [1, 1, 2],
            "right": [2, 1, 2],
            "threshold": [1.0, 0, 0],
            "value": [3.0, 2.0, 5.0],
        },
        1,
        "stump",
    )
    asked = np.array([[1], [1.5]], dtype=np.float32)
    assert stump.scores(asked).tolist() == [2, 5]
    assert stump.contributions(asked).tolist() == [[-1], [2]]


def test_what_is_written_is_read_back(trees: Trees, rows: Any) -> None:
    again = trees_from_json(trees.as_json(), 5, "trees")
    assert (again.scores(rows) == trees.scores(rows)).all()


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("left", 1, 0),  # a loop
        ("right", 0, 10**6),  # outside
        ("left", 0, -1),
        ("feature", 0, 5),
        ("feature", 0, 10**30),
        ("feature", 0, 0.5),
        ("feature", 0, True),
        ("roots", 0, -1),
        ("value", 0, math.nan),
        ("threshold", 0, math.inf),
        ("value", 0, "1"),
        ("value", 0, None),
        ("value", 0, 10**400),
        ("left", 0, 0),  # half a leaf
    ],
)
def test_hostile_numbers_are_refused(trees: Trees, name: str, place: int, value: object) -> None:
    raw: dict[str, Any] = copy.deepcopy(trees.as_json())
    raw[name][place] = value
    with pytest.raises(RetrieverError, match="train-ranker"):
        trees_from_json(raw, 5, "file")


@pytest.mark.parametrize("value", [None, [], {}, 3, "x" * 99, [-1]])
def test_hostile_lists_are_refused(trees: Trees, value: object) -> None:
    for name in trees.as_json():
        with pytest.raises(RetrieverError):
            trees_from_json({**trees.as_json(), name: value}, 5, "file")
    with pytest.raises(RetrieverError):
        trees_from_json(value, 5, "file")
