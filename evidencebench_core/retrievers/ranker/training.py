"""Instances with gold -> a `RankerModel`, and its cross-validation by paper."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import EvidenceSet, Focus, Instance
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import Query, query_of
from evidencebench_core.retrievers.ranker.features import FEATURES, VERSION, Features, features_of
from evidencebench_core.retrievers.ranker.model import (
    N_TOPICS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    Selecting,
    TrainedOn,
    meaning,
    table_of,
)
from evidencebench_core.retrievers.ranker.trees import Trees, trees_of_booster

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Example", "Training", "example_of", "fitted", "folds_by_paper"]

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
_ROWS_KEPT: Final = 2_000_000
_FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")


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
    without : tuple of str
        Columns that are set to 0 (for the ablation).
    selecting : Selecting
    """

    seed: int = 0
    n_trees: int = _N_TREES
    weights: Mapping[str, float] | None = None
    without: tuple[int, ...] = ()
    selecting: Selecting = field(default_factory=Selecting)


@dataclass(frozen=True, slots=True)
class Example:
    """An instance, ready to be learnt from.

    Attributes
    ----------
    instance_id, paper_id : str
    evidence : EvidenceSet
    features : Features
    vectors : array of shape (1 + n, dimensions), float32
        Of length 1.
    """

    instance_id: str
    paper_id: str
    evidence: EvidenceSet
    features: Features
    vectors: NDArray[np.float32]


def example_of(instance: Instance, vectors: NDArray[np.float32]) -> Example:
    """The example of an instance, given the embeddings of its hypothesis and sentences."""
    import numpy as np

    query: Query = query_of(instance, "all", None)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(np.float32)
    return Example(instance.id, instance.paper_id, instance.evidence, features_of(query, unit), unit)


def folds_by_paper(examples: Sequence[Example], n_folds: int, seed: int = 0) -> tuple[int, ...]:
    """A fold for every example; instances of one paper share theirs.

    Raises
    ------
    SettingError
        If there are fewer papers than folds, or fewer than two folds.
    """
    import numpy as np

    papers = sorted({example.paper_id for example in examples})
    if not 2 <= n_folds <= len(papers):
        raise SettingError(
            "folds", f"is {n_folds}, with {len(papers)} papers", "Give at least 2, and no more than papers."
        )
    np.random.default_rng(seed).shuffle(papers)
    fold_of = {paper: place % n_folds for place, paper in enumerate(papers)}
    return tuple(fold_of[example.paper_id] for example in examples)


def targets(evidence: EvidenceSet, focus: Focus) -> dict[str, NDArray[np.float64]]:
    """What the members learn, one number a sentence.

    Returns
    -------
    dict
        ``evidence``: 1 where the sentence covers an aspect of the focus. ``aspects``: the share of the aspects
        that it covers. ``share``: ten times its share of the evidence, each aspect being divided evenly among
        its sentences.
    """
    import numpy as np

    covers = evidence.covers(focus)
    counts, share = np.zeros(evidence.n_sentences), np.zeros(evidence.n_sentences)
    for covering in covers:
        indices = list(covering)
        counts[indices] += 1
        share[indices] += 1 / len(indices)
    n = max(len(covers), 1)
    return {"evidence": (counts > 0).astype(float), "aspects": counts / n, "share": 10 * share / n}


def fitted(
    examples: Sequence[Example],
    *,
    encoder: str,
    encoder_identity: str,
    dataset: str,
    dataset_sha256: str,
    training: Training = Training(),
    notes: Mapping[str, object] | None = None,
) -> RankerModel:
    """Fit a model of each focus.

    Raises
    ------
    SettingError
        If no example has an aspect.
    """
    topics = _projection((example.vectors[1:] for example in examples), training.seed)
    shared = _projection((example.vectors[1:] * example.vectors[0] for example in examples), training.seed)
    focuses = {
        focus: _focus_model(members, focus, topics, shared, training)
        for focus in _FOCUSES
        if (members := [example for example in examples if example.evidence.focused(focus)])
    }
    if "all" not in focuses:
        raise SettingError(f"dataset {dataset}", "has no study aspects", "Train on a dataset with gold.")
    return RankerModel(
        encoder=encoder,
        encoder_identity=encoder_identity,
        topics=topics,
        shared_topics=shared,
        focuses=focuses,
        selecting=training.selecting,
        trained_on=TrainedOn(
            dataset,
            dataset_sha256,
            tuple(sorted(example.instance_id for example in examples)),
            tuple(sorted({example.paper_id for example in examples})),
        ),
        notes={
            "trained_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "features_version": VERSION,
            "n_instances": len(examples),
            "n_trees": training.n_trees,
            "seed": training.seed,
            **(notes or {}),
        },
    )


def _projection(blocks: Iterator[NDArray[np.float32]], seed: int, n_rows: int = 8_000) -> Projection:
    """Principal axes of up to so many rows, drawn evenly; signs fixed, numbers rounded as in the file."""
    import numpy as np

    rows = np.concatenate(list(blocks))
    if len(rows) > n_rows:
        rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), n_rows, replace=False))]
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
    examples: Sequence[Example], focus: Focus, topics: Projection, shared: Projection, training: Training
) -> FocusModel:
    import numpy as np

    wanted = [targets(example.evidence, focus) for example in examples]
    learnt = {
        name: np.concatenate([one[name] for one in wanted]) for name in ("evidence", "aspects", "share")
    }
    columns = np.concatenate(
        [table_of(example.features, example.vectors, topics, shared) for example in examples]
    )
    embedding = np.concatenate([meaning(example.vectors) for example in examples])
    columns[:, list(training.without)] = 0
    both = sum(learnt[name] / (learnt[name].std() + 1e-9) for name in ("aspects", "share"))
    weights = {**_WEIGHTS, **(training.weights or {})}
    return FocusModel(
        trees={name: _trees(columns, target, training) for name, target in learnt.items()},
        features=_ridge(columns[:, : len(FEATURES)], both, _RIDGE["features"]),
        embedding=_ridge(embedding, both, _RIDGE["embedding"]),
        weights=weights,
    )


def _trees(columns: NDArray[np.float32], target: NDArray[np.float64], training: Training) -> Trees:
    import lightgbm

    data = lightgbm.Dataset(columns, target, params={"verbose": -1})
    booster = lightgbm.train({**_TREES, "seed": training.seed}, data, training.n_trees)
    return trees_of_booster(booster.dump_model())


def _ridge(rows: NDArray[np.float32], target: NDArray[np.float64], penalty: float) -> Linear:
    """Ridge regression on standardised columns (Hoerl and Kennard, 1970), weights for the columns as they are."""
    import numpy as np

    means, spreads = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    spreads[spreads < 1e-6] = np.inf
    standard = (rows - means) / spreads
    gram = standard.T @ standard
    gram[np.diag_indices_from(gram)] += penalty
    weights = np.linalg.solve(gram, standard.T @ (target - target.mean())) / spreads
    return Linear(
        np.array([float(f"{weight:.6g}") for weight in weights]),
        np.array([float(f"{mean:.6g}") for mean in means]),
    )
