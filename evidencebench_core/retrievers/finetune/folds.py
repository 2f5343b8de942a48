"""Parts of a dataset that share no paper."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["paper_folds"]


def paper_folds(paper_ids: Sequence[str], n_folds: int, seed: int) -> list[int]:
    """The fold of each instance, 0 to ``n_folds`` - 1; instances of one paper share a fold.

    Papers are shuffled and dealt out in turn, so folds hold equally many of them, give or take one.
    Which papers come together does not hang on the order of the instances.

    Parameters
    ----------
    paper_ids : sequence of str
        One an instance.
    n_folds : int
        2 or more; with fewer papers than folds, some folds are empty.
    seed : int
    """
    import numpy as np

    papers = sorted(set(paper_ids))
    order = np.random.default_rng(seed).permutation(len(papers))
    fold_of = {papers[paper]: place % n_folds for place, paper in enumerate(order)}
    return [fold_of[paper] for paper in paper_ids]
