"""Gradient-boosted regression trees as LightGBM's model text, checked before LightGBM is given it.

LightGBM's parser trusts its input: a child that points outside, or back at its parent, crashes it or never
ends. So the text must be, line by line, what LightGBM writes for a sum of small regression trees.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError

_MOST_TREES: Final = 2_000
_MOST_LEAVES: Final = 64
_LARGEST: Final = 1e12  # of a leaf's value
_END: Final = "end of trees\n"
_INTEGER: Final = r"-?\d{1,9}"
_COUNT: Final = r"[1-9]\d{0,8}"
_REAL: Final = r"-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]\d\d)?"
_HEADER: Final = re.compile(
    r"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=(?P<last>\d{1,5})\n"
    r"objective=regression\nfeature_names=(?P<names>[^\n]*)\n"
    rf"feature_infos=(?P<infos>(?:none|\[{_REAL}:{_REAL}\])(?: (?:none|\[{_REAL}:{_REAL}\]))*)\n"
    r"tree_sizes=(?P<sizes>\d{1,6}(?: \d{1,6})*)\n\n"
)
_OF_SPLITS: Final = {
    "split_feature": _INTEGER,
    "split_gain": _REAL,
    "threshold": _REAL,
    "decision_type": "[02]",  # a number, and no category
    "left_child": _INTEGER,
    "right_child": _INTEGER,
    "internal_value": _REAL,
    "internal_weight": _REAL,
    "internal_count": _COUNT,
}
_OF_LEAVES: Final = {"leaf_value": _REAL, "leaf_weight": _REAL, "leaf_count": _COUNT}
_LINES: Final = (*list(_OF_SPLITS)[:6], *_OF_LEAVES, *list(_OF_SPLITS)[6:])
_TREE: Final = re.compile(
    r"Tree=(?P<number>\d{1,5})\nnum_leaves=(?P<num_leaves>\d{1,3})\nnum_cat=0\n"
    + "".join(
        rf"{name}=(?P<{name}>(?:{number}(?: {number})*)?)\n"
        for name in _LINES
        for number in [{**_OF_SPLITS, **_OF_LEAVES}[name]]
    )
    + rf"is_linear=0\nshrinkage={_REAL}\n\n\n"
)


class Trees:
    """A sum of regression trees.

    Parameters
    ----------
    text : str
        LightGBM's model text, up to "end of trees".
    n_features : int
        Columns of the rows that it is asked about.

    Raises
    ------
    ValueError
        If the text is anything else.
    """

    def __init__(self, text: str, n_features: int) -> None:
        _check(text, n_features)
        self.text, self._n_features = text, n_features

    @cached_property
    def _booster(self) -> Any:
        import lightgbm

        try:
            return lightgbm.Booster(model_str=self.text)
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
        found = self._booster.predict(rows, pred_contrib=True, num_threads=1)
        return np.asarray(found, dtype=np.float64)[:, :-1]


def trees_of(booster: Any, n_features: int) -> Trees:
    """The trees of a trained booster."""
    text = booster.model_to_string()
    return Trees(text[: text.index(_END)] + _END, n_features)


def _check(text: str, n_features: int) -> None:
    header = _HEADER.match(text) if text.isascii() else None
    if header is None:
        raise ValueError("is not LightGBM's text of regression trees")
    if int(header["last"]) + 1 != n_features:
        raise ValueError(f"has trees over {int(header['last']) + 1} features, not {n_features}")
    names = " ".join(f"Column_{place}" for place in range(n_features))
    if header["names"] != names or header["infos"].count(" ") != n_features - 1:
        raise ValueError("has trees over other features")
    sizes = [int(size) for size in header["sizes"].split(" ")]
    if not 0 < len(sizes) <= _MOST_TREES:
        raise ValueError(f"has {len(sizes):,} trees")
    places = list(accumulate(sizes, initial=header.end()))
    for number, (start, end) in enumerate(pairwise(places)):
        tree = _TREE.fullmatch(text, start, end)
        if tree is None or int(tree["number"]) != number or not _is_sound(tree, n_features):
            raise ValueError(f"has no sound tree {number}")
    if text[places[-1] :] != _END:
        raise ValueError("does not end behind its last tree")


def _is_sound(tree: re.Match[str], n_features: int) -> bool:
    """Whether every split and leaf but the root is the child of one split before it, and every number is in range."""
    n_leaves = int(tree["num_leaves"])
    if not 0 < n_leaves <= _MOST_LEAVES:
        return False
    of_splits = {name: tree[name].split() for name in _OF_SPLITS}
    of_leaves = {name: tree[name].split() for name in _OF_LEAVES}
    if max(abs(float(value)) for value in of_leaves["leaf_value"] or ["inf"]) > _LARGEST:
        return False
    if n_leaves == 1:  # written without weight and, from some versions on, with its count
        return (
            not any(of_splits.values()) and len(of_leaves["leaf_value"]) == 1 and not of_leaves["leaf_weight"]
        )
    children = [
        (parent, int(child))
        for name in ("left_child", "right_child")
        for parent, child in enumerate(of_splits[name])
    ]
    return (
        all(len(numbers) == n_leaves - 1 for numbers in of_splits.values())
        and all(len(numbers) == n_leaves for numbers in of_leaves.values())
        and all(0 <= int(feature) < n_features for feature in of_splits["split_feature"])
        # leaf k is written as -k - 1, and the root is split 0
        and sorted(child for _, child in children) == [*range(-n_leaves, 0), *range(1, n_leaves - 1)]
        and all(child < 0 or child > parent for parent, child in children)
    )
