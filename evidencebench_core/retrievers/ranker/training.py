"""Examples -> a `RankerModel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.ranker.examples import FOCUSES, Example
from evidencebench_core.retrievers.ranker.features import FEATURES, VERSION
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_TOPICS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    Selecting,
    TrainedOn,
    meaning,
    tree_columns,
)
from evidencebench_core.retrievers.ranker.trees import Trees, trees_of

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
    "force_row_wise": True,
}
_RIDGE: Final = {"features": 300.0, "embedding": 3000.0}
_WEIGHTS: Final = {"evidence": 1.0, "aspects": 1.0, "share": 1.0, "features": 2.0, "embedding": 2.0}
_PROJECTED_FROM: Final = 8_000  # rows
_CONSTANT: Final = 1e-6  # some dimensions of MiniLM vary by less
_EMBEDDING_ROWS: Final = 100_000  # the most that the linear model of the embeddings reads: 460 MB


@dataclass(frozen=True, slots=True)
class Training:
    """What a training may be told beside its data.

    Attributes
    ----------
    seed : int
    n_trees : int
        Of each of the three sums of trees.
    without : tuple of int
        Places in `COLUMNS` of those that are set to 0 (for the ablation).
    """

    seed: int = 0
    n_trees: int = 250
    without: tuple[int, ...] = ()
    selecting: Selecting = field(default_factory=Selecting)


@dataclass(frozen=True, slots=True)
class Encoder:
    """The setting that names the embedding model, and the hash of its weights."""

    name: str
    identity: str


def fit_ranker(
    examples: Sequence[Example],
    encoder: Encoder,
    trained_on: TrainedOn,
    training: Training,
    notes: Mapping[str, object] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> RankerModel:
    """Fit a model of each focus.

    The same examples and settings give the same model, but for what the linear algebra of another
    processor rounds otherwise.

    Parameters
    ----------
    examples : sequence of Example
    encoder : Encoder
        Whose vectors the examples hold.
    trained_on : TrainedOn
    training : Training
    notes : mapping of str to object, optional
        More for the model's notes. JSON values.
    stopped : callable
        Asked before every sum of trees; once it says true, the fit is given up.

    Raises
    ------
    SettingError
        If no example has an aspect.
    InterruptedError
        If it was stopped.
    """
    if not any("all" in one.targets for one in examples):
        raise SettingError(
            f"dataset {trained_on.dataset}", "has no study aspects", "Train on a dataset with gold."
        )
    n_rows = sum(len(one.rows) for one in examples)
    drawn = np.arange(n_rows)
    if n_rows > _PROJECTED_FROM:
        drawn = np.sort(np.random.default_rng(training.seed).choice(n_rows, _PROJECTED_FROM, replace=False))
    topics = _projection(np.concatenate([one.vectors[1:] for one in examples])[drawn])
    shared = _projection(np.concatenate([one.vectors[1:] * one.vectors[0] for one in examples])[drawn])
    return RankerModel(
        encoder=encoder.name,
        encoder_identity=encoder.identity,
        topics=topics,
        shared_topics=shared,
        focuses={
            focus: _focus_model(some, focus, (topics, shared), training, stopped)
            for focus in FOCUSES
            if (some := [one for one in examples if focus in one.targets])
        },
        selecting=training.selecting,
        trained_on=trained_on,
        notes={
            "features_version": VERSION,
            "n_instances": len(examples),
            "n_sentences": n_rows,
            "n_trees": training.n_trees,
            "seed": training.seed,
            **(notes or {}),
        },
    )


def _projection(rows: NDArray[np.float32]) -> Projection:
    """The first principal axes, scaled so that coordinates are about 1 in size; zeros where there are fewer."""
    from sklearn.decomposition import PCA

    found = PCA(min(N_TOPICS, *rows.shape), svd_solver="covariance_eigh").fit(rows.astype(np.float64))
    axes = np.zeros((N_TOPICS, rows.shape[1]), dtype=np.float32)
    size = float(np.sqrt((((rows - found.mean_) @ found.components_.T) ** 2).mean()))
    axes[: found.n_components_] = found.components_ / max(size, 1e-9)
    return Projection(found.mean_.astype(np.float32), axes)


def _focus_model(
    examples: Sequence[Example],
    focus: Focus,
    projections: tuple[Projection, Projection],
    training: Training,
    stopped: Callable[[], bool],
) -> FocusModel:
    import lightgbm

    learnt = {
        name: np.concatenate([one.targets[focus][name] for one in examples])
        for name in ("evidence", "aspects", "share")
    }
    counts = np.concatenate([one.weights for one in examples])
    weights = None if (counts == 1).all() else counts
    columns = np.concatenate([tree_columns(one.rows, one.vectors, *projections) for one in examples])
    columns[:, list(training.without)] = 0
    aspects, share = (learnt[name] / (_spread(learnt[name], weights) + 1e-9) for name in ("aspects", "share"))
    both = aspects + share
    parameters = {**_TREES, "seed": training.seed}
    # binned once for the three targets
    data = lightgbm.Dataset(columns, learnt["evidence"], weight=weights, params=parameters)
    trees: dict[str, Trees] = {}
    for name, target in learnt.items():
        if stopped():
            raise InterruptedError
        data.set_label(target)
        trees[name] = trees_of(lightgbm.train(parameters, data, training.n_trees), len(COLUMNS))
    features = _ridge(columns[:, : len(FEATURES)], both, weights, _RIDGE["features"])
    step = -(
        -len(columns) // _EMBEDDING_ROWS
    )  # of each paper every so many rows, the penalty shrinking with them
    read = np.concatenate([np.arange(len(one.rows)) % step == 0 for one in examples])
    meanings = np.concatenate([meaning(one.vectors, one.centre)[::step] for one in examples])
    embedding = _ridge(
        meanings, both[read], None if weights is None else weights[read], _RIDGE["embedding"] / step
    )
    return FocusModel(trees, features, embedding, _WEIGHTS)


def _spread(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Standard deviation, weighted."""
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def _ridge(
    rows: NDArray[np.float32],
    target: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    penalty: float,
) -> Linear:
    """Ridge regression on standardised columns, its weights for the columns as they were; ``rows`` are changed."""
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(copy=False).fit(rows, sample_weight=weights)
    scaler.scale_[scaler.scale_ < _CONSTANT] = 1.0
    ridge = Ridge(penalty, solver="cholesky", copy_X=False)
    found = ridge.fit(scaler.transform(rows), target, sample_weight=weights)
    return Linear(found.coef_.astype(np.float64) / scaler.scale_, scaler.mean_)
