"""Instances with gold -> a `Ranker`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus, Instance, paper_key
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.encoding import Encoder, model_identity
from evidencebench_core.retrievers.ranker.features import Features, features_of, unit_vectors
from evidencebench_core.retrievers.ranker.model import (
    FOCUSES,
    LARGEST_INPUT,
    N_OWN,
    N_TOPICS,
    TOPICS,
    Network,
    Projection,
    Ranker,
    columns_of,
)
from evidencebench_core.retrievers.ranker.selection import Selecting

if TYPE_CHECKING:
    import torch

N_NETWORKS: Final = 6  # of other starts, averaged; every other one does not see the sentences around
N_UNITS: Final = 64  # of one network
N_EPOCHS: Final = 15
_BATCH: Final = 8  # papers
_RATE: Final = 3e-3  # the highest, after _WARM of the steps
_WARM: Final = 0.15
_N_TREES: Final = 250
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
_SELECTING: Final = Selecting(sharpness=4.0, closeness=1.5, overlap_weight=0.2)
# What was learnt from quotes alone is carried to complete gold with closeness to the hypothesis beside it, and with
# more picks that are alike.
_SUFFICIENT_SELECTING: Final = Selecting(sharpness=4.0, closeness=4.0, overlap_weight=0.5)
_SUFFICIENT_COSINE_WEIGHT: Final = 0.5
_SUFFICIENT_WEIGHT: Final = 0.01  # of each wording
_MOST_ROWS: Final = 8_000  # that principal axes are found in


@dataclass(frozen=True, slots=True)
class Example:
    """An instance to learn from, in one wording of its hypothesis."""

    instance: Instance
    paper_key: str
    features: Features
    vectors: NDArray[np.float32]  # (1 + n, dimensions), of length 1: the hypothesis, then the sentences
    # By focus (n, aspects): 1 where a sentence covers an aspect. Gold that is sufficient, not complete, is of results
    # alone: what it does not mark of the methods is no counter-example, so that it says nothing on all aspects.
    covers: tuple[NDArray[np.float32], ...]
    weight: float = 1.0


def examples_of(instance: Instance, encoder: Encoder) -> list[Example]:
    """The examples of an instance: as it is, then in the other wordings that it was made with."""
    hypotheses = [instance.hypothesis, *instance.construction.get("wordings", ())]
    vectors = encoder.vectors(hypotheses[0], [*hypotheses[1:], *instance.sentences])
    of_sentences = vectors[len(hypotheses) :]
    return [
        example_of(replace(instance, hypothesis=hypothesis), np.concatenate([vector[None], of_sentences]))
        for hypothesis, vector in zip(hypotheses, vectors, strict=False)
    ]


def example_of(instance: Instance, vectors: NDArray[np.float32]) -> Example:
    """The example of an instance, given the embeddings of its hypothesis and sentences."""
    covers = []
    for focus in FOCUSES:
        is_silent = focus == "all" and instance.is_sufficient
        aspects = [] if is_silent else [sorted(each) for each in instance.evidence.covers(focus) if each]
        table = np.zeros((len(instance.sentences), len(aspects)), dtype=np.float32)
        for column, sentences in enumerate(aspects):
            table[sentences, column] = 1
        covers.append(table)
    features = features_of(query_of(instance), vectors)
    key = paper_key(instance.sentences, instance.sentence_types)
    return Example(instance, key, features, unit_vectors(vectors), tuple(covers))


def weighted(examples: Sequence[Example], others: Sequence[Example]) -> list[Example]:
    """The others, to be learnt from beside the examples: sufficient gold counts little beside complete gold."""
    if not any(example.covers[0].size for example in examples):
        return list(others)
    return [other if other.covers[0].size else replace(other, weight=_SUFFICIENT_WEIGHT) for other in others]


def fit_ranker(examples: Sequence[Example], encoder: str, seed: int = 0) -> Ranker:
    """Fit a ranker to examples that hold the vectors of an embedding model.

    In one thread: another order of sums is another last digit, and the same seed should give the same figures.
    """
    import torch
    from threadpoolctl import threadpool_limits

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return _fit_ranker(examples, encoder, seed)
    finally:
        torch.set_num_threads(n_threads)


def _fit_ranker(examples: Sequence[Example], encoder: str, seed: int) -> Ranker:
    if not any(table.size for example in examples for table in example.covers):
        raise SettingError("training set", "has no study aspects", "Train on a dataset with gold.")
    topics = _principal_axes([example.vectors[1:] for example in examples], seed)
    shared_topics = _principal_axes([example.vectors[1:] * example.vectors[0] for example in examples], seed)
    columns = [columns_of(example.features, example.vectors, topics, shared_topics) for example in examples]
    covers = [example.covers for example in examples]
    weights = [example.weight for example in examples]
    # Without aspects of one focus its sentences are ranked as for the other.
    is_sufficient = not any(of_all.size for of_all, _ in covers)
    if is_sufficient:
        covers = [(of_results, of_results) for _, of_results in covers]
    elif not any(of_results.size for _, of_results in covers):
        covers = [(of_all, of_all) for of_all, _ in covers]
    return Ranker(
        encoder=encoder,
        encoder_identity=model_identity(encoder),
        topics=topics,
        shared_topics=shared_topics,
        network=_fit_network(columns, covers, weights, seed),
        trees=_fit_trees(columns, covers, weights, seed),
        selecting=_SUFFICIENT_SELECTING if is_sufficient else _SELECTING,
        cosine_weight=_SUFFICIENT_COSINE_WEIGHT if is_sufficient else 0.0,
        notes={"n_examples": len(examples), "n_sentences": sum(map(len, columns)), "seed": seed},
    )


def folds_by_paper(paper_ids: Sequence[str], n_folds: int, seed: int = 0) -> list[int]:
    """The fold of each instance, 0 to ``n_folds`` - 1; instances of one paper share theirs.

    Papers are shuffled and dealt out in turn; which come together does not depend on the order of instances.
    """
    papers = sorted(set(paper_ids))
    np.random.default_rng(seed).shuffle(papers)
    fold_of = {paper: place % n_folds for place, paper in enumerate(papers)}
    return [fold_of[paper] for paper in paper_ids]


def _principal_axes(blocks: Sequence[NDArray[np.float32]], seed: int) -> Projection:
    from sklearn.decomposition import PCA

    rows = np.concatenate(blocks)
    if len(rows) > _MOST_ROWS:
        rows = rows[np.random.default_rng(seed).choice(len(rows), _MOST_ROWS, replace=False)]
    pca = PCA(min(N_TOPICS, *rows.shape), svd_solver="covariance_eigh").fit(rows)
    size = max(float(np.sqrt(pca.explained_variance_.mean())), 1e-9)
    axes = np.zeros((N_TOPICS, rows.shape[1]), dtype=np.float32)  # zeros where there are fewer
    axes[: len(pca.components_)] = pca.components_ / size
    return Projection(pca.mean_.astype(np.float32), axes)


def _fit_network(
    columns: Sequence[NDArray[np.float32]],
    covers: Sequence[tuple[NDArray[np.float32], ...]],
    weights: Sequence[float],
    seed: int,
) -> Network:
    """Fit `N_NETWORKS` networks at once, and put them side by side. AdamW, dropout of half of inputs and units."""
    import torch

    rows = np.concatenate(columns)
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales[scales < 1e-6] = 1e6
    inputs = [
        torch.from_numpy(np.clip((rows_of - means) / scales, -LARGEST_INPUT, LARGEST_INPUT))
        for rows_of in columns
    ]
    tables = [tuple(map(torch.from_numpy, tables_of)) for tables_of in covers]
    n_columns = rows.shape[1]
    draws = torch.Generator().manual_seed(seed)

    def start(*shape: int, size: float) -> torch.Tensor:
        return ((torch.rand(N_NETWORKS, *shape, generator=draws) * 2 - 1) * size).requires_grad_()

    def drop(shape: Sequence[int]) -> torch.Tensor:
        """2 or 0, evenly: half of the numbers count twice."""
        return torch.randint(0, 2, tuple(shape), dtype=torch.uint8, generator=draws) * 2

    hidden = start(n_columns, N_UNITS, size=n_columns**-0.5)
    bias = start(1, N_UNITS, size=n_columns**-0.5)
    out = start(N_UNITS, len(FOCUSES), size=N_UNITS**-0.5)
    linear = start(n_columns, len(FOCUSES), size=0.0)
    seen = torch.ones(N_NETWORKS, 1, n_columns)
    seen[::2, :, -2 * len(TOPICS) :] = 0

    parameters = [
        {"params": [hidden, out, linear], "weight_decay": 1.0},
        {"params": [bias], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(parameters, lr=_RATE)
    n_batches = -(-len(inputs) // _BATCH)
    n_steps = N_EPOCHS * n_batches
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min((step + 1) / (_WARM * n_steps), (n_steps - step) / ((1 - _WARM) * n_steps)),
    )
    for _ in range(N_EPOCHS):
        order = torch.randperm(len(inputs), generator=draws).tolist()
        for batch in (order[start::n_batches] for start in range(n_batches)):
            read = torch.cat([inputs[place] for place in batch])
            read = read * seen * drop((N_NETWORKS, *read.shape))
            units = torch.relu(read @ hidden + bias)
            units = units * drop(units.shape)
            scores = read @ linear + units @ out
            papers = torch.split(scores, [len(inputs[place]) for place in batch], dim=1)
            loss = sum(
                (
                    weights[place] * _loss(paper, tables[place])
                    for paper, place in zip(papers, batch, strict=True)
                ),
                torch.zeros(()),
            )
            optimiser.zero_grad()
            (loss / len(batch)).backward()
            optimiser.step()
            schedule.step()

    with torch.no_grad():
        unseen = seen.transpose(1, 2)
        return Network(
            means,
            scales,
            (hidden * unseen).permute(1, 0, 2).reshape(n_columns, -1).numpy(),
            bias.reshape(-1).numpy(),
            (out / N_NETWORKS).reshape(-1, len(FOCUSES)).numpy(),
            (linear * unseen).mean(dim=0).numpy(),
        )


def _fit_trees(
    columns: Sequence[NDArray[np.float32]],
    covers: Sequence[tuple[NDArray[np.float32], ...]],
    weights: Sequence[float],
    seed: int,
) -> dict[Focus, str]:
    """By focus regression trees on how much of the evidence a sentence is, as LightGBM's text.

    The target is the mean of three, standardised: whether it covers an aspect, which share of the aspects it covers,
    and its share of the evidence, each aspect being divided evenly among its sentences.
    """
    import lightgbm

    trees: dict[Focus, str] = {}
    for output, focus in enumerate(FOCUSES):
        rows, parts, row_weights = [], [], []
        for paper, tables, weight in zip(columns, covers, weights, strict=True):
            table = tables[output]
            if table.shape[1]:
                shares = table / np.maximum(table.sum(axis=0), 1)
                rows.append(paper[:, :N_OWN])
                row_weights.append(np.full(len(paper), weight))
                parts.append([table.max(axis=1), table.mean(axis=1), shares.mean(axis=1)])
        targets = np.concatenate(parts, axis=1)
        spread = targets.std(axis=1, keepdims=True) + 1e-9
        target = ((targets - targets.mean(axis=1, keepdims=True)) / spread).mean(axis=0)
        data = lightgbm.Dataset(np.concatenate(rows), target, weight=np.concatenate(row_weights))
        trees[focus] = lightgbm.train({**_TREES, "seed": seed}, data, _N_TREES).model_to_string()
    return trees


def _loss(scores: torch.Tensor, tables: Sequence[torch.Tensor]) -> torch.Tensor:
    """Of one paper, summed over networks (networks, n, focuses) and focuses.

    A sentence is drawn by the softmax of the scores: half the mean over aspects of -log of the probability that it
    covers the aspect, and half -log of the share of the aspects that it is expected to cover.
    """
    loss = scores.new_zeros(())
    shares = scores.softmax(dim=1)
    for output, table in enumerate(tables):
        if table.shape[1]:
            covered = shares[:, :, output] @ table + 1e-9
            loss = loss - 0.5 * (covered.log().mean(dim=1) + covered.mean(dim=1).log()).sum()
    return loss
