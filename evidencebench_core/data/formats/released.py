"""The benchmark's released format (the paper's appendix A.6), read and written.

Of its twelve keys hypothesis, candidate pool and ``aspect2sentence_indices`` are required. What follows from them is
compared where the file has it, and computed where it has not. All other keys are kept, and the six last ones of
`ReleasedRecord` read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import Field

from evidencebench_core.data.formats import base
from evidencebench_core.data.model import Aspect, EvidenceSet, Focus, Instance, SentenceType, evidence_set
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import InstanceError, shown


class Evaluation(base.Checked):
    one_selection_of_sentences: list[int]
    covered_aspects: list[str]
    optimal: int | None = None


class Construction(base.Checked):
    gold: Literal["every sentence looked at", "sufficient spans"] | None = None


class ReleasedRecord(base.Checked):
    hypothesis: base.Text
    paper_as_candidate_pool: base.Pool
    aspect_list_ids: Annotated[list[str], Field(min_length=1, max_length=1_000)] | None = None
    results_aspect_list_ids: Annotated[list[str], Field(min_length=1)] | None = None
    aspect2sentence_indices: Annotated[dict[str, list[int]], Field(min_length=1, max_length=1_000)]
    sentence_index2aspects: dict[str, list[str]] | None = None
    evidence_retrieval_at_optimal_evaluation: Evaluation | None = None
    evidence_retrieval_at_10_evaluation: Evaluation | None = None
    results_evidence_retrieval_at_optimal_evaluation: Evaluation | None = None
    results_evidence_retrieval_at_5_evaluation: Evaluation | None = None
    sentence_types_in_candidate_pool: list[SentenceType] | None = None
    paper_id: base.Text | None = None
    aspect_texts: dict[str, base.Text] | None = None
    hypothesis_paraphrases: dict[base.Text, base.Text] | None = None
    hypothesis_negation: base.Text | None = None
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


def instances(source: base.Source) -> Iterator[Instance]:
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
    record = base.checked(ReleasedRecord, raw, place)
    _check_aspects(record, place)
    texts, results = record.aspect_texts or {}, record.results_aspect_list_ids or ()
    aspects = []
    for number, aspect in enumerate(record.aspect_list_ids or record.aspect2sentence_indices, start=1):
        indices = tuple(sorted(record.aspect2sentence_indices[aspect]))
        aspects.append(Aspect(aspect, indices, aspect in results, f"A{number}", texts.get(aspect)))
    evidence = evidence_set(len(record.paper_as_candidate_pool), aspects)
    stored = _selections(record, place, evidence)
    # A search can end before the smallest cover is proven, and the file's be smaller.
    optimal = len(stored.get("er@optimal", ())) or evidence.optimal
    results_optimal = len(stored.get("result-er@optimal", ())) or evidence.results_optimal
    instance = base.built_instance(
        place,
        sentences=record.paper_as_candidate_pool,
        sentence_types=record.sentence_types_in_candidate_pool,
        sections=record.sections,
        paper_id=record.paper_id,
        id=instance_id,
        hypothesis=record.hypothesis,
        evidence=replace(evidence, optimal=optimal, results_optimal=results_optimal),
        stored=stored,
        paraphrases=record.hypothesis_paraphrases or {},
        negation=record.hypothesis_negation,
        synthetic=bool(record.synthetic),
        construction=raw.get("construction") or {},
    )
    written = released_record(instance)
    kept = dict(raw)
    for key in written.keys() & raw.keys():
        if orjson.dumps(written[key]) == orjson.dumps(raw[key]):  # the order of keys included
            del kept[key]
    order = tuple(dict.fromkeys((*raw, *written)))
    return replace(instance, kept=kept, key_order=() if order == tuple(written | kept) else order)


def _check_aspects(record: ReleasedRecord, place: str) -> None:
    covering, n_sentences = record.aspect2sentence_indices, len(record.paper_as_candidate_pool)
    ids = record.aspect_list_ids or [*covering]
    for field in ("aspect_list_ids", "results_aspect_list_ids", "aspect_texts", "aspect2sentence_indices"):
        names = [*(getattr(record, field) or ())]
        base.check_unique(f"{place}, {field}", names)
        if unknown := set(names).difference(ids):
            problem = f"names aspect {shown(min(unknown))}"
            raise InstanceError(f"{place}, {field}", problem, "Aspects are those of aspect_list_ids.")
    for aspect in ids:
        field = f"{place}, aspect2sentence_indices"
        if aspect not in covering:
            problem = f"has no entry for aspect {shown(aspect)}"
            raise InstanceError(field, problem, "Give one entry an aspect.")
        base.check_indices(f"{field}.{aspect}", covering[aspect], n_sentences)
    inverse, expected = record.sentence_index2aspects, inverse_of(covering, n_sentences)
    if inverse is None or inverse == expected:
        return
    for key in expected | inverse:
        if key not in expected or set(inverse.get(key, ())) != set(expected[key]):
            problem = (
                f"is {shown(inverse.get(key))}, but aspect2sentence_indices says {shown(expected.get(key))}"
            )
            remedy = "The two mappings must be each other's inverse; or leave this one out."
            raise InstanceError(f"{place}, sentence_index2aspects.{key}", problem, remedy)


def _selections(record: ReleasedRecord, place: str, evidence: EvidenceSet) -> dict[str, tuple[int, ...]]:
    """The file's selections by task; `InstanceError` where an evaluation does not agree with the gold."""
    selections = {}
    for key, (task, focus, budget) in _TASKS.items():
        evaluation: Evaluation | None = getattr(record, key)
        if evaluation is None:
            continue
        picks = evaluation.one_selection_of_sentences
        base.check_indices(f"{place}, {key}.one_selection_of_sentences", picks, evidence.n_sentences)
        problem = _disagreement(evaluation, evidence.focused(focus), budget, evidence.optimal_for(focus) or 0)
        if problem:
            remedy = "Correct it, or leave it out; it is computed then."
            raise InstanceError(f"{place}, {key}", problem, remedy)
        selections[task] = tuple(picks)
    return selections


def _disagreement(evaluation: Evaluation, aspects: Sequence[Aspect], budget: int | None, optimal: int) -> str:
    """How an evaluation contradicts the gold; ``""`` where it does not."""
    picks, stated = evaluation.one_selection_of_sentences, evaluation.covered_aspects
    covered = _covered(aspects, picks)
    if set(stated) != set(covered):
        return f"has the covered_aspects {shown(stated)}, but the selection covers {shown(covered)}"
    if budget is not None:
        return f"selects {len(picks)} sentences, more than {budget}" if len(picks) > budget else ""
    n_coverable = sum(bool(aspect.sentence_indices) for aspect in aspects)
    if len(covered) == n_coverable and evaluation.optimal == len(picks) <= optimal:
        return ""
    selection = (
        f"{len(picks)} sentences, which cover {len(covered)} aspects, for an optimum of {evaluation.optimal}"
    )
    return f"selects {selection}, where {optimal} would do to cover {n_coverable}"


def _covered(aspects: Sequence[Aspect], picks: Sequence[int]) -> list[str]:
    return [aspect.id for aspect in aspects if not set(picks).isdisjoint(aspect.sentence_indices)]


def inverse_of(covering: Mapping[str, Sequence[int]], n_sentences: int) -> dict[str, list[str]]:
    """``sentence_index2aspects`` as it follows from ``aspect2sentence_indices``."""
    aspects: dict[str, list[str]] = {str(index): [] for index in range(n_sentences)}
    for aspect, indices in covering.items():
        for index in indices:
            aspects[str(index)].append(aspect)
    return aspects


def released_record(instance: Instance) -> dict[str, Any]:
    """The instance as it stands in a file of the benchmark, under its id; selections it does not have are computed.

    What came from such a file is written as it stood there.
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
    evaluation = {"one_selection_of_sentences": list(picks), "covered_aspects": _covered(aspects, picks)}
    return {"optimal": len(picks), **evaluation} if budget is None else evaluation
