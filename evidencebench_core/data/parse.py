"""Raw dict -> `Instance`.

The twelve keys of the format are checked in `check`. Keys beyond them are ignored, but for five
that mean something to us:

- ``aspect_texts``: ``{aspect id: text}``
- ``hypothesis_paraphrases``: ``{name: text}``
- ``hypothesis_negation``: text
- ``synthetic``: true for an invented paper
- ``construction``: how the instance was made; its ``gold`` says whether every sentence was looked at
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast, get_args

from evidencebench_core.data.check import EVALUATIONS, check_instance
from evidencebench_core.data.model import Aspect, EvidenceSet, Instance, SentenceType, StoredSelection
from evidencebench_core.data.sections import section_titles

_SHARED_TYPES: Final = {kind: kind for kind in get_args(SentenceType)}  # one object a type, for all sentences


def parse_instance(instance_id: str, raw: object) -> Instance:
    """Check a raw instance and freeze it.

    Parameters
    ----------
    instance_id : str
        The key under which it stands in its file.
    raw : object
        The decoded JSON value; only a dict is an instance. It is not changed.

    Raises
    ------
    InstanceError
        Naming the instance, the field, the value found and what was expected.
    """
    check_instance(instance_id, raw)
    return instance_of(instance_id, cast("dict[str, Any]", raw))


def instance_of(instance_id: str, raw: Mapping[str, Any]) -> Instance:
    """Freeze a raw instance that has been checked before, as those of the store have."""
    sentences = tuple(raw["paper_as_candidate_pool"])
    types = cast(
        "tuple[SentenceType, ...]", tuple(map(_SHARED_TYPES.get, raw["sentence_types_in_candidate_pool"]))
    )
    return Instance(
        id=instance_id,
        hypothesis=raw["hypothesis"],
        paper_id=raw["paper_id"],
        sentences=sentences,
        sentence_types=types,
        sections=section_titles(sentences, types),
        evidence=evidence_of(raw, len(sentences)),
        stored=MappingProxyType(
            {
                task: StoredSelection(
                    tuple(raw[field]["one_selection_of_sentences"]),
                    tuple(raw[field]["covered_aspects"]),
                    raw[field]["optimal"] if budget is None else None,
                )
                for field, (task, budget) in EVALUATIONS.items()
                if raw[field] is not None
            }
        ),
        paraphrases=MappingProxyType(dict(raw.get("hypothesis_paraphrases") or {})),
        negation=raw.get("hypothesis_negation"),
        synthetic=raw.get("synthetic") is True,
        construction=MappingProxyType(dict(raw.get("construction") or {})),
    )


def evidence_of(raw: Mapping[str, Any], n_sentences: int) -> EvidenceSet:
    """The evidence set of a raw instance that has been checked; it may lack its paper."""
    covering = raw["aspect2sentence_indices"]
    results = frozenset(raw["results_aspect_list_ids"] or ())
    texts = raw.get("aspect_texts") or {}
    results_evaluation = raw["results_evidence_retrieval_at_optimal_evaluation"]
    return EvidenceSet(
        n_sentences=n_sentences,
        aspects=tuple(
            [
                Aspect(
                    aspect,
                    tuple(sorted(covering[aspect])),
                    aspect in results,
                    f"A{number}",
                    texts.get(aspect),
                )
                for number, aspect in enumerate(raw["aspect_list_ids"], start=1)
            ]
        ),
        optimal=raw["evidence_retrieval_at_optimal_evaluation"]["optimal"],
        results_optimal=None if results_evaluation is None else results_evaluation["optimal"],
    )
