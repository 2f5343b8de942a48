"""Many small trees at once, without walking: every split rules out leaves, and the first that is left counts.

Lucchese et al., "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees"
(SIGIR 2015), over arrays of rows and trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LeafMasks", "leaf_masks"]

_MOST_LEAVES: Final = 32


@dataclass(frozen=True, slots=True)
class LeafMasks:
    """The splits of trees, the k-th of every tree in row k.

    Attributes
    ----------
    feature, threshold : arrays of shape (splits, trees)
        ``threshold`` is float32, rounded down: no float32 number lies between it and the one before.
    mask : array of shape (splits, trees), uint32
        The leaves that are left where a row goes right.
    value : array of shape (trees * leaves,), float64
    n_leaves : int
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float32]
    mask: NDArray[np.uint32]
    value: NDArray[np.float64]
    n_leaves: int

    def values(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The value of each row in each tree, shape (rows, trees)."""
        import numpy as np

        n_trees = self.mask.shape[1]
        left = np.full((len(rows), n_trees), np.uint32(2**32 - 1))
        for feature, threshold, mask in zip(self.feature, self.threshold, self.mask, strict=True):
            goes_left = rows[:, feature] <= threshold
            left &= mask | (np.uint32(0) - goes_left)
        first = left & (~left + np.uint32(1))
        leaf = np.frexp(first.astype(np.float32))[1] - 1
        found: NDArray[np.float64] = self.value[leaf + np.arange(n_trees) * self.n_leaves]
        return found


def leaf_masks(
    roots: NDArray[np.int32],
    feature: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    threshold: NDArray[np.float64],
    value: NDArray[np.float64],
) -> LeafMasks | None:
    """The same trees as masks; ``None`` where one has more than 32 leaves, or is no tree."""
    import numpy as np

    trees = []
    for root in roots.tolist():
        leaves: list[int] = []
        splits: list[tuple[int, int]] = []
        if not _walked(root, left, right, leaves, splits):
            return None
        trees.append((leaves, splits))
    n_leaves, n_splits = (max(len(tree[part]) for tree in trees) for part in (0, 1))
    features = np.zeros((n_splits, len(trees)), dtype=np.int64)
    thresholds = np.full((n_splits, len(trees)), np.inf, dtype=np.float32)
    masks = np.full((n_splits, len(trees)), np.uint32(2**32 - 1))
    values = np.zeros((len(trees), n_leaves))
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
    near = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    for number, (leaves, splits) in enumerate(trees):
        values[number, : len(leaves)] = value[leaves]
        for place, (node, mask) in enumerate(splits):
            features[place, number], thresholds[place, number] = feature[node], near[node]
            masks[place, number] = mask
    return LeafMasks(features, thresholds, masks, values.ravel(), n_leaves)


def _walked(
    node: int,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    leaves: list[int],
    splits: list[tuple[int, int]],
) -> bool:
    """Put the leaves below a node, from left to right, and its splits into the lists; whether they are few."""
    if len(leaves) >= _MOST_LEAVES or len(splits) >= _MOST_LEAVES:
        return False
    if left[node] == node:
        leaves.append(node)
        return True
    start, place = len(leaves), len(splits)
    splits.append((node, 0))
    if not _walked(int(left[node]), left, right, leaves, splits):
        return False
    gone = (1 << len(leaves)) - (1 << start)
    splits[place] = (node, (2**32 - 1) & ~gone)
    return _walked(int(right[node]), left, right, leaves, splits)
