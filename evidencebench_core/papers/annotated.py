"""A paper with gold marked by hand, as an instance of the benchmark's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidencebench_core.data.check import check_instance, inverted
from evidencebench_core.data.model import Instance
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.metrics import best_cover, optimal_cover
from evidencebench_core.papers.annotation import Annotation, MarkedAspect
from evidencebench_core.papers.paper import Paper

__all__ = ["annotated_raw"]


def annotated_raw(paper: Paper | Instance, annotation: Annotation, instance_id: str) -> dict[str, Any]:
    """The raw instance, as it would stand in a file of the benchmark.

    Its twelve keys come in the order of the released files, then ``aspect_texts``. Aspect ids are
    ``<instance_id>_aspect_0`` and on, in the annotator's order. The selections are computed: a smallest
    cover for the tasks at Optimal, a largest coverage with 10 and 5 sentences for the others.

    Parameters
    ----------
    paper : Paper or Instance
        Of an instance the gold that it has is not looked at.
    annotation : Annotation
        Complete: with a hypothesis and aspects, each covered by one sentence at least.
    instance_id : str
        The key under which it will stand in its file.

    Raises
    ------
    PaperError
        Naming what is missing, aspects by their text.
    """
    _check_complete(paper, annotation, instance_id)
    ids = {aspect.id: f"{instance_id}_aspect_{number}" for number, aspect in enumerate(annotation.aspects)}
    results = [aspect for aspect in annotation.aspects if aspect.is_result]
    covering = {ids[aspect.id]: list(aspect.sentences) for aspect in annotation.aspects}
    raw: dict[str, Any] = {
        "hypothesis": annotation.hypothesis,
        "paper_as_candidate_pool": list(paper.sentences),
        "aspect_list_ids": list(ids.values()),
        "results_aspect_list_ids": [ids[aspect.id] for aspect in results] or None,
        "aspect2sentence_indices": covering,
        "sentence_index2aspects": inverted(covering, len(paper.sentences)),
        "evidence_retrieval_at_optimal_evaluation": _evaluation(annotation.aspects, ids, None),
        "evidence_retrieval_at_10_evaluation": _evaluation(annotation.aspects, ids, 10),
        "results_evidence_retrieval_at_optimal_evaluation": _evaluation(results, ids, None)
        if results
        else None,
        "results_evidence_retrieval_at_5_evaluation": _evaluation(results, ids, 5) if results else None,
        "sentence_types_in_candidate_pool": list(paper.sentence_types),
        "paper_id": paper.paper_id,
        "aspect_texts": {ids[aspect.id]: aspect.text for aspect in annotation.aspects},
    }
    check_instance(instance_id, raw)
    return raw


def _check_complete(paper: Paper | Instance, annotation: Annotation, instance_id: str) -> None:
    place = f"annotation of {annotation.annotator or 'nobody'}"
    if not instance_id.strip():
        raise PaperError("instance id", "is empty", "Give the instance a name of its own.")
    if annotation.n_sentences != len(paper.sentences):
        raise PaperError(
            place,
            f"was made on a paper of {annotation.n_sentences} sentences, and this one has {len(paper.sentences)}",
            "Open the paper it was made on.",
        )
    if not annotation.hypothesis.strip():
        raise PaperError(place, "has no hypothesis", "Write the hypothesis that the aspects are about.")
    if not annotation.aspects:
        raise PaperError(place, "has no aspects", "Write at least one, and mark the sentences that cover it.")
    if annotation.uncovered:
        texts = ", ".join(shown(aspect.text, 40) for aspect in annotation.uncovered)
        raise PaperError(
            place,
            f"has aspects that no sentence covers: {texts}",
            "Mark a sentence for each, or remove them.",
        )


def _evaluation(aspects: Sequence[MarkedAspect], ids: dict[str, str], budget: int | None) -> dict[str, Any]:
    covers = [frozenset(aspect.sentences) for aspect in aspects]
    picks = optimal_cover(covers) if budget is None else best_cover(covers, budget)
    evaluation: dict[str, Any] = {
        "one_selection_of_sentences": list(picks),
        "covered_aspects": [
            ids[a.id] for a, cover in zip(aspects, covers, strict=True) if not cover.isdisjoint(picks)
        ],
    }
    return evaluation if budget else {"optimal": len(picks), **evaluation}
