"""Gradient-boosted regression trees as LightGBM's model text, checked before LightGBM is given it.

LightGBM's parser trusts its input: a child that points outside, or back at its parent, crashes it or never
ends. So the numbers of the trees are checked, and it is given a text that is written from them alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError

_MOST_TREES: Final = 2_000
_MOST_LEAVES: Final = 64
_MOST_WORK: Final = 6_000_000  # to explain one sentence, see `_work`: as of 2,000 trees of 15 leaves
_LARGEST: Final = 1e12
_END: Final = "end of trees\n"
_OF_SPLITS: Final = {
    "split_feature": int,
    "threshold": float,
    "decision_type": int,
    "left_child": int,
    "right_child": int,
    "internal_value": float,
    "internal_count": int,
}
_OF_LEAVES: Final = {"leaf_value": float, "leaf_count": int}

_Tree = dict[str, list[Any]]  # numbers by field


class Trees:
    """A sum of regression trees over ``n_features`` columns, from LightGBM's model text up to "end of trees".

    A text of anything else is a ValueError.
    """

    def __init__(self, text: str, n_features: int) -> None:
        self.text, self._n_features = text, n_features
        blocks = text.removesuffix(_END).split("\nTree=")[1:]
        if not text.endswith(_END) or not 0 < len(blocks) <= _MOST_TREES:
            raise ValueError(f"is no text of 1 to {_MOST_TREES:,} regression trees")
        self._trees = [_sound_tree(block, number, n_features) for number, block in enumerate(blocks)]
        if sum(map(_work, self._trees)) > _MOST_WORK:
            raise ValueError("has trees that are too many and too deep to be explained")

    @cached_property
    def _booster(self) -> Any:
        import lightgbm

        try:
            return lightgbm.Booster(model_str=_model_text(self._trees, self._n_features))
        except lightgbm.basic.LightGBMError as error:
            raise RetrieverError("trees", f"cannot be loaded ({error})", "Train the model again.") from error

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sum over the trees, one number a row."""
        return np.asarray(self._booster.predict(rows, num_threads=1), dtype=np.float64)

    def contributions(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """SHAP values, shape (rows, features): what each feature adds to a row's score, against the mean.

        Lundberg et al., "Consistent individualized feature attribution for tree ensembles" (2018).
        """
        if not len(rows):
            return np.zeros((0, self._n_features))
        adds = self._booster.predict(rows, pred_contrib=True, num_threads=1)
        return np.asarray(adds, dtype=np.float64)[:, :-1]


def trees_of(booster: Any, n_features: int) -> Trees:
    """The trees of a trained booster."""
    text = booster.model_to_string()
    return Trees(text[: text.index(_END)] + _END, n_features)


def _sound_tree(block: str, number: int, n_features: int) -> _Tree:
    """The numbers of a tree in which every split and leaf but the root is the child of one split before it."""
    try:
        lines = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        tree: _Tree = {
            name: [kind(word) for word in lines[name].split()]
            for name, kind in {**_OF_SPLITS, **_OF_LEAVES}.items()
        }
    except (KeyError, ValueError) as error:
        raise ValueError(f"has no sound tree {number}") from error
    n = len(tree["leaf_value"])
    if n == 1:  # LightGBM writes it with or without its count
        tree["leaf_count"] = [1]
    children = [
        (parent, child) for side in ("left_child", "right_child") for parent, child in enumerate(tree[side])
    ]
    sound = (
        0 < n <= _MOST_LEAVES
        and all(len(tree[name]) == n - 1 for name in _OF_SPLITS)
        and len(tree["leaf_count"]) == n
        # leaf k is written as -k - 1, and the root is split 0
        and sorted(child for _, child in children) == ([*range(-n, 0), *range(1, n - 1)] if n > 1 else [])
        and all(child < 0 or child > parent for parent, child in children)
        and all(0 <= feature < n_features for feature in tree["split_feature"])
        and all(kind in (0, 2) for kind in tree["decision_type"])  # numbers, and no categories
        and all(0 < count < _LARGEST for count in (*tree["leaf_count"], *tree["internal_count"]))
        and all(
            abs(value) <= _LARGEST  # NaN is not
            for name in ("threshold", "leaf_value", "internal_value")
            for value in tree[name]
        )
    )
    if not sound:
        raise ValueError(f"has no sound tree {number}")
    return tree


def _work(tree: _Tree) -> int:
    """Leaves times squared depth: TreeSHAP's time for a row (Lundberg et al. 2018, algorithm 2)."""
    depths = [0] * len(tree["left_child"])
    deepest = 0
    for parent, children in enumerate(zip(tree["left_child"], tree["right_child"], strict=True)):
        deepest = max(deepest, depths[parent] + 1)
        for child in children:
            if child > 0:
                depths[child] = depths[parent] + 1
    return len(tree["leaf_value"]) * deepest**2


def _model_text(trees: list[_Tree], n_features: int) -> str:
    blocks = [
        f"Tree={number}\nnum_leaves={len(tree['leaf_value'])}\nnum_cat=0\n"
        + "".join(f"{name}={' '.join(map(repr, numbers))}\n" for name, numbers in tree.items())
        + "is_linear=0\nshrinkage=1\n\n\n"
        for number, tree in enumerate(trees)
    ]
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={n_features - 1}\nobjective=regression\n"
        f"feature_names={' '.join(f'Column_{place}' for place in range(n_features))}\n"
        f"feature_infos={' '.join(['none'] * n_features)}\n"
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}\n\n{''.join(blocks)}{_END}"
    )
