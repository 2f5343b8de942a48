"""A dataset's evidence sets as flat arrays: scores and analyses of 100,000 instances are sums over them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import EvidenceSet, Focus

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Evidence sets, without names and texts of aspects; nobody may change the arrays.

    Attributes
    ----------
    ids : tuple of str, length n
        Instances, in the order of the file.
    paper_ids : tuple of str, length n
        Empty where the papers are not known.
    n_sentences, optimal, results_optimal : arrays of int, shape (n,)
        ``results_optimal`` is -1 without result aspects.
    instance, number : arrays of int, shape (n_aspects,)
        Row of the instance of every aspect, ascending, and its 0-based position there.
    is_result : array of bool, shape (n_aspects,)
    aspect, sentence : arrays of int, shape (n_pairs,)
        One pair for every aspect and every sentence that covers it, ascending by aspect, then sentence.
    sufficient : bool
        Whether an instance says that its gold is sufficient, not complete.
    """

    ids: tuple[str, ...]
    paper_ids: tuple[str, ...]
    n_sentences: Numbers
    optimal: Numbers
    results_optimal: Numbers
    instance: Numbers
    number: Numbers
    is_result: NDArray[np.bool_]
    aspect: Numbers
    sentence: Numbers
    sufficient: bool = False

    @classmethod
    def of(cls, sets: Iterable[tuple[str, EvidenceSet]]) -> Gold:
        """The arrays of evidence sets by instance id."""
        return cls.from_rows(
            [
                (
                    instance_id,
                    "",
                    evidence.n_sentences,
                    len(evidence.aspects),
                    evidence.optimal,
                    evidence.results_optimal,
                    _packed(evidence),
                )
                for instance_id, evidence in sets
            ]
        )

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[Any, ...]]) -> Gold:
        """From id, paper id, numbers of sentences and aspects, both optimal K, and the `packed_covering`."""
        ids, paper_ids, *counts, bodies = zip(*rows, strict=True) if rows else [()] * 7
        n_sentences, n_aspects, optimal = (np.array(column, dtype=np.int64) for column in counts[:3])
        results_optimal = np.array([-1 if k is None else k for k in counts[3]], dtype=np.int64)
        packed = np.frombuffer(b"".join(bodies), dtype="<u4").astype(np.int64)
        sizes = np.array([len(body) // 4 for body in bodies], dtype=np.int64)
        instance = np.repeat(np.arange(len(ids)), n_aspects)
        number = np.arange(instance.size) - np.repeat(np.cumsum(n_aspects) - n_aspects, n_aspects)
        heads = (np.cumsum(sizes) - sizes)[instance] + number
        is_sentence = np.ones(packed.size, dtype=bool)
        is_sentence[heads] = False
        aspect = np.repeat(np.arange(instance.size), packed[heads] >> 1)
        is_result = (packed[heads] & 1).astype(bool)
        sentence = packed[is_sentence]
        return cls(
            ids, paper_ids, n_sentences, optimal, results_optimal, instance, number, is_result, aspect, sentence
        )  # fmt: skip

    @property
    def n_covering(self) -> Numbers:
        """How many sentences cover each aspect."""
        return np.bincount(self.aspect, minlength=self.instance.size)

    @property
    def offset(self) -> Numbers:
        """How many sentences all instances before each one have."""
        return np.cumsum(self.n_sentences) - self.n_sentences

    def optimal_for(self, focus: Focus) -> Numbers:
        """Optimal K of the focus, -1 where there is nothing to cover."""
        return self.optimal if focus == "all" else self.results_optimal

    def focused(self, focus: Focus) -> Gold:
        """Only the aspects that a task asks for; all instances."""
        return self if focus == "all" else self.part(np.ones(len(self.ids), dtype=bool), self.is_result)

    def part(self, instances: NDArray[np.bool_], aspects: NDArray[np.bool_]) -> Gold:
        """These instances, and these of their aspects."""
        kept = aspects & instances[self.instance]
        pairs = kept[self.aspect]
        rows = np.flatnonzero(instances).tolist()
        return Gold(
            tuple([self.ids[row] for row in rows]),
            tuple([self.paper_ids[row] for row in rows]) if self.paper_ids else (),
            self.n_sentences[instances],
            self.optimal[instances],
            self.results_optimal[instances],
            (np.cumsum(instances) - 1)[self.instance[kept]],
            self.number[kept],
            self.is_result[kept],
            (np.cumsum(kept) - 1)[self.aspect[pairs]],
            self.sentence[pairs],
            self.sufficient,
        )

    def per_instance(self, aspects: NDArray[np.bool_] | None = None) -> Numbers:
        """How many aspects, or of these aspects, each instance has."""
        instance = self.instance if aspects is None else self.instance[aspects]
        return np.bincount(instance, minlength=len(self.ids))

    def found(self, rows: Numbers, sentences: Numbers) -> NDArray[np.bool_]:
        """Whether each aspect is covered by a pick: a sentence of the paper of an instance, by its row."""
        offset = self.offset
        picked = np.zeros(int(self.n_sentences.sum()), dtype=bool)
        picked[offset[rows] + sentences] = True
        hits = self.aspect[picked[offset[self.instance[self.aspect]] + self.sentence]]
        return np.bincount(hits, minlength=self.instance.size) > 0

    def covers(self, row: int) -> tuple[frozenset[int], ...]:
        """The sets of covering sentences of an instance's aspects (what metrics take)."""
        first, end = np.searchsorted(self.instance, [row, row + 1])
        edges = np.searchsorted(self.aspect, np.arange(first, end + 1)).tolist()
        return tuple(frozenset(self.sentence[start:stop].tolist()) for start, stop in pairwise(edges))


def _packed(evidence: EvidenceSet) -> bytes:
    """The covering sentences of every aspect, and whether it is a result aspect."""
    values = [2 * len(aspect.sentence_indices) + aspect.is_result for aspect in evidence.aspects]
    for aspect in evidence.aspects:
        values += aspect.sentence_indices
    return struct.pack(f"<{len(values)}I", *values)
