"""An instance as a row of the store, and back: its gold apart from the rest, since scores read nothing else."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from evidencebench_core.data.model import Aspect, EvidenceSet, Instance
from evidencebench_core.data.primitives import from_blob, to_blob
from evidencebench_core.data.sections import section_titles

GOLD_COLUMNS: Final = "b.gold, i.n_sentences, i.optimal, i.results_optimal"
INSTANCE_COLUMNS: Final = (
    f"i.instance_id, b.hypothesis, i.paper_id, i.synthetic, b.body, p.body, {GOLD_COLUMNS}"
)

_MAPPINGS: Final = ("stored", "paraphrases", "construction", "kept")  # fields of an instance


def gold_blob(evidence: EvidenceSet) -> bytes:
    return to_blob([(a.id, a.sentence_indices, a.is_result, a.text) for a in evidence.aspects])


def body_blob(instance: Instance) -> bytes:
    """What no column has."""
    body: dict[str, Any] = {name: dict(getattr(instance, name)) for name in _MAPPINGS}
    body |= {"negation": instance.negation, "key_order": instance.key_order}
    if instance.sections != section_titles(instance.sentences, instance.sentence_types):
        body["sections"] = instance.sections
    return to_blob({name: value for name, value in body.items() if value})


def evidence_of_row(gold: bytes, n_sentences: int, optimal: int, results_optimal: int | None) -> EvidenceSet:
    """The evidence set of `GOLD_COLUMNS`."""
    aspects = [
        Aspect(aspect_id, tuple(indices), is_result, f"A{number}", text)
        for number, (aspect_id, indices, is_result, text) in enumerate(from_blob(gold), start=1)
    ]
    return EvidenceSet(n_sentences, tuple(aspects), optimal, results_optimal)


def instance_of_row(
    instance_id: str, hypothesis: str, paper_id: str, synthetic: int, body: bytes, paper: bytes, *gold: Any
) -> Instance:
    """The instance of `INSTANCE_COLUMNS`."""
    sentences, types = map(tuple, from_blob(paper))
    rest = from_blob(body)
    mappings = {name: MappingProxyType(rest.get(name, {})) for name in _MAPPINGS}
    mappings["stored"] = MappingProxyType({task: tuple(picks) for task, picks in mappings["stored"].items()})
    return Instance(
        id=instance_id,
        hypothesis=hypothesis,
        paper_id=paper_id,
        sentences=sentences,
        sentence_types=types,
        sections=tuple(rest["sections"]) if "sections" in rest else section_titles(sentences, types),
        evidence=evidence_of_row(*gold),
        negation=rest.get("negation"),
        synthetic=bool(synthetic),
        key_order=tuple(rest.get("key_order", ())),
        **mappings,
    )
