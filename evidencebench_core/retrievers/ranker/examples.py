"""Instances with gold -> the rows that a ranker learns from, so many that they fit in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import EvidenceSet, Focus, Instance
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.ranker.features import features_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FOCUSES",
    "Example",
    "Sampling",
    "example_of",
    "folds_by_paper",
    "sampling_for",
    "targets",
    "unit_vectors",
]

FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
_ROWS_KEPT: Final = 300_000
_LEAST_A_PAPER: Final = 100


@dataclass(frozen=True, slots=True)
class Example:
    """The kept sentences of an instance, ready to be learnt from.

    Attributes
    ----------
    instance_id, paper_id : str
    rows : array of shape (k, len(FEATURES)), float32
    vectors : array of shape (1 + k, dimensions), float32
        Of length 1: the hypothesis, then the kept sentences.
    centre : array of shape (dimensions,), float32
        Mean of all sentences of the paper.
    targets : mapping of Focus to mapping
        See `targets`; a focus without aspects is absent.
    weights : array of shape (k,) or None
        How many sentences each row stands for; ``None`` where all were kept.
    """

    instance_id: str
    paper_id: str
    rows: NDArray[np.float32]
    vectors: NDArray[np.float32]
    centre: NDArray[np.float32]
    targets: Mapping[Focus, Mapping[str, NDArray[np.float64]]]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class Sampling:
    """What of a dataset is learnt from.

    Attributes
    ----------
    instance_ids : tuple of str
        In the order of the dataset.
    n_rows : int or None
        Sentences kept of each: all that cover an aspect, and others up to this many, but never less than half
        as many; ``None`` for all.
    """

    instance_ids: tuple[str, ...]
    n_rows: int | None


def sampling_for(
    sizes: Mapping[str, int], papers: Mapping[str, str], seed: int = 0, most: int = _ROWS_KEPT
) -> Sampling:
    """All of a dataset while it has no more than ``most`` sentences, else a part of each instance, or of them.

    Parameters
    ----------
    sizes, papers : mappings of str to int and to str
        Sentences and paper id by instance id.
    seed : int
        Of the draw of papers, which are taken whole: with less than 100 sentences an instance there is
        little to learn, so beyond that fewer instances are taken.
    most : int
    """
    import numpy as np

    if sum(sizes.values()) <= most:
        return Sampling(tuple(sizes), None)
    n_rows = max(most // len(sizes), _LEAST_A_PAPER)
    left = max(most // n_rows, 1)
    names = sorted(set(papers.values()))
    order = {
        names[place]: rank for rank, place in enumerate(np.random.default_rng(seed).permutation(len(names)))
    }
    drawn = set(sorted(sizes, key=lambda name: (order[papers[name]], name))[:left])
    return Sampling(tuple(name for name in sizes if name in drawn), n_rows)


def unit_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions with length 1; zeros stay zeros."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(
        vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0
    ).astype(np.float32, copy=False)
    return unit


def example_of(
    instance: Instance, vectors: NDArray[np.float32], n_rows: int | None = None, seed: int = 0
) -> Example:
    """The example of an instance, given the embeddings of its hypothesis and sentences.

    Parameters
    ----------
    instance : Instance
    vectors : array of shape (1 + n, dimensions)
    n_rows : int, optional
        See `Sampling`.
    seed : int
        Of the draw of sentences, which depends on nothing but this and the instance's id.
    """
    unit = unit_vectors(vectors)
    rows = features_of(query_of(instance, "all", None), unit).rows
    wanted = {
        focus: targets(instance.evidence, focus) for focus in FOCUSES if instance.evidence.focused(focus)
    }
    kept, weights = _kept(instance, n_rows, seed)
    if kept is not None:
        rows = rows[kept]
        wanted = {
            focus: {name: target[kept] for name, target in by_name.items()}
            for focus, by_name in wanted.items()
        }
    centre = unit[1:].mean(axis=0)
    if kept is not None:
        unit = unit[[0, *(kept + 1)]]
    return Example(instance.id, instance.paper_id, rows, unit, centre, wanted, weights)


def _kept(
    instance: Instance, n_rows: int | None, seed: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    import numpy as np

    n = len(instance.sentences)
    if n_rows is None or n <= n_rows:
        return None, None
    covering = np.array(sorted(set().union(*instance.evidence.covers("all"))), dtype=np.int64)
    others = np.setdiff1d(np.arange(n), covering)
    n_others = min(len(others), max(n_rows - len(covering), n_rows // 2))
    rng = np.random.default_rng([seed, *instance.id.encode()])
    drawn = rng.choice(others, n_others, replace=False)
    kept = np.sort(np.concatenate([covering, drawn]))
    weights = np.where(np.isin(kept, covering), 1.0, len(others) / max(n_others, 1))
    return kept, weights


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
            "folds",
            f"is {n_folds}, with {len(papers)} papers",
            "Give at least 2, and no more than there are papers; or train without: --no-cv.",
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
        if not covering:
            continue
        indices = list(covering)
        counts[indices] += 1
        share[indices] += 1 / len(indices)
    n = max(len(covers), 1)
    return {"evidence": (counts > 0).astype(float), "aspects": counts / n, "share": 10 * share / n}
