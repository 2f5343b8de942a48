"""Examples -> a `RankerModel`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.ranker.examples import FOCUSES, Example
from evidencebench_core.retrievers.ranker.features import FEATURES, VERSION
from evidencebench_core.retrievers.ranker.model import (
    N_TOPICS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    Selecting,
    TrainedOn,
    meaning,
    projected,
)
from evidencebench_core.retrievers.ranker.trees import Trees, trees_of_booster

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoder", "Training", "fitted"]

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
_N_TREES: Final = 250
_RIDGE: Final = {"features": 300.0, "embedding": 3000.0}
_WEIGHTS: Final = {"evidence": 1.0, "aspects": 1.0, "share": 1.0, "features": 2.0, "embedding": 2.0}
_LEARNT: Final = ("evidence", "aspects", "share")


@dataclass(frozen=True, slots=True)
class Training:
    """What a training may be told beside its data.

    Attributes
    ----------
    seed : int
    n_trees : int
        Of each of the three sums of trees.
    weights : mapping of str to float
        Of the members; 0 leaves one out (for the ablation).
    without : tuple of int
        Places in `COLUMNS` of those that are set to 0 (for the ablation).
    selecting : Selecting
    """

    seed: int = 0
    n_trees: int = _N_TREES
    weights: Mapping[str, float] | None = None
    without: tuple[int, ...] = ()
    selecting: Selecting = field(default_factory=Selecting)


@dataclass(frozen=True, slots=True)
class Encoder:
    """The setting that names the embedding model, and the hash of its weights."""

    name: str
    identity: str


def fitted(
    examples: Sequence[Example],
    encoder: Encoder,
    trained_on: TrainedOn,
    training: Training,
    notes: Mapping[str, object] | None = None,
    stopped: Callable[[], bool] | None = None,
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
    stopped : callable, optional
        Asked before every sum of trees; once it says true, the fit is given up.

    Raises
    ------
    SettingError
        If no example has an aspect.
    InterruptedError
        If it was stopped.
    """
    members = {focus: [one for one in examples if focus in one.targets] for focus in FOCUSES}
    if not members["all"]:
        raise SettingError(
            f"dataset {trained_on.dataset}", "has no study aspects", "Train on a dataset with gold."
        )
    n_all = sum(len(one.rows) for one in examples)
    topics = _projection(lambda: (one.vectors[1:] for one in examples), n_all, training.seed)
    shared = _projection(lambda: (one.vectors[1:] * one.vectors[0] for one in examples), n_all, training.seed)
    meanings = _meanings(members["all"])
    focuses = {
        focus: _focus_model(some, focus, (topics, shared), meanings[focus], training, stopped or _never)
        for focus, some in members.items()
        if some
    }
    return RankerModel(
        encoder=encoder.name,
        encoder_identity=encoder.identity,
        topics=topics,
        shared_topics=shared,
        focuses=focuses,
        selecting=training.selecting,
        trained_on=trained_on,
        notes={
            "features_version": VERSION,
            "n_instances": len(examples),
            "n_sentences": n_all,
            "n_trees": training.n_trees,
            "seed": training.seed,
            **(notes or {}),
        },
    )


def _never() -> bool:
    return False


def _projection(
    blocks: Callable[[], Iterable[NDArray[np.float32]]], n_all: int, seed: int, n_rows: int = 8_000
) -> Projection:
    """Principal axes of up to so many rows, drawn evenly; signs fixed, numbers rounded as in the file."""
    import numpy as np

    kept = np.arange(n_all)
    if n_all > n_rows:
        kept = np.sort(np.random.default_rng(seed).choice(n_all, n_rows, replace=False))
    rows = np.concatenate(
        [
            block[kept[np.searchsorted(kept, part.start) : np.searchsorted(kept, part.stop)] - part.start]
            for block, part in _parts(blocks())
        ]
    )
    mean = rows.mean(axis=0)
    _, vectors = np.linalg.eigh((rows - mean).T.astype(np.float64) @ (rows - mean))
    axes = vectors.T[::-1][:N_TOPICS]
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    axes = axes / max(float(np.sqrt((((rows - mean) @ axes.T) ** 2).mean())), 1e-9)
    return Projection(_rounded(mean), _rounded(axes))


def _rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    return np.array([float(f"{value:.5g}") for value in values.ravel()], dtype=np.float32).reshape(
        values.shape
    )


def _focus_model(
    examples: Sequence[Example],
    focus: Focus,
    projections: tuple[Projection, Projection],
    meanings: _Moments,
    training: Training,
    stopped: Callable[[], bool],
) -> FocusModel:
    import lightgbm
    import numpy as np

    learnt = {name: np.concatenate([one.targets[focus][name] for one in examples]) for name in _LEARNT}
    counted = None
    if any(one.weights is not None for one in examples):
        counted = np.concatenate(
            [np.ones(len(one.rows)) if one.weights is None else one.weights for one in examples]
        )
    columns = np.concatenate(
        [
            np.concatenate([one.rows, projected(one.vectors, *projections)], axis=1, dtype=np.float32)
            for one in examples
        ]
    )
    columns[:, list(training.without)] = 0
    aspects, share = (learnt[name] / (_spread(learnt[name], counted) + 1e-9) for name in ("aspects", "share"))
    both = aspects + share
    # binned once for the three targets
    data = lightgbm.Dataset(
        columns, learnt["evidence"], weight=counted, params={**_TREES, "seed": training.seed}
    )
    trees: dict[str, Trees] = {}
    for name, target in learnt.items():
        if stopped():
            raise InterruptedError
        data.set_label(target)
        booster = lightgbm.train({**_TREES, "seed": training.seed}, data, training.n_trees)
        trees[name] = trees_of_booster(booster.dump_model())
    rows = columns[:, : len(FEATURES)]
    plain = _moments([(rows, counted)], rows.mean(axis=0, dtype=np.float64))
    blocks = (meaning(one.vectors, one.centre) for one in examples)
    return FocusModel(
        trees=trees,
        features=_ridge(plain, [rows], both, counted, _RIDGE["features"]),
        embedding=_ridge(meanings, blocks, both, counted, _RIDGE["embedding"]),
        weights={**_WEIGHTS, **(training.weights or {})},
    )


def _meanings(examples: Sequence[Example]) -> dict[Focus, _Moments]:
    """The moments of what the linear model of the embeddings looks at, by focus.

    Nearly all instances have results, so what both focuses share is summed once.
    """
    import numpy as np

    origin = np.stack([meaning(one.vectors, one.centre).mean(axis=0) for one in examples]).mean(
        axis=0, dtype=np.float64
    )

    def summed(results: bool) -> _Moments:
        return _moments(
            (
                (meaning(one.vectors, one.centre), one.weights)
                for one in examples
                if ("results" in one.targets) == results
            ),
            origin,
        )

    results = summed(True)
    return {"all": results + summed(False), "results": results}


def _spread(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Standard deviation, weighted."""
    import numpy as np

    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


@dataclass(frozen=True, slots=True)
class _Moments:
    """Weighted sums over rows, counted from a point near their mean, so that nothing cancels out."""

    origin: NDArray[np.float64]
    whole: float
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def __add__(self, other: _Moments) -> _Moments:
        return _Moments(
            self.origin, self.whole + other.whole, self.first + other.first, self.second + other.second
        )


def _moments(
    blocks: Iterable[tuple[NDArray[np.float32], NDArray[np.float64] | None]], origin: NDArray[np.float64]
) -> _Moments:
    """Of blocks of rows with their weights, so that all rows need never stand in memory at once."""
    import numpy as np

    whole, first = 0.0, np.zeros(len(origin))
    second = np.zeros((len(origin), len(origin)))
    start = origin.astype(np.float32)
    for block, weights in blocks:
        moved = block - start
        weighted = moved if weights is None else moved * weights[:, None].astype(np.float32)
        whole += len(block) if weights is None else float(weights.sum())
        first += weighted.sum(axis=0, dtype=np.float64)
        second += weighted.T @ moved
    return _Moments(start.astype(np.float64), whole, first, second)


def _ridge(
    moments: _Moments,
    blocks: Iterable[NDArray[np.float32]],
    target: NDArray[np.float64],
    counted: NDArray[np.float64] | None,
    penalty: float,
) -> Linear:
    """Ridge regression on standardised columns (Hoerl and Kennard, 1970), weights for the columns as they are.

    ``blocks`` are the rows of ``moments`` once more.
    """
    import numpy as np

    mean = moments.first / moments.whole
    spreads = np.sqrt(np.maximum(np.diagonal(moments.second) / moments.whole - mean**2, 0))
    spreads[spreads < 1e-6] = np.inf
    gram = (moments.second - moments.whole * np.outer(mean, mean)) / np.outer(spreads, spreads)
    gram[np.diag_indices_from(gram)] += penalty
    centred = target - np.average(target, weights=counted)
    if counted is not None:
        centred = centred * counted
    with_target = np.zeros(len(mean))
    for block, part in _parts(blocks):
        with_target += centred[part] @ block
    with_target = (with_target - centred.sum() * moments.origin) / spreads
    found = np.linalg.solve(gram, with_target) / spreads
    return Linear(
        np.array([float(f"{weight:.6g}") for weight in found]),
        np.array([float(f"{value:.6g}") for value in moments.origin + mean]),
    )


def _parts(
    blocks: Iterable[NDArray[np.float32]],
) -> Iterator[tuple[NDArray[np.float32], slice]]:
    """Each block with its place among all rows."""
    start = 0
    for block in blocks:
        yield block, slice(start, start + len(block))
        start += len(block)
