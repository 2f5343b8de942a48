"""Gradient-boosted regression trees as plain arrays: read from JSON, asked and explained by numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.ranker.leaf_masks import LeafMasks, leaf_masks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Trees", "trees_from_json", "trees_of_booster"]

_MOST_NODES = 4_000_000


@dataclass(frozen=True, slots=True)
class Trees:
    """A sum of trees. Nodes of all trees stand in one row of arrays; a leaf is its own child.

    Attributes
    ----------
    roots : array of shape (trees,), int32
    feature, left, right : arrays of shape (nodes,), int32
        A node sends a row to ``left`` where ``row[feature] <= threshold``, to ``right`` otherwise.
    threshold, value : arrays of shape (nodes,), float64
        ``value`` of an inner node is the mean of what is below it, weighted by the training rows.
    depth : int
        Steps from a root to the deepest leaf.
    masks : LeafMasks or None
        The same trees, for quick scores; ``None`` where they are too large for that.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]
    depth: int
    masks: LeafMasks | None = field(default=None, compare=False, repr=False)

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sum over the trees, one number a row."""
        import numpy as np

        if self.masks is not None:
            return np.asarray(self.masks.values(rows).sum(axis=1))
        flat, width = rows.ravel(), rows.shape[1]
        offsets = (np.arange(len(rows), dtype=np.int64) * width)[:, None]
        nodes = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            goes_left = flat[offsets + self.feature[nodes]] <= self.threshold[nodes]
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
        total: NDArray[np.float64] = self.value[nodes].sum(axis=1)
        return total

    def contributions(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each feature adds to each row's score, against the mean over the training rows.

        Returns
        -------
        array of shape (rows, features)
            With the sum of the roots' values, each line sums up to the row's score.

        Notes
        -----
        At every split the change of the expected value is credited to the feature split on (Saabas,
        "Interpreting random forests", 2014).
        """
        import numpy as np

        found = np.zeros(rows.shape)
        lines = np.arange(len(rows))[:, None]
        nodes = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            feature = self.feature[nodes]
            goes_left = rows[lines, feature] <= self.threshold[nodes]
            below = np.where(goes_left, self.left[nodes], self.right[nodes])
            np.add.at(found, (lines, feature), self.value[below] - self.value[nodes])
            nodes = below
        return found

    def as_json(self) -> dict[str, list[float]]:
        """Lists for a JSON document; numbers are rounded to six significant digits by `trees_of_booster`."""
        return {
            "roots": self.roots.tolist(),
            "feature": self.feature.tolist(),
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            "threshold": self.threshold.tolist(),
            "value": self.value.tolist(),
        }


def trees_from_json(raw: object, n_features: int, place: str) -> Trees:
    """Trees from what `Trees.as_json` gave, every promise checked; nothing in it can run or loop.

    Raises
    ------
    RetrieverError
        If a list is missing, of another length, or points outside.
    """
    import numpy as np

    def refuse(problem: str) -> RetrieverError:
        return RetrieverError(place, problem, "Train the model again: evidencebench train-ranker.")

    if not isinstance(raw, Mapping):
        raise refuse(f"has {shown(raw)} where trees should be")
    arrays: dict[str, Any] = {}
    for name in ("roots", "feature", "left", "right", "threshold", "value"):
        listed = raw.get(name)
        if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_NODES:
            raise refuse(f"has no list {name!r}")
        kind = np.float64 if name in ("threshold", "value") else np.int32
        if not all(
            type(number) is int or (kind is np.float64 and type(number) is float) for number in listed
        ):
            raise refuse(f"has something other than numbers in {name!r}")
        try:
            arrays[name] = np.array(listed, dtype=kind)
        except OverflowError:
            raise refuse(f"has a number out of range in {name!r}") from None
    n_nodes = len(arrays["value"])
    if any(len(arrays[name]) != n_nodes for name in ("feature", "left", "right", "threshold")):
        raise refuse("has lists of different lengths")
    if not (np.isfinite(arrays["value"]).all() and np.isfinite(arrays["threshold"]).all()):
        raise refuse("has a number that is not finite")
    here = np.arange(n_nodes)
    for name in ("left", "right"):
        child = arrays[name]
        if (child < 0).any() or (child >= n_nodes).any() or (child < here).any():
            raise refuse(f"points outside or backwards in {name!r}")
    if ((arrays["left"] == here) != (arrays["right"] == here)).any():
        raise refuse("has half a leaf")
    for name, limit in (("feature", n_features), ("roots", n_nodes)):
        if (arrays[name] < 0).any() or (arrays[name] >= limit).any():
            raise refuse(f"points outside in {name!r}")
    return Trees(**arrays, depth=_depth(arrays["left"], arrays["right"]), masks=leaf_masks(**arrays))


def _depth(left: NDArray[np.int32], right: NDArray[np.int32]) -> int:
    """Steps to the deepest leaf; children stand behind their parents, so one pass is enough."""
    import numpy as np

    depths = np.zeros(len(left), dtype=np.int64)
    for node in range(len(left)):
        for child in (left[node], right[node]):
            if child != node:
                depths[child] = max(depths[child], depths[node] + 1)
    return int(depths.max())


def trees_of_booster(dumped: Mapping[str, Any], scale: float = 1.0) -> Trees:
    """Trees from ``lightgbm.Booster.dump_model()``, their values multiplied by ``scale``."""
    columns: dict[str, list[float]] = {
        name: [] for name in ("roots", "feature", "left", "right", "threshold", "value")
    }
    for tree in dumped["tree_info"]:
        columns["roots"].append(len(columns["value"]))
        _append(tree["tree_structure"], columns, scale)
    n_features = int(dumped["max_feature_idx"]) + 1
    return trees_from_json(columns, n_features, "trees")


def _append(node: Mapping[str, Any], columns: dict[str, list[float]], scale: float) -> int:
    """Put a node and all below it at the end of the columns; its place."""
    place = len(columns["value"])
    is_leaf = "leaf_value" in node
    value = float(node["leaf_value" if is_leaf else "internal_value"]) * scale
    columns["feature"].append(0 if is_leaf else int(node["split_feature"]))
    columns["threshold"].append(0.0 if is_leaf else float(f"{float(node['threshold']):.7g}"))
    columns["value"].append(float(f"{value:.6g}"))
    columns["left"].append(place)
    columns["right"].append(place)
    if not is_leaf:
        columns["left"][place] = _append(node["left_child"], columns, scale)
        columns["right"][place] = _append(node["right_child"], columns, scale)
    return place
