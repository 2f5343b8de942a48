"""The benchmark's released format (the paper's appendix A.6), read and written.

Hypothesis, candidate pool and ``aspect2sentence_indices`` are required of its twelve keys. What follows from them is
compared where the file has it, and computed where it does not. All other keys are kept, and six of them read:
``aspect_texts`` (``{aspect id: text}``), ``hypothesis_paraphrases`` (``{name: text}``), ``hypothesis_negation``,
``sections`` (one a sentence), ``synthetic`` (true for an invented paper) and ``construction`` (how the instance was
made; its ``gold`` says whether every sentence was looked at).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from evidencebench_core.data.formats.base import (
    Checked,
    Pool,
    Source,
    Text,
    check_indices,
    check_length,
    checked,
)
from evidencebench_core.data.model import (
    Aspect,
    EvidenceSet,
    Focus,
    Instance,
    SentenceType,
    evidence_set,
    paper_key,
)
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import InstanceError, shown


class Evaluation(Checked):
    one_selection_of_sentences: list[int]
    covered_aspects: list[str]


class OptimalEvaluation(Evaluation):
    optimal: Annotated[int, Field(ge=1)]


class Construction(Checked):
    gold: Literal["every sentence looked at", "sufficient spans"] | None = None


class ReleasedRecord(Checked):
    hypothesis: Text
    paper_as_candidate_pool: Pool
    aspect_list_ids: Annotated[list[str], Field(min_length=1, max_length=1_000)] | None = None
    results_aspect_list_ids: Annotated[list[str], Field(min_length=1)] | None = None
    aspect2sentence_indices: Annotated[dict[str, list[int]], Field(min_length=1, max_length=1_000)]
    sentence_index2aspects: dict[str, list[str]] | None = None
    evidence_retrieval_at_optimal_evaluation: OptimalEvaluation | None = None
    evidence_retrieval_at_10_evaluation: Evaluation | None = None
    results_evidence_retrieval_at_optimal_evaluation: OptimalEvaluation | None = None
    results_evidence_retrieval_at_5_evaluation: Evaluation | None = None
    sentence_types_in_candidate_pool: list[SentenceType] | None = None
    paper_id: Text | None = None
    aspect_texts: dict[str, Text] | None = None
    hypothesis_paraphrases: dict[Text, Text] | None = None
    hypothesis_negation: Text | None = None
    sections: list[str] | None = None
    synthetic: bool | None = None
    construction: Construction | None = None


KEYS: Final = tuple(ReleasedRecord.model_fields)[:12]
_TASKS: Final[Mapping[str, tuple[str, Focus, int | None]]] = {  # name, focus, budget or None for optimal K
    "evidence_retrieval_at_optimal_evaluation": ("er@optimal", "all", None),
    "evidence_retrieval_at_10_evaluation": ("er@10", "all", 10),
    "results_evidence_retrieval_at_optimal_evaluation": ("result-er@optimal", "results", None),
    "results_evidence_retrieval_at_5_evaluation": ("result-er@5", "results", 5),
}


def instances(source: Source) -> Iterator[Instance]:
    """The instances of a file; an id is the key that a record stands under, or its ``id``."""
    for place, key, value in source.file.records():
        instance_id = value.pop("id", None) if key is None and isinstance(value, dict) else key
        if not isinstance(instance_id, str):
            problem = f"has the id {shown(instance_id)}"
            raise InstanceError(place, problem, "Give every instance an id, a text.")
        yield instance_from(instance_id, value)


def instance_from(instance_id: str, raw: Any) -> Instance:
    """The instance of a record that stands under an id; `InstanceError` where it contradicts the format or itself."""
    place = f"instance {shown(instance_id)}"
    if not instance_id.strip():
        raise InstanceError(place, "has a blank id", "Give every instance an id.")
    record = checked(ReleasedRecord, raw, place)
    sentences, n_sentences = record.paper_as_candidate_pool, len(record.paper_as_candidate_pool)
    types = record.sentence_types_in_candidate_pool or ["normal_paragraph"] * n_sentences
    check_length(f"{place}, sentence_types_in_candidate_pool", types, n_sentences, "sentence")
    sections = record.sections or section_titles(sentences, types)
    check_length(f"{place}, sections", sections, n_sentences, "sentence")
    _check_aspects(record, place, n_sentences)
    instance = Instance(
        id=instance_id,
        hypothesis=record.hypothesis,
        paper_id=record.paper_id or paper_key(sentences, types),
        sentences=tuple(sentences),
        sentence_types=tuple(types),
        sections=tuple(sections),
        evidence=_evidence(record, n_sentences),
        stored=MappingProxyType(_selections(record, place, n_sentences)),
        paraphrases=MappingProxyType(record.hypothesis_paraphrases or {}),
        negation=record.hypothesis_negation,
        synthetic=bool(record.synthetic),
        construction=MappingProxyType(raw.get("construction") or {}),
    )
    written = released_record(instance)
    kept = {
        key: value for key, value in raw.items() if key not in written or not _is_same(written[key], value)
    }
    order = tuple(dict.fromkeys((*raw, *written)))
    if not kept and order == tuple(written):
        return instance
    is_usual = order == tuple(written | kept)
    return replace(instance, kept=MappingProxyType(kept), key_order=() if is_usual else order)


def _is_same(written: object, value: object) -> bool:
    """Whether two values are the same JSON, the order of keys included."""
    return written == value and (not isinstance(value, dict) or json.dumps(written) == json.dumps(value))


def _check_aspects(record: ReleasedRecord, place: str, n_sentences: int) -> None:
    """Names of aspects, sentence indices and the inverse of the mapping."""
    covering = record.aspect2sentence_indices
    ids = record.aspect_list_ids or [*covering]
    named = {
        "aspect_list_ids": ids,
        "results_aspect_list_ids": record.results_aspect_list_ids or [],
        "aspect_texts": [*(record.aspect_texts or {})],
        "aspect2sentence_indices": [*covering],
    }
    for field, names in named.items():
        if len(set(names)) < len(names):
            raise InstanceError(f"{place}, {field}", f"has an entry twice: {shown(names)}", "List each once.")
        if unknown := set(names).difference(ids):
            problem = f"names aspect {shown(min(unknown))}"
            raise InstanceError(f"{place}, {field}", problem, "Aspects are those of aspect_list_ids.")
    for aspect in ids:
        field = f"{place}, aspect2sentence_indices"
        if aspect not in covering:
            problem = f"has no entry for aspect {shown(aspect)}"
            raise InstanceError(field, problem, "Give one entry an aspect.")
        check_indices(f"{field}.{aspect}", covering[aspect], n_sentences)
    if record.sentence_index2aspects is not None:
        inverse, expected = record.sentence_index2aspects, inverse_of(covering, n_sentences)
        for key in expected | inverse:
            if key not in expected or set(inverse.get(key, ())) != set(expected[key]):
                problem = f"is {shown(inverse.get(key))}, but aspect2sentence_indices says {shown(expected.get(key))}"
                remedy = "The two mappings must be each other's inverse; or leave this one out."
                raise InstanceError(f"{place}, sentence_index2aspects.{key}", problem, remedy)


def _evidence(record: ReleasedRecord, n_sentences: int) -> EvidenceSet:
    """The gold, with the file's optimal numbers where it has them."""
    texts, results = record.aspect_texts or {}, record.results_aspect_list_ids or []
    covering = record.aspect2sentence_indices
    aspects = [
        Aspect(aspect, tuple(sorted(covering[aspect])), aspect in results, f"A{number}", texts.get(aspect))
        for number, aspect in enumerate(record.aspect_list_ids or covering, start=1)
    ]
    optimal = record.evidence_retrieval_at_optimal_evaluation
    of_results = record.results_evidence_retrieval_at_optimal_evaluation
    if optimal is None or (results and of_results is None):
        return evidence_set(n_sentences, aspects)
    results_optimal = of_results.optimal if of_results else None
    return EvidenceSet(n_sentences, tuple(aspects), optimal.optimal, results_optimal)


def _selections(record: ReleasedRecord, place: str, n_sentences: int) -> dict[str, tuple[int, ...]]:
    """The file's selections by task; `InstanceError` where an evaluation does not agree with the gold."""
    selections = {}
    for key, (task, focus, budget) in _TASKS.items():
        evaluation: Evaluation | None = getattr(record, key)
        if evaluation is None:
            continue
        picks, covering = evaluation.one_selection_of_sentences, record.aspect2sentence_indices
        check_indices(f"{place}, {key}.one_selection_of_sentences", picks, n_sentences)
        aspects = covering if focus == "all" else record.results_aspect_list_ids or ()
        covers = {aspect: frozenset(covering[aspect]) for aspect in aspects}
        if problem := _disagreement(evaluation, covers, budget):
            raise InstanceError(
                f"{place}, {key}", problem, "Correct it, or leave it out: then it is computed."
            )
        selections[task] = tuple(picks)
    return selections


def _disagreement(evaluation: Evaluation, covers: Mapping[str, frozenset[int]], budget: int | None) -> str:
    """How an evaluation contradicts the gold; ``""`` where it does not."""
    picks = evaluation.one_selection_of_sentences
    covered = [aspect for aspect, sentences in covers.items() if not sentences.isdisjoint(picks)]
    if set(evaluation.covered_aspects) != set(covered):
        return f"has the covered_aspects {shown(evaluation.covered_aspects)}, but the selection covers {shown(covered)}"
    if budget is not None:
        return f"selects {len(picks)} sentences, more than {budget}" if len(picks) > budget else ""
    optimal = evaluation.optimal if isinstance(evaluation, OptimalEvaluation) else 0
    if optimal != len(picks):
        return f"selects {len(picks)} sentences for an optimum of {optimal}"
    coverable = [aspect for aspect, sentences in covers.items() if sentences]
    if len(covered) < len(coverable):
        return f"covers {len(covered)} of the {len(coverable)} aspects that can be covered"
    smaller = _smaller_cover(list(covers.values()), optimal)
    return f"selects {optimal} sentences where {shown(smaller)} would do" if smaller else ""


def _smaller_cover(covers: Sequence[frozenset[int]], n_picks: int) -> tuple[int, ...]:
    """A smaller selection that covers all aspects that can be covered; empty where none is known."""
    used: set[int] = set()
    n_needed = 0  # aspects of which no sentence covers two need a pick each
    for cover in sorted(covers, key=len):
        if cover and used.isdisjoint(cover):
            used |= cover
            n_needed += 1
    if n_needed == n_picks:
        return ()
    from evidencebench_core.metrics import optimal_cover

    picks = optimal_cover(covers)
    return picks if len(picks) < n_picks else ()


def inverse_of(covering: Mapping[str, Sequence[int]], n_sentences: int) -> dict[str, list[str]]:
    """``sentence_index2aspects`` as it follows from ``aspect2sentence_indices``."""
    aspects: dict[str, list[str]] = {str(index): [] for index in range(n_sentences)}
    for aspect, indices in covering.items():
        for index in indices:
            aspects[str(index)].append(aspect)
    return aspects


def released_record(instance: Instance) -> dict[str, Any]:
    """The instance as it stands in a file of the benchmark, under its id.

    What came from such a file is written as it stood there. Selections that the file did not have are computed: a
    smallest cover at optimal K, and the largest coverage with 10 and 5 sentences.
    """
    aspects = instance.evidence.aspects
    covering = {aspect.id: list(aspect.sentence_indices) for aspect in aspects}
    titles = section_titles(instance.sentences, instance.sentence_types)
    record: dict[str, Any] = {
        "hypothesis": instance.hypothesis,
        "paper_as_candidate_pool": list(instance.sentences),
        "aspect_list_ids": list(covering),
        "results_aspect_list_ids": [aspect.id for aspect in aspects if aspect.is_result] or None,
        "aspect2sentence_indices": covering,
        "sentence_index2aspects": inverse_of(covering, len(instance.sentences)),
        **{key: _evaluation(instance, *task) for key, task in _TASKS.items()},
        "sentence_types_in_candidate_pool": list(instance.sentence_types),
        "paper_id": instance.paper_id,
    }
    optional = {
        "aspect_texts": {aspect.id: aspect.text for aspect in aspects if aspect.text is not None},
        "hypothesis_paraphrases": dict(instance.paraphrases),
        "hypothesis_negation": instance.negation,
        "sections": None if instance.sections == titles else list(instance.sections),
        "construction": dict(instance.construction),
        "synthetic": instance.synthetic,
    }
    record |= {key: value for key, value in optional.items() if value}
    record |= instance.kept
    return {key: record[key] for key in instance.key_order} if instance.key_order else record


def _evaluation(instance: Instance, task: str, focus: Focus, budget: int | None) -> dict[str, Any] | None:
    from evidencebench_core.metrics import best_cover, optimal_cover

    aspects = instance.evidence.focused(focus)
    if not aspects:
        return None
    picks = instance.stored.get(task)
    if picks is None:
        covers = instance.evidence.covers(focus)
        picks = optimal_cover(covers) if budget is None else best_cover(covers, budget)
    covered = [aspect.id for aspect in aspects if not set(picks).isdisjoint(aspect.sentence_indices)]
    evaluation = {"one_selection_of_sentences": list(picks), "covered_aspects": covered}
    return {"optimal": len(picks), **evaluation} if budget is None else evaluation
