"""The benchmark's released format (the paper's appendix A.6): what an instance in a file must be.

Keys beyond the twelve are kept, but only five of them mean something to us:

- ``aspect_texts``: ``{aspect id: text}``
- ``hypothesis_paraphrases``: ``{name: text}``
- ``hypothesis_negation``: text
- ``synthetic``: true for an invented paper
- ``construction``: how the instance was made; its ``gold`` says whether every sentence was looked at
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidencebench_core.data.model import Aspect, EvidenceSet, Instance, SentenceType
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import InstanceError, shown

Text = Annotated[str, Field(pattern=r"\S")]


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True)


class Evaluation(_Checked):
    one_selection_of_sentences: list[int]
    covered_aspects: list[str]


class OptimalEvaluation(Evaluation):
    optimal: Annotated[int, Field(ge=1)]


class EvaluationAt5(Evaluation):
    one_selection_of_sentences: Annotated[list[int], Field(max_length=5)]


class EvaluationAt10(Evaluation):
    one_selection_of_sentences: Annotated[list[int], Field(max_length=10)]


class Construction(_Checked):
    gold: Literal["every sentence looked at", "sufficient spans"] | None = None


class RawInstance(_Checked):
    hypothesis: Text
    paper_as_candidate_pool: Annotated[list[str], Field(min_length=1, max_length=5_000)]
    aspect_list_ids: Annotated[list[str], Field(min_length=1, max_length=1_000)]
    results_aspect_list_ids: Annotated[list[str], Field(min_length=1)] | None
    aspect2sentence_indices: dict[str, list[int]]
    sentence_index2aspects: dict[str, list[str]]
    evidence_retrieval_at_optimal_evaluation: OptimalEvaluation
    evidence_retrieval_at_10_evaluation: EvaluationAt10
    results_evidence_retrieval_at_optimal_evaluation: OptimalEvaluation | None
    results_evidence_retrieval_at_5_evaluation: EvaluationAt5 | None
    sentence_types_in_candidate_pool: list[SentenceType]
    paper_id: Text
    aspect_texts: dict[str, Text] | None = None
    hypothesis_paraphrases: dict[Text, Text] | None = None
    hypothesis_negation: Text | None = None
    synthetic: bool | None = None
    construction: Construction | None = None


KEYS: Final = tuple(name for name, field in RawInstance.model_fields.items() if field.is_required())
OPTIONAL_KEYS: Final = tuple(name for name in RawInstance.model_fields if name not in KEYS)
_TASKS: Final = {
    "evidence_retrieval_at_optimal_evaluation": "er@optimal",
    "evidence_retrieval_at_10_evaluation": "er@10",
    "results_evidence_retrieval_at_optimal_evaluation": "result-er@optimal",
    "results_evidence_retrieval_at_5_evaluation": "result-er@5",
}
_RESULT_KEYS: Final = tuple(key for key in KEYS if key.startswith("results_"))
_Fault = tuple[str, str, str]  # field, problem, remedy
_REMEDIES: Final = {  # by pydantic's type of error; its own sentence for the others
    "missing": "All 12 keys of the format are required.",
    "string_pattern_mismatch": "Give a text that is not blank.",
    "model_type": "Give an object.",
}


def parse_instance(instance_id: str, raw: object) -> Instance:
    """Check a decoded JSON value, which stands under ``instance_id`` in its file, and freeze it."""
    check_instance(instance_id, raw)
    return instance_of(instance_id, cast("dict[str, Any]", raw))


def check_instance(instance_id: str, raw: object) -> RawInstance:
    """The raw instance, which keeps every promise of the format; `InstanceError` names its first fault."""
    if not instance_id.strip():
        raise InstanceError(shown(instance_id), "is a blank instance id", "Give every instance an id.")
    try:
        checked = RawInstance.model_validate(raw)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        parts = [
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"] if part != "[key]"
        ]
        problem = "is missing" if fault["type"] == "missing" else f"is {shown(fault['input'])}"
        remedy = _REMEDIES.get(fault["type"], f"{fault['msg']}.")
        raise InstanceError(f"{instance_id}{''.join(parts)}", problem, remedy) from None
    for field, problem, remedy in _contradictions(checked):
        raise InstanceError(f"{instance_id}.{field}", problem, remedy)
    return checked


def _contradictions(raw: RawInstance) -> Iterator[_Fault]:
    """What the fields of an instance say against each other; only the first one is certain."""
    n_sentences, n_types = len(raw.paper_as_candidate_pool), len(raw.sentence_types_in_candidate_pool)
    if n_types != n_sentences:
        problem = f"has {n_types} entries for {n_sentences} sentences"
        yield "sentence_types_in_candidate_pool", problem, "Give one type a sentence."
    absent = [key for key in _RESULT_KEYS if getattr(raw, key) is None]
    if 0 < len(absent) < len(_RESULT_KEYS):
        yield absent[0], "is null", "Either all result fields are null or none."
    results = raw.results_aspect_list_ids or []
    yield from _repeated("aspect_list_ids", raw.aspect_list_ids)
    yield from _repeated("results_aspect_list_ids", results)
    named = {
        "results_aspect_list_ids": results,
        "aspect_texts": raw.aspect_texts or {},
        "aspect2sentence_indices": raw.aspect2sentence_indices,
    }
    for field, aspects in named.items():
        for aspect in aspects:
            if aspect not in raw.aspect_list_ids:
                yield field, f"names aspect {shown(aspect)}", "Aspects are those of aspect_list_ids."
    covers: dict[str, frozenset[int]] = {}
    for aspect in raw.aspect_list_ids:
        if aspect not in raw.aspect2sentence_indices:
            problem = f"has no entry for aspect {shown(aspect)}"
            yield "aspect2sentence_indices", problem, "Give one entry an aspect."
        indices = raw.aspect2sentence_indices[aspect]
        yield from _wrong_indices(f"aspect2sentence_indices.{aspect}", indices, n_sentences)
        covers[aspect] = frozenset(indices)
    yield from _wrong_inverse(raw, n_sentences)
    for key in _TASKS:
        evaluation: Evaluation | None = getattr(raw, key)
        if evaluation is not None:
            focus = results if key in _RESULT_KEYS else raw.aspect_list_ids
            yield from _wrong_evaluation(
                key, evaluation, {aspect: covers[aspect] for aspect in focus}, n_sentences
            )


def _repeated(field: str, values: Sequence[object]) -> Iterator[_Fault]:
    if len(set(values)) < len(values):
        yield field, f"has an entry twice: {shown(values)}", "List each once."


def _wrong_indices(field: str, indices: Sequence[int], n_sentences: int) -> Iterator[_Fault]:
    yield from _repeated(field, indices)
    for index in indices:
        if not 0 <= index < n_sentences:
            yield field, f"holds sentence index {index}", f"Indices run from 0 to {n_sentences - 1}."


def _wrong_inverse(raw: RawInstance, n_sentences: int) -> Iterator[_Fault]:
    field, inverse = "sentence_index2aspects", raw.sentence_index2aspects
    wrong_keys = inverse.keys() ^ _keys(n_sentences)
    if wrong_keys:
        problem = f"has or lacks the key {shown(min(wrong_keys))}"
        yield field, problem, f'Keys are "0" to "{n_sentences - 1}".'
    expected = inverse_of(raw.aspect2sentence_indices)
    for key, aspects in inverse.items():
        covered = expected.get(key, [])
        if aspects != covered and set(aspects) != set(covered):
            problem = f"is {shown(aspects)}, but aspect2sentence_indices says {shown(covered)}"
            yield f"{field}.{key}", problem, "The two mappings must be each other's inverse."


def _wrong_evaluation(
    key: str, evaluation: Evaluation, covers: Mapping[str, frozenset[int]], n_sentences: int
) -> Iterator[_Fault]:
    field = f"{key}.one_selection_of_sentences"
    yield from _wrong_indices(field, evaluation.one_selection_of_sentences, n_sentences)
    selection = frozenset(evaluation.one_selection_of_sentences)
    hits = {aspect: sentences & selection for aspect, sentences in covers.items()}
    covered = {aspect for aspect, picks in hits.items() if picks}
    if set(evaluation.covered_aspects) != covered:
        problem = f"is {shown(evaluation.covered_aspects)}, but the selection covers {shown(sorted(covered))}"
        yield f"{key}.covered_aspects", problem, "List the aspects of the task that it covers."
    if isinstance(evaluation, OptimalEvaluation):
        if len(selection) != evaluation.optimal:
            yield (
                field,
                f"has {len(selection)} sentences for an optimum of {evaluation.optimal}",
                "They must agree.",
            )
        n_coverable = sum(map(bool, covers.values()))
        if len(covered) < n_coverable:
            remedy = "An optimal selection covers every aspect that a sentence covers."
            yield field, f"covers {len(covered)} of {n_coverable} aspects", remedy
        needless = selection.difference(*(picks for picks in hits.values() if len(picks) == 1))
        if needless:
            remedy = "An optimal selection has the smallest number of sentences that cover all aspects."
            yield field, f"covers the same without sentence {min(needless)}", remedy


@cache
def _keys(n_sentences: int) -> frozenset[str]:
    return frozenset(map(str, range(n_sentences)))


def inverse_of(covering: Mapping[str, Collection[int]], n_sentences: int = 0) -> dict[str, list[str]]:
    """``sentence_index2aspects`` as it follows from ``aspect2sentence_indices``, of so many sentences at least."""
    aspects: dict[str, list[str]] = {str(index): [] for index in range(n_sentences)}
    for aspect, indices in covering.items():
        for index in indices:
            aspects.setdefault(str(index), []).append(aspect)
    return aspects


def instance_of(instance_id: str, raw: Mapping[str, Any]) -> Instance:
    """Freeze a raw instance that has been checked before, as those of the store have."""
    sentences = tuple(raw["paper_as_candidate_pool"])
    types: tuple[SentenceType, ...] = tuple(raw["sentence_types_in_candidate_pool"])
    stored = {
        task: tuple(raw[key]["one_selection_of_sentences"])
        for key, task in _TASKS.items()
        if raw[key] is not None
    }
    return Instance(
        id=instance_id,
        hypothesis=raw["hypothesis"],
        paper_id=raw["paper_id"],
        sentences=sentences,
        sentence_types=types,
        sections=section_titles(sentences, types),
        evidence=evidence_of(raw, len(sentences)),
        stored=MappingProxyType(stored),
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
    aspects = [
        Aspect(aspect, tuple(sorted(covering[aspect])), aspect in results, f"A{number}", texts.get(aspect))
        for number, aspect in enumerate(raw["aspect_list_ids"], start=1)
    ]
    return EvidenceSet(
        n_sentences=n_sentences,
        aspects=tuple(aspects),
        optimal=raw["evidence_retrieval_at_optimal_evaluation"]["optimal"],
        results_optimal=None if results_evaluation is None else results_evaluation["optimal"],
    )
