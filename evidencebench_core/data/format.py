"""The benchmark's released format (the paper's appendix A.6): what an instance in a file must be.

Keys beyond the twelve are kept, but only five of them mean something to us:

- ``aspect_texts``: ``{aspect id: text}``
- ``hypothesis_paraphrases``: ``{name: text}``
- ``hypothesis_negation``: text
- ``synthetic``: true for an invented paper
- ``construction``: how the instance was made; its ``gold`` says whether every sentence was looked at
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NoReturn, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidencebench_core.data.model import (
    SUFFICIENT,
    Aspect,
    EvidenceSet,
    Instance,
    SentenceType,
)
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


class Construction(_Checked):
    gold: Literal["every sentence looked at", "sufficient spans"] | None = None


class RawInstance(_Checked):
    hypothesis: Text
    paper_as_candidate_pool: Annotated[list[str], Field(min_length=1, max_length=5_000)]
    aspect_list_ids: Annotated[list[str], Field(min_length=1, max_length=1_000)]
    results_aspect_list_ids: Annotated[list[str], Field(min_length=1)] | None
    aspect2sentence_indices: dict[str, list[int]]
    sentence_index2aspects: dict[str, Any]  # compared with what aspect2sentence_indices says
    evidence_retrieval_at_optimal_evaluation: OptimalEvaluation
    evidence_retrieval_at_10_evaluation: Evaluation
    results_evidence_retrieval_at_optimal_evaluation: OptimalEvaluation | None
    results_evidence_retrieval_at_5_evaluation: Evaluation | None
    sentence_types_in_candidate_pool: list[SentenceType]
    paper_id: Text
    aspect_texts: dict[str, Text] | None = None
    hypothesis_paraphrases: dict[Text, Text] | None = None
    hypothesis_negation: Text | None = None
    synthetic: bool | None = None
    construction: Construction | None = None

    @property
    def is_sufficient(self) -> bool:
        """Whether it says that its gold is sufficient, not complete."""
        return self.construction is not None and self.construction.gold == SUFFICIENT


KEYS: Final = tuple(name for name, field in RawInstance.model_fields.items() if field.is_required())
OPTIONAL_KEYS: Final = tuple(name for name in RawInstance.model_fields if name not in KEYS)
_EVALUATIONS: Final = {  # key -> (task, fixed budget or None where the object brings its optimal K)
    "evidence_retrieval_at_optimal_evaluation": ("er@optimal", None),
    "evidence_retrieval_at_10_evaluation": ("er@10", 10),
    "results_evidence_retrieval_at_optimal_evaluation": ("result-er@optimal", None),
    "results_evidence_retrieval_at_5_evaluation": ("result-er@5", 5),
}
_RESULT_KEYS: Final = tuple(key for key in KEYS if key.startswith("results_"))
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
    """The raw instance, which keeps every promise of the format, or `InstanceError`."""
    if not instance_id.strip():
        raise InstanceError(shown(instance_id), "is a blank instance id", "Give every instance an id.")
    try:
        checked = RawInstance.model_validate(raw)
    except ValidationError as error:
        raise _first_fault(instance_id, error) from None
    _Consistency(instance_id, checked).check()
    return checked


def _first_fault(instance_id: str, error: ValidationError) -> InstanceError:
    fault = error.errors(include_url=False, include_context=False)[0]
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"] if part != "[key]"
    )
    problem = "is missing" if fault["type"] == "missing" else f"is {shown(fault['input'])}"
    remedy = _REMEDIES.get(fault["type"], f"{fault['msg']}.")
    return InstanceError(f"{instance_id}{place}", problem, remedy)


class _Consistency:
    """What the fields of an instance promise about each other."""

    def __init__(self, instance_id: str, raw: RawInstance) -> None:
        self.id, self.raw = instance_id, raw
        self.n_sentences = len(raw.paper_as_candidate_pool)
        self.covers: dict[str, frozenset[int]] = {}

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        raise InstanceError(f"{self.id}.{field}", problem, remedy)

    def check(self) -> None:
        raw = self.raw
        n_types = len(raw.sentence_types_in_candidate_pool)
        if n_types != self.n_sentences:
            problem = f"has {n_types} entries for {self.n_sentences} sentences"
            self.fail("sentence_types_in_candidate_pool", problem, "Give one type a sentence.")
        absent = [key for key in _RESULT_KEYS if getattr(raw, key) is None]
        if 0 < len(absent) < len(_RESULT_KEYS):
            self.fail(absent[0], "is null", "Either all result fields are null or none.")
        results = raw.results_aspect_list_ids or []
        self.unique("aspect_list_ids", raw.aspect_list_ids)
        self.unique("results_aspect_list_ids", results)
        self.known("results_aspect_list_ids", results)
        self.known("aspect_texts", raw.aspect_texts or ())
        self.mappings()
        for key, (_, budget) in _EVALUATIONS.items():
            evaluation = getattr(raw, key)
            if evaluation is not None:
                focus = results if key in _RESULT_KEYS else raw.aspect_list_ids
                self.evaluation(key, evaluation, focus, budget)

    def unique(self, field: str, values: Sequence[object]) -> None:
        if len(set(values)) < len(values):
            self.fail(field, f"has an entry twice: {shown(values)}", "List each once.")

    def known(self, field: str, aspects: Iterable[str]) -> None:
        for aspect in aspects:
            if aspect not in self.raw.aspect_list_ids:
                self.fail(field, f"names aspect {shown(aspect)}", "Aspects are those of aspect_list_ids.")

    def indices(self, field: str, indices: Sequence[int]) -> frozenset[int]:
        """The sentences that the indices stand for."""
        sentences = frozenset(indices)
        if len(sentences) < len(indices):
            self.unique(field, indices)
        for index in sentences:
            if not 0 <= index < self.n_sentences:
                remedy = f"Indices run from 0 to {self.n_sentences - 1}."
                self.fail(field, f"holds sentence index {index}", remedy)
        return sentences

    def mappings(self) -> None:
        """That the two mappings are each other's inverse."""
        field, covering = "aspect2sentence_indices", self.raw.aspect2sentence_indices
        self.known(field, covering)
        for aspect in self.raw.aspect_list_ids:
            if aspect not in covering:
                self.fail(field, f"has no entry for aspect {shown(aspect)}", "Give one entry an aspect.")
            self.covers[aspect] = self.indices(f"{field}.{aspect}", covering[aspect])
        field, inverse = "sentence_index2aspects", self.raw.sentence_index2aspects
        wrong_keys = inverse.keys() ^ _keys(self.n_sentences)
        if wrong_keys:
            problem = f"has or lacks the key {shown(min(wrong_keys))}"
            self.fail(field, problem, f'Keys are "0" to "{self.n_sentences - 1}".')
        expected = inverse_of(covering)
        if {key: aspects for key, aspects in inverse.items() if aspects != []} == expected:
            return
        for key, aspects in inverse.items():
            covered = expected.get(key, [])
            are_ids = isinstance(aspects, list) and all(isinstance(aspect, str) for aspect in aspects)
            if not are_ids or set(aspects) != set(covered):
                problem = f"is {shown(aspects)}, but aspect2sentence_indices says {shown(covered)}"
                self.fail(f"{field}.{key}", problem, "The two mappings must be each other's inverse.")

    def evaluation(
        self, key: str, evaluation: Evaluation, focus: Collection[str], budget: int | None
    ) -> None:
        picks = evaluation.one_selection_of_sentences
        field = f"{key}.one_selection_of_sentences"
        selection = self.indices(field, picks)
        hits = [self.covers[aspect] & selection for aspect in focus]
        covered = {aspect for aspect, picks_of_aspect in zip(focus, hits, strict=True) if picks_of_aspect}
        stated = evaluation.covered_aspects
        if set(stated) != covered:
            problem = f"is {shown(stated)}, but the selection covers {shown(sorted(covered))}"
            self.fail(f"{key}.covered_aspects", problem, "List the aspects of the task that it covers.")
        is_optimal = isinstance(evaluation, OptimalEvaluation)
        limit = evaluation.optimal if isinstance(evaluation, OptimalEvaluation) else budget or 0
        if len(picks) > limit or (is_optimal and len(picks) < limit):
            self.fail(field, f"has {len(picks)} sentences for a budget of {limit}", "The selection must fit.")
        if not is_optimal:
            return
        n_coverable = sum(bool(self.covers[aspect]) for aspect in focus)
        if len(covered) < n_coverable:
            remedy = "An optimal selection covers every aspect that a sentence covers."
            self.fail(field, f"covers {len(covered)} of {n_coverable} aspects", remedy)
        needed = frozenset[int]().union(*(sentences for sentences in hits if len(sentences) == 1))
        if len(needed) < len(picks):
            remedy = "An optimal selection has the smallest number of sentences that cover all aspects."
            self.fail(field, f"covers the same without sentence {min(selection - needed)}", remedy)


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
        for key, (task, _) in _EVALUATIONS.items()
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
