import re
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.trees import Trees, trees_of
from tests.retrievers.ranker.made_up import tree_text

ROWS = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def booster() -> Any:
    target = ROWS[:, 0] * 2 + (ROWS[:, 1] > 0) * (ROWS[:, 2] > 0.5)
    settings = {"objective": "regression", "num_leaves": 12, "verbose": -1, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(ROWS, target, params={"verbose": -1}), 20)


@pytest.fixture(scope="module")
def trees(booster: Any) -> Trees:
    return trees_of(booster, 5)


def test_scores_are_those_of_lightgbm_also_when_read_back(trees: Trees, booster: Any) -> None:
    assert (trees.scores(ROWS) == booster.predict(ROWS)).all()
    assert (Trees(trees.text, 5).scores(ROWS) == trees.scores(ROWS)).all()
    # Contributions sum up to the score.
    left = trees.scores(ROWS) - trees.contributions(ROWS).sum(axis=1)
    assert np.ptp(left) == pytest.approx(0, abs=1e-9)
    assert trees.contributions(ROWS[:0]).shape == (0, 5)


STUMP = {
    "split_feature": "0", "threshold": "1", "decision_type": "2", "left_child": "-1", "right_child": "-2",
    "leaf_value": "2 5", "leaf_count": "2 1", "internal_value": "3", "internal_count": "3",
}  # fmt: skip


def test_a_stump_by_hand() -> None:
    # x0 <= 1 gives 2 and has two of three training rows, else 5: the mean is 3
    stump, asked = Trees(tree_text(**STUMP), 1), np.array([[1], [1.5]], dtype=np.float32)
    assert stump.scores(asked).tolist() == [2, 5]
    assert stump.contributions(asked).ravel() == pytest.approx([-1, 2])
    assert Trees(tree_text(), 3).scores(ROWS[:2, :3]).tolist() == [0, 0]
    # What LightGBM cannot grow is one leaf.
    data = lightgbm.Dataset(ROWS[:4].copy(), ROWS[:4, 0].copy(), params={"verbose": -1})
    found = trees_of(lightgbm.train({"objective": "regression", "verbose": -1}, data, 3), 5)
    assert np.ptp(found.scores(ROWS)) == 0


def chain(n_leaves: int) -> str:
    """A tree as deep as its leaves allow."""
    n = n_leaves - 1
    return tree_text(
        split_feature=" ".join(["0"] * n),
        threshold=" ".join(["1"] * n),
        decision_type=" ".join(["2"] * n),
        left_child=" ".join([*map(str, range(1, n)), "-1"]),
        right_child=" ".join(str(-2 - split) for split in range(n)),
        leaf_value=" ".join(["1"] * n_leaves),
        leaf_count=" ".join(["1"] * n_leaves),
        internal_value=" ".join(["1"] * n),
        internal_count=" ".join(["1"] * n),
    )


def test_trees_that_would_take_minutes_to_explain_are_refused() -> None:
    def trees(n: int, n_leaves: int) -> str:
        head, _, block = chain(n_leaves).removesuffix("end of trees\n").partition("\nTree=0\n")
        return head + "".join(f"\nTree={number}\n{block}" for number in range(n)) + "end of trees\n"

    assert Trees(trees(2_000, 15), 1).scores(ROWS[:1, :1])  # what train-ranker grows
    assert Trees(trees(20, 64), 1)
    with pytest.raises(ValueError, match="too deep to be explained"):
        Trees(trees(2_000, 64), 1)


LINES = {
    "split_feature": ["5", "-1", "x", "0.5", "1e9", "9" * 30],
    "left_child": ["0", "99", "-99", "-1", "9"],  # a loop, outside, twice the same
    "right_child": ["0", "7"],
    "leaf_value": ["nan", "inf", "1e300", ""],
    "threshold": ["nan", "1e999", "x"],
    "decision_type": ["1", "10", "-"],  # a category
    "leaf_count": ["0", "-4"],
    "internal_count": ["0", "x"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in LINES for value in LINES[name]])
def test_hostile_numbers_are_refused(trees: Trees, name: str, value: str) -> None:
    changed = re.sub(rf"^{name}=\S*", f"{name}={value}", trees.text, count=1, flags=re.MULTILINE)
    with pytest.raises(ValueError, match="no sound tree 0"):
        Trees(changed, 5)


@pytest.mark.parametrize(
    "line",
    [
        *(f"num_leaves={value}" for value in ("0", "1", "99", "-1", "100000000")),
        *(f"tree_sizes={value}" for value in ("1", "99999999", "-1", "")),
        *("num_cat=1", "is_linear=1", "max_feature_idx=99999", "version=v5", "num_class=2"),
        *("objective=binary", "feature_names=../../etc/passwd", "split_gain=nan", "leaf_weight=x"),
    ],
)
def test_no_other_line_reaches_lightgbm(trees: Trees, line: str) -> None:
    name = line.partition("=")[0]
    changed, n = re.subn(rf"^{name}=.*", line, trees.text, flags=re.MULTILINE)
    assert n
    assert (Trees(changed, 5).scores(ROWS) == trees.scores(ROWS)).all()


@pytest.mark.parametrize("value", ["", "tree\n", "x" * 99, "é", "tree\nversion=v4\n" * 1000])
def test_what_is_no_text_of_trees(trees: Trees, value: str) -> None:
    for text in (value, f"{trees.text}{value or 'x'}", trees.text[:-1], trees.text[200:700]):
        with pytest.raises(ValueError, match="is no text of"):
            Trees(text, 5)
    with pytest.raises(ValueError, match="no sound tree 0"):
        Trees(trees.text, 1)


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


def test_a_small_file_cannot_ask_for_many_leaves_or_trees(trees: Trees) -> None:
    def chain_of(n: int) -> str:
        """A tree of n splits, one below the other."""
        return tree_text(
            split_feature="0 " * n, threshold="0 " * n, internal_value="0 " * n, decision_type="2 " * n,
            internal_count="1 " * n, leaf_value="0 " * (n + 1), leaf_count="1 " * (n + 1),
            left_child=" ".join(str(-place - 1) for place in range(n)),
            right_child=" ".join([*map(str, range(1, n)), str(-n - 1)]),
        )  # fmt: skip

    with pytest.raises(ValueError, match="no sound tree 0"):
        Trees(chain_of(64), 1)
    assert Trees(chain_of(63), 1).scores(ROWS[:1, :1]).tolist() == [0]
    head, tree = tree_text().removesuffix("end of trees\n").split("\nTree=0")
    with pytest.raises(ValueError, match="is no text of"):
        Trees(head + f"\nTree=0{tree}" * 2001 + "end of trees\n", 1)
