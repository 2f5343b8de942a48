"""Perturbed instances: another wording of the hypothesis, or the paper's sentences in another order.

A run over a variant asks the retriever the perturbed query; its answers are stored in the sentence
indices of the paper as it stands in the data, so that gold and scoring stay what they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.data.model import EvidenceSet, Focus, Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    Opposite,
    hypothesis_variants,
    misspelling,
    opposite,
)
from evidencebench_core.retrievers import Query, Retrieval, query_of

RULE_NEGATION: Final = "negation:rules"
_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")

Order = tuple[int, ...] | None
"""The original indices of the sentences that stay, in the order in which they are read; ``None``: as they stand."""


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
        From an instance to the order of its sentences, or to ``None`` where it has no such variant and is left
        out. Without it the papers stay as they stand.
    """

    name: str
    digest: str
    hypotheses: Mapping[str, str] | None = None
    arrangement: Callable[[Instance], Sequence[int] | None] | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.digest:
            remedy = "Give both: they enter the run's id."
            raise SettingError(f"variant {shown(self.name)}", "has no name or no digest", remedy)

    def has(self, instance_id: str) -> bool:
        """Whether an instance can have this variant, as far as one knows without reading it."""
        return self.hypotheses is None or instance_id in self.hypotheses

    def perturbed(self, instance: Instance) -> tuple[str, Order] | None:
        """Hypothesis and order of sentences, or ``None`` where there is no such variant of an instance.

        Raises
        ------
        SettingError
            If the arrangement names a sentence twice, one that the paper does not have, or none at all.
        """
        if not self.has(instance.id):
            return None
        hypothesis = instance.hypothesis if self.hypotheses is None else self.hypotheses[instance.id]
        if self.arrangement is None:
            return hypothesis, None
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
        return hypothesis, tuple(order)


def digest_of(*parts: object) -> str:
    """First 12 hexadecimal digits of the SHA-256 of the parts as canonical JSON (mappings by sorted key)."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]


# -- variants by name -----------------------------------------------------------------------------


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset.

    Parameters
    ----------
    store : Store
    dataset, name : str
        ``negation`` and ``paraphrase:NAME`` from the data or a variants file, ``negation:rules`` (made by
        rule, without the hypotheses that the rules refuse), ``spelling:n=N`` or ``spelling:n=N,seed=S``
        (without hypotheses that have no word to misspell).

    Raises
    ------
    SettingError
        If no instance has such a variant; it lists what there is.
    UnknownNameError
        If there is no such dataset.
    """
    if spelling := _SPELLING.fullmatch(name):
        n, seed = int(spelling[1]), int(spelling[2] or 0)
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        name = spelling_name(n, seed)
        misspelt = {one: misspelling(text, n, seed) for one, text in _hypotheses(store, dataset)}
        texts = {one: new.text for one, new in misspelt.items() if new.n_mutated}
    elif name == RULE_NEGATION:
        opposites = {one: opposite(text) for one, text in _hypotheses(store, dataset)}
        texts = {one: made.text for one, made in opposites.items() if isinstance(made, Opposite)}
    else:
        texts = dict(hypothesis_variants(store, dataset).get(name, {}))
    if texts:
        return wording_variant(name, texts)
    there = [*hypothesis_variants(store, dataset), RULE_NEGATION, "spelling:n=N"]
    raise SettingError(
        f"variant {shown(name)}",
        f"is one that no instance of {shown(dataset)} has",
        f"There are: {', '.join(there)}. More come from a file ({NEGATION}, {PARAPHRASE}NAME): --variants FILE.",
    )


def _hypotheses(store: Store, dataset: str) -> list[tuple[str, str]]:
    return [(row.id, row.hypothesis) for row in store.rows(dataset, store.ids(dataset))]


def wording_variant(name: str, texts: Mapping[str, str]) -> Variant:
    """The variant that asks each instance in these words; instances without a text have no such variant."""
    return Variant(name, digest_of(name, dict(texts)), hypotheses=dict(texts))


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"


# -- there and back -------------------------------------------------------------------------------


def arranged_query(
    instance: Instance, focus: Focus, budget: int | None, hypothesis: str, order: Order
) -> Query:
    """The query of an instance as a variant has it."""
    query = query_of(instance, focus, budget, hypothesis)
    if order is None:
        return query
    return replace(
        query,
        sentences=tuple(query.sentences[index] for index in order),
        sentence_types=tuple(query.sentence_types[index] for index in order),
        sections=tuple(query.sections[index] for index in order),
    )


def arranged_evidence(evidence: EvidenceSet, order: Sequence[int] | None) -> EvidenceSet:
    """The gold moved along with its sentences; an aspect whose sentences were all removed covers nothing.

    The optimal K stays that of the original, because the budget does.
    """
    if order is None:
        return evidence
    places = {index: place for place, index in enumerate(order)}
    moved = [sorted(places[i] for i in one.sentence_indices if i in places) for one in evidence.aspects]
    aspects = (
        replace(one, sentence_indices=tuple(indices))
        for one, indices in zip(evidence.aspects, moved, strict=True)
    )
    return replace(evidence, n_sentences=len(order), aspects=tuple(aspects))


def in_original_indices(retrieval: Retrieval, order: Order) -> Retrieval:
    """An answer about an arranged paper, in the sentence indices of the paper as it stands."""
    if order is None:
        return retrieval
    ranking, selection = (tuple([order[i] for i in of]) for of in (retrieval.ranking, retrieval.selection))
    return replace(retrieval, ranking=ranking, selection=selection)
