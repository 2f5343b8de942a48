"""Instances with gold -> the rows that a ranker learns from, so many that they fit in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import EvidenceSet, Focus, Instance
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.ranker.features import features_of, unit_vectors
from evidencebench_core.retrievers.ranker.model import NETWORK_FOCUSES

FOCUSES: Final = NETWORK_FOCUSES
_MOST_ROWS: Final = 300_000
_LEAST_A_PAPER: Final = 100


@dataclass(frozen=True, slots=True)
class Example:
    """The ``n`` sentences of an instance, and the ``k`` of them that are learnt from."""

    instance_id: str
    paper_id: str
    rows: NDArray[np.float32]  # (n, len(FEATURES))
    vectors: NDArray[np.float32]  # (1 + n, dimensions), of length 1: the hypothesis, then the sentences
    chosen: NDArray[np.int64]  # (k,), rising: those that are learnt from
    targets: Mapping[Focus, Mapping[str, NDArray[np.float64]]]  # a focus without aspects is absent
    covering: Mapping[Focus, tuple[NDArray[np.int64], ...]]  # by aspect that has any: which of the k cover it
    weights: NDArray[np.float64]  # (k,): how many sentences each stands for; 1 where all are learnt from


def sampling(
    sizes: Mapping[str, int], papers: Mapping[str, str], seed: int = 0, most: int = _MOST_ROWS
) -> tuple[tuple[str, ...], int | None]:
    """The instances that are learnt from, in their order, and the sentences of each (see `example_of`).

    All of a dataset while it has no more than ``most`` sentences, else a part of each instance, or of them: with
    less than 100 sentences an instance there is little to learn, so beyond that fewer instances are taken. Papers
    are drawn whole. ``sizes`` and ``papers`` are the sentences and the paper id by instance id.
    """
    if sum(sizes.values()) <= most:
        return tuple(sizes), None
    n_rows = max(most // len(sizes), _LEAST_A_PAPER)
    names = sorted(set(papers.values()))
    order = np.empty(len(names), dtype=int)
    order[np.random.default_rng(seed).permutation(len(names))] = np.arange(len(names))
    rank = dict(zip(names, order.tolist(), strict=True))
    drawn = set(sorted(sizes, key=lambda name: (rank[papers[name]], name))[: max(most // n_rows, 1)])
    return tuple(name for name in sizes if name in drawn), n_rows


def example_of(
    instance: Instance, vectors: NDArray[np.float32], n_rows: int | None = None, seed: int = 0
) -> Example:
    """The example of an instance, given `embeddings` of its hypothesis and sentences.

    With ``n_rows`` all sentences that cover an aspect, and others up to so many, but never less than half as many,
    drawn by nothing but the seed and the instance's id.
    """
    unit = unit_vectors(vectors)
    chosen, weights = _sample_rows(instance, n_rows, seed)
    return Example(
        instance.id,
        instance.paper_id,
        features_of(query_of(instance, "all", None), unit).rows,
        unit,
        chosen,
        {
            focus: {name: target[chosen] for name, target in targets(instance.evidence, focus).items()}
            for focus in FOCUSES
            if instance.evidence.focused(focus)
        },
        {
            focus: tuple(
                np.searchsorted(chosen, sorted(one)) for one in instance.evidence.covers(focus) if one
            )
            for focus in FOCUSES
        },
        weights,
    )


def _sample_rows(
    instance: Instance, n_rows: int | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The places of the sentences that are learnt from, and how many sentences each stands for."""
    n = len(instance.sentences)
    if n_rows is None or n <= n_rows:
        return np.arange(n), np.ones(n)
    covering = np.array(sorted(set().union(*instance.evidence.covers("all"))), dtype=np.int64)
    others = np.setdiff1d(np.arange(n), covering)
    n_others = min(len(others), max(n_rows - len(covering), n_rows // 2))
    drawn = np.random.default_rng([seed, *instance.id.encode()]).choice(others, n_others, replace=False)
    chosen = np.sort(np.concatenate([covering, drawn]))
    return chosen, np.where(np.isin(chosen, covering), 1.0, len(others) / max(n_others, 1))


def folds_by_paper(paper_ids: Sequence[str], n_folds: int, seed: int = 0) -> list[int]:
    """The fold of each instance, 0 to ``n_folds`` - 1; instances of one paper share theirs.

    Papers are shuffled and dealt out in turn; which come together does not depend on the order of instances.
    """
    papers = sorted(set(paper_ids))
    np.random.default_rng(seed).shuffle(papers)
    fold_of = {paper: place % n_folds for place, paper in enumerate(papers)}
    return [fold_of[paper] for paper in paper_ids]


def targets(evidence: EvidenceSet, focus: Focus) -> dict[str, NDArray[np.float64]]:
    """The targets of the members, one number a sentence.

    ``evidence``: 1 where the sentence covers an aspect of the focus. ``aspects``: the share of the aspects that it
    covers. ``share``: ten times its share of the evidence, each aspect being divided evenly among its sentences.
    """
    covers = evidence.covers(focus)
    counts, share = np.zeros((2, evidence.n_sentences))
    for covering in covers:
        indices = list(covering)
        counts[indices] += 1
        share[indices] += 1 / max(len(indices), 1)
    n = max(len(covers), 1)
    return {"evidence": (counts > 0).astype(float), "aspects": counts / n, "share": 10 * share / n}
