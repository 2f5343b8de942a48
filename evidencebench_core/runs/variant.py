"""Perturbed instances: another wording of the hypothesis, or the paper's sentences in another order.

A run over a variant asks the retriever the perturbed query; its answers are stored in the sentence
indices of the paper as it stands in the data, so that gold and scoring stay what they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evidencebench_core.data.model import EvidenceSet, Focus, Instance
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers import Query, Retrieval, query_of


@dataclass(frozen=True, slots=True)
class Perturbed:
    """One instance as a variant has it.

    Attributes
    ----------
    hypothesis : str
        What the retriever is asked.
    order : tuple of int or None
        The original indices of the sentences in the order in which the retriever reads them; those that
        were removed are absent. ``None``: the paper as it stands.
    """

    hypothesis: str
    order: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to perturb the instances of a dataset.

    Attributes
    ----------
    name : str
        ``"paraphrase:lexical"``, ``"negation"``, ``"spelling:n=3,seed=0"``, ``"place:Abstract=end"``: what
        people read; never empty.
    digest : str
        Of everything that makes the variant what it is (`digest_of`): two variants of one name with other
        texts, or an arrangement by another rule, are different runs.
    hypotheses : mapping of str to str, optional
        By instance id; an instance that is not in it has no such variant and is left out. ``None``: every
        instance keeps its own hypothesis.
    arrangement : callable, optional
        From an instance to the `Perturbed.order`, or to ``None`` where it has no such variant and is left
        out. Without it the papers stay as they stand.
    """

    name: str
    digest: str
    hypotheses: Mapping[str, str] | None = None
    arrangement: Callable[[Instance], Sequence[int] | None] | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.digest:
            raise SettingError(
                f"variant {shown(self.name)}",
                "has no name or no digest",
                "Give both: they enter the run's id.",
            )

    def has(self, instance_id: str) -> bool:
        """Whether an instance can have this variant, as far as one knows without reading it."""
        return self.hypotheses is None or instance_id in self.hypotheses

    def perturbed(self, instance: Instance) -> Perturbed | None:
        """The instance as the variant has it, or ``None`` where there is no such variant of it.

        Raises
        ------
        SettingError
            If the arrangement names a sentence twice, one that the paper does not have, or none at all.
        """
        if not self.has(instance.id):
            return None
        hypothesis = instance.hypothesis if self.hypotheses is None else self.hypotheses[instance.id]
        if self.arrangement is None:
            return Perturbed(hypothesis)
        order = self.arrangement(instance)
        if order is None:
            return None
        n_sentences = len(instance.sentences)
        if not order or len(set(order)) < len(order) or min(order) < 0 or max(order) >= n_sentences:
            raise SettingError(
                f"variant {shown(self.name)}, instance {shown(instance.id)}",
                f"arranges {len(order)} sentences of {n_sentences}, with repeated or unknown ones, or none",
                "An arrangement names each sentence that stays once.",
            )
        return Perturbed(hypothesis, tuple(order))


def digest_of(*parts: object) -> str:
    """First 12 hexadecimal digits of the SHA-256 of the parts as canonical JSON (mappings by sorted key)."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]


def perturbed_query(instance: Instance, perturbed: Perturbed, focus: Focus, budget: int | None) -> Query:
    """The query of an instance as a variant has it; the budget is that of the original."""
    query = query_of(instance, focus, budget, perturbed.hypothesis)
    if perturbed.order is None:
        return query
    return replace(
        query,
        sentences=tuple(query.sentences[index] for index in perturbed.order),
        sentence_types=tuple(query.sentence_types[index] for index in perturbed.order),
        sections=tuple(query.sections[index] for index in perturbed.order),
    )


def in_original_indices(retrieval: Retrieval, order: Sequence[int] | None) -> Retrieval:
    """An answer about an arranged paper, said in the sentence indices of the paper as it stands."""
    if order is None:
        return retrieval
    return replace(
        retrieval,
        ranking=tuple(order[index] for index in retrieval.ranking),
        selection=tuple(order[index] for index in retrieval.selection),
    )


def arranged_evidence(evidence: EvidenceSet, order: Sequence[int] | None) -> EvidenceSet:
    """The gold moved along with its sentences; an aspect whose sentences were all removed covers nothing.

    The optimal K stays that of the original, because the budget does.
    """
    if order is None:
        return evidence
    places = {index: place for place, index in enumerate(order)}
    return replace(
        evidence,
        n_sentences=len(order),
        aspects=tuple(
            replace(
                aspect,
                sentence_indices=tuple(sorted(places[i] for i in aspect.sentence_indices if i in places)),
            )
            for aspect in evidence.aspects
        ),
    )
