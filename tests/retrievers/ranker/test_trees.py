from __future__ import annotations

import re
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.trees import Trees, trees_of
from tests.retrievers.ranker.small_model import SPLIT, stump

ROWS = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def booster() -> Any:
    target = ROWS[:, 0] * 2 + (ROWS[:, 1] > 0) * (ROWS[:, 2] > 0.5)
    data = lightgbm.Dataset(ROWS, target, params={"verbose": -1})
    return lightgbm.train(
        {"objective": "regression", "num_leaves": 12, "verbose": -1, "num_threads": 1}, data, 20
    )


@pytest.fixture(scope="module")
def trees(booster: Any) -> Trees:
    return trees_of(booster, 5)


def test_scores_are_those_of_lightgbm_also_when_read_back(trees: Trees, booster: Any) -> None:
    assert (trees.scores(ROWS) == booster.predict(ROWS)).all()
    assert (Trees(trees.text, 5).scores(ROWS) == trees.scores(ROWS)).all()


def test_contributions_sum_up_to_the_score(trees: Trees) -> None:
    left = trees.scores(ROWS) - trees.contributions(ROWS).sum(axis=1)
    assert np.ptp(left) == pytest.approx(0, abs=1e-9)
    assert trees.contributions(ROWS[:0]).shape == (0, 5)


def test_a_stump_by_hand() -> None:
    # x0 <= 1 gives 2 and has two of three training rows, else 5: the mean is 3
    found, asked = stump(1, SPLIT), np.array([[1], [1.5]], dtype=np.float32)
    assert found.scores(asked).tolist() == [2, 5]
    assert found.contributions(asked).ravel() == pytest.approx([-1, 2])
    assert stump(3).scores(ROWS[:2, :3]).tolist() == [0, 0]


def test_what_lightgbm_cannot_grow_is_one_leaf() -> None:
    data = lightgbm.Dataset(ROWS[:4].copy(), ROWS[:4, 0].copy(), params={"verbose": -1})
    found = trees_of(lightgbm.train({"objective": "regression", "verbose": -1}, data, 3), 5)
    assert np.ptp(found.scores(ROWS)) == 0


LINES = {
    "split_feature": ["5", "-1", "x", "0.5", "1e9", "9" * 30],
    "left_child": ["0", "99", "-99", "-1", "9"],  # a loop, outside, twice the same
    "right_child": ["0", "7"],
    "leaf_value": ["nan", "inf", "1e300", "", "1_0"],
    "threshold": ["nan", "1e999", "x"],
    "decision_type": ["1", "10", "-"],  # a category
    "leaf_count": ["0", "-4"],
    "num_leaves": ["0", "1", "2", "99", "-1", "100000000"],
    "num_cat": ["1"],
    "is_linear": ["1"],
    "Tree": ["7"],
    "tree_sizes": ["1", "99999999", "-1", ""],
    "max_feature_idx": ["3", "99999"],
    "version": ["v5"],
    "num_class": ["2"],
    "objective": ["binary"],
    "feature_names": ["../../etc/passwd"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in LINES for value in LINES[name]])
def test_hostile_lines_are_refused(trees: Trees, name: str, value: str) -> None:
    first = re.compile(rf"^{name}=\S*", re.MULTILINE)
    changed = first.sub(f"{name}={value}", trees.text, count=1)
    # the sizes are those of the changed text, so that it is the line that is refused
    longer = len(changed) - len(trees.text)
    if name not in ("tree_sizes", "max_feature_idx", "version", "num_class", "objective", "feature_names"):
        changed = re.sub(r"tree_sizes=(\d+)", lambda found: f"tree_sizes={int(found[1]) + longer}", changed)
    with pytest.raises(ValueError, match=r"has|is"):
        Trees(changed, 5)


@pytest.mark.parametrize("value", ["", "tree\n", "x" * 99, "é", "tree\nversion=v4\n" * 1000])
def test_what_is_no_text_of_trees(trees: Trees, value: str) -> None:
    for text in (value, value + trees.text[1:], trees.text + value if value else trees.text[:-1]):
        with pytest.raises(ValueError, match=r"is not|does not end"):
            Trees(text, 5)
    with pytest.raises(ValueError, match="5 features, not 6"):
        Trees(trees.text, 6)


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 10**6), character=st.sampled_from("0123456789-.e =\nxT"))
def test_any_changed_character_is_refused_or_can_be_asked(trees: Trees, place: int, character: str) -> None:
    place %= len(trees.text)
    changed = trees.text[:place] + character + trees.text[place + 1 :]
    try:
        found = Trees(changed, 5)
        assert np.isfinite(found.scores(ROWS[:20])).all()
        assert np.isfinite(found.contributions(ROWS[:5])).all()
    except (ValueError, RetrieverError):
        return


def test_a_small_file_cannot_ask_for_many_leaves(trees: Trees) -> None:
    many = trees.text.replace("num_leaves=12", "num_leaves=65")
    with pytest.raises(ValueError, match="no sound tree 0"):
        Trees(many, 5)
