"""Examples -> a `RankerModel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.encoding import model_identity
from evidencebench_core.retrievers.ranker.examples import FOCUSES, Example
from evidencebench_core.retrievers.ranker.features import VERSION, on_grid
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_STYLES,
    N_TOPICS,
    OWN_COLUMNS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    meaning,
    network_columns,
    tree_columns,
)
from evidencebench_core.retrievers.ranker.network import fit_network
from evidencebench_core.retrievers.ranker.selection import Selecting
from evidencebench_core.retrievers.ranker.trees import trees_of
from evidencebench_core.retrievers.trained_on import TrainedOn

_TREES: Final = {
    "objective": "regression",
    "learning_rate": 0.03,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
_RIDGE: Final = 3000.0
_TARGETS: Final = ("evidence", "aspects", "share")
_WEIGHTS: Final = {
    "evidence": 1.0,
    "aspects": 1.0,
    "share": 1.0,
    "embedding": 2.0,
    "network": 14.0,
}
_SHARPNESS: Final = 3.0
_PROJECTED_FROM: Final = 8_000  # rows
_CONSTANT: Final = 1e-6  # some dimensions of MiniLM vary by less
_NO_VARIANCE: Final = 1e-9  # of an axis, as a share of the first one's
_EMBEDDING_ROWS: Final = 100_000  # the most that the linear model of the embeddings reads: 460 MB


@dataclass(frozen=True, slots=True)
class Training:
    """Options of a training."""

    seed: int = 0
    n_trees: int = 250  # of each of the three sums of trees
    n_epochs: int = 15  # of the network


def fit_ranker(
    examples: Sequence[Example],
    encoder: str,
    training: Training,
    stopped: Callable[[], bool] = lambda: False,
) -> RankerModel:
    """Fit a model of each focus to examples that hold the vectors of an embedding model.

    The same examples and settings give the same model, to the last digit, whatever the processor and the number of
    threads. ``stopped`` is asked before every sum of trees; once it says true, the fit is given up with
    an InterruptedError.
    """
    if not any("all" in one.targets for one in examples):
        raise SettingError("training set", "has no study aspects", "Train on a dataset with gold.")
    n_rows = sum(len(one.rows) for one in examples)  # of all their sentences
    drawn = np.arange(n_rows)
    if n_rows > _PROJECTED_FROM:
        drawn = np.sort(np.random.default_rng(training.seed).choice(n_rows, _PROJECTED_FROM, replace=False))
    topics = _projection(np.concatenate([one.vectors[1:] for one in examples])[drawn])
    shared = _projection(np.concatenate([one.vectors[1:] * one.vectors[0] for one in examples])[drawn])
    ids, papers = {one.instance_id for one in examples}, {one.paper_id for one in examples}
    styles = _projection(np.concatenate([one.vectors[1:] for one in examples])[drawn], N_STYLES)
    inputs = []
    for one in examples:
        columns = tree_columns(one.rows, one.vectors, topics, shared)
        inputs.append(network_columns(columns, styles.of(one.vectors[1:]))[one.chosen])
    network = fit_network(
        inputs,
        [one.weights for one in examples],
        [[one.covering[focus] for focus in FOCUSES] for one in examples],
        len(OWN_COLUMNS),
        training.seed,
        training.n_epochs,
        stopped,
    )
    return RankerModel(
        encoder=encoder,
        encoder_identity=model_identity(encoder),
        topics=topics,
        shared_topics=shared,
        styles=styles,
        network=network,
        focuses={
            focus: _focus_model(some, focus, (topics, shared), training, stopped)
            for focus in FOCUSES
            if (some := [one for one in examples if focus in one.targets])
        },
        selecting=Selecting(sharpness=_SHARPNESS),
        trained_on=TrainedOn("", tuple(sorted(ids)), tuple(sorted(papers))),
        notes={
            "features_version": VERSION,
            "n_instances": len(examples),
            "n_sentences": sum(len(one.chosen) for one in examples),
            "n_trees": training.n_trees,
            "seed": training.seed,
        },
    )


def _projection(rows: NDArray[np.float32], n_axes: int = N_TOPICS) -> Projection:
    """The first principal axes, scaled so that coordinates are about 1 in size; zeros where there are fewer."""
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    centred = rows.astype(np.float64) - mean
    variances, found = np.linalg.eigh(centred.T @ centred / len(rows))
    variances, found = variances[: -n_axes - 1 : -1], found[:, : -n_axes - 1 : -1].T
    found *= np.sign(found[np.arange(len(found)), np.abs(found).argmax(axis=1)])[:, None]
    found[variances <= _NO_VARIANCE * variances[0]] = 0
    axes = np.zeros((n_axes, rows.shape[1]), dtype=np.float32)
    size = max(float(np.sqrt(variances.mean().clip(0))), 1e-9)
    axes[: len(found)] = _rounded(found / size)
    return Projection(mean, axes)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without the digits that the linear algebra of another processor, or another number of threads, may differ in.

    To some 2**-16 of the largest: these algorithms err by some 2**-43 of it.
    """
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return on_grid(values, 2.0 ** (int(exponent) - 17))


def _focus_model(
    examples: Sequence[Example],
    focus: Focus,
    projections: tuple[Projection, Projection],
    training: Training,
    stopped: Callable[[], bool],
) -> FocusModel:
    import lightgbm

    targets = {name: np.concatenate([one.targets[focus][name] for one in examples]) for name in _TARGETS}
    counts = np.concatenate([one.weights for one in examples])
    weights = None if (counts == 1).all() else counts
    columns = np.concatenate(
        [tree_columns(one.rows, one.vectors, *projections)[one.chosen] for one in examples]
    )
    parameters = {**_TREES, "seed": training.seed}
    # binned once for the three targets
    data = lightgbm.Dataset(columns, targets["evidence"], weight=weights, params=parameters)
    trees = {}
    for name, target in targets.items():
        if stopped():
            raise InterruptedError
        data.set_label(target)
        trees[name] = trees_of(lightgbm.train(parameters, data, training.n_trees), len(COLUMNS))
    aspects, share = (targets[name] / (_spread(targets[name], counts) + 1e-9) for name in _TARGETS[1:])
    both = aspects + share
    # of each paper every so many rows, the penalty shrinking with them
    step = -(-len(columns) // _EMBEDDING_ROWS)
    read = np.concatenate([np.arange(len(one.chosen)) % step == 0 for one in examples])
    meanings = [meaning(one.vectors)[one.chosen[::step]] for one in examples]
    embedding = _ridge(meanings, both[read], counts[read], _RIDGE / step)
    return FocusModel(trees, embedding, _WEIGHTS)


def _spread(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Standard deviation, weighted."""
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def _ridge(
    blocks: Sequence[NDArray[np.float32]],
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalty: float,
) -> Linear:
    """Ridge regression on standardised columns, its weights for the columns as they were; all sums in float64."""
    ends = np.cumsum([len(block) for block in blocks])[:-1]
    parts = list(zip(blocks, np.split(weights, ends), strict=True))
    whole, n_columns = weights.sum(), blocks[0].shape[1]
    means = np.zeros(n_columns)
    for block, counts in parts:
        means += counts @ block.astype(np.float64)
    means = (means / whole).astype(np.float32).astype(np.float64)
    errors = np.split((target - np.average(target, weights=weights)) * np.sqrt(weights), ends)
    products, towards = np.zeros((n_columns, n_columns)), np.zeros(n_columns)
    for (block, counts), error in zip(parts, errors, strict=True):
        centred = (block - means) * np.sqrt(counts)[:, None]
        products += centred.T @ centred
        towards += error @ centred
    scale = np.sqrt(products.diagonal() / whole)
    varies = scale >= _CONSTANT
    scale[~varies], towards[~varies] = 1.0, 0.0
    products /= np.outer(scale, scale)
    found = np.linalg.solve(products + penalty * np.eye(n_columns), towards / scale)
    return Linear(_rounded(found) / scale.astype(np.float32), means)
