"""Raw dict -> `Instance`. Everything the format promises is checked here, once.

The format is the paper's appendix A.6, refined by spec rules 1 to 5. Keys beyond the twelve are
ignored, but for four that mean something to us:

- ``aspect_texts``: ``{aspect id: text}``
- ``hypothesis_paraphrases``: ``{name: text}``
- ``hypothesis_negation``: text
- ``synthetic``: true for an invented paper
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, cast, get_args

from evidencebench_core.data.model import (
    Aspect,
    EvidenceSet,
    Instance,
    SentenceType,
    StoredSelection,
)
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import InstanceError, shown

__all__ = ["KEYS", "parse_instance"]

KEYS: Final = (
    "hypothesis",
    "paper_as_candidate_pool",
    "aspect_list_ids",
    "results_aspect_list_ids",
    "aspect2sentence_indices",
    "sentence_index2aspects",
    "evidence_retrieval_at_optimal_evaluation",
    "evidence_retrieval_at_10_evaluation",
    "results_evidence_retrieval_at_optimal_evaluation",
    "results_evidence_retrieval_at_5_evaluation",
    "sentence_types_in_candidate_pool",
    "paper_id",
)
_SENTENCE_TYPES: Final = get_args(SentenceType)
_EVALUATIONS: Final = {  # key -> (task, fixed budget or None where the object brings its optimal K)
    "evidence_retrieval_at_optimal_evaluation": ("er@optimal", None),
    "evidence_retrieval_at_10_evaluation": ("er@10", 10),
    "results_evidence_retrieval_at_optimal_evaluation": ("result-er@optimal", None),
    "results_evidence_retrieval_at_5_evaluation": ("result-er@5", 5),
}


def parse_instance(instance_id: str, raw: object) -> Instance:
    """Check a raw instance and freeze it.

    Parameters
    ----------
    instance_id : str
        The key under which it stands in its file.
    raw : object
        The decoded JSON value; only a dict is an instance.

    Raises
    ------
    InstanceError
        Naming the instance, the field, the value found and what was expected.
    """
    return _Parser(instance_id, raw).instance()


class _Parser:
    """Holds the raw instance and its name, so that every message can tell where it is."""

    def __init__(self, instance_id: str, raw: object) -> None:
        self.id = instance_id
        if not isinstance(raw, dict):
            self.fail("", f"is {shown(raw)}, not an object", "An instance is an object with 12 keys.")
        self.raw = cast("dict[str, Any]", raw)
        missing = [key for key in KEYS if key not in self.raw]
        if missing:
            self.fail(missing[0], "is missing", "All 12 keys of the format are required.")

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        raise InstanceError(f"{self.id}.{field}" if field else self.id, problem, remedy)

    def instance(self) -> Instance:
        sentences = self.strings("paper_as_candidate_pool")
        if not sentences:
            self.fail("paper_as_candidate_pool", "is empty", "A paper needs at least one sentence.")
        types = self.types(len(sentences))
        evidence = self.evidence(len(sentences))
        negation = self.raw.get("hypothesis_negation")
        return Instance(
            id=self.id,
            hypothesis=self.text("hypothesis", self.raw["hypothesis"]),
            paper_id=self.text("paper_id", self.raw["paper_id"]),
            sentences=sentences,
            sentence_types=types,
            sections=section_titles(sentences, types),
            evidence=evidence,
            stored=MappingProxyType(self.stored(evidence)),
            paraphrases=MappingProxyType(self.texts("hypothesis_paraphrases")),
            negation=None if negation is None else self.text("hypothesis_negation", negation),
            synthetic=self.raw.get("synthetic") is True,
        )

    # -- plain values ---------------------------------------------------------------------

    def text(self, field: str, value: object) -> str:
        if not isinstance(value, str):
            self.fail(field, f"is {shown(value)}, not text", "Give a JSON string.")
        if not value.strip():
            self.fail(field, "is empty", "Give a text that is not blank.")
        if any("\ud800" <= char <= "\udfff" for char in value) if not value.isascii() else False:
            self.fail(field, "has half of a surrogate pair", "Write the file as valid UTF-8.")
        return value

    def strings(self, field: str, value: object = None) -> tuple[str, ...]:
        value = self.raw[field] if value is None else value
        if not isinstance(value, list):
            self.fail(field, f"is {shown(value)}, not a list", "Give a JSON list of strings.")
        for position, item in enumerate(value):
            if not isinstance(item, str):
                self.fail(f"{field}[{position}]", f"is {shown(item)}, not text", "Give a JSON string.")
            if not item.isascii() and any("\ud800" <= char <= "\udfff" for char in item):
                self.fail(
                    f"{field}[{position}]", "has half of a surrogate pair", "Write the file as valid UTF-8."
                )
        return tuple(value)

    def texts(self, field: str) -> dict[str, str]:
        value = self.raw.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(field, f"is {shown(value)}, not an object", "Give an object of name: text.")
        return {name: self.text(f"{field}[{shown(name)}]", text) for name, text in value.items()}

    def types(self, n_sentences: int) -> tuple[SentenceType, ...]:
        field = "sentence_types_in_candidate_pool"
        types = self.strings(field)
        if len(types) != n_sentences:
            self.fail(
                field, f"has {len(types)} entries for {n_sentences} sentences", "Give one type a sentence."
            )
        for position, kind in enumerate(types):
            if kind not in _SENTENCE_TYPES:
                allowed = ", ".join(_SENTENCE_TYPES)
                self.fail(f"{field}[{position}]", f"is {shown(kind)}", f"Types are: {allowed}.")
        return cast("tuple[SentenceType, ...]", types)

    def indices(self, field: str, value: object, n_sentences: int) -> tuple[int, ...]:
        if not isinstance(value, list):
            self.fail(field, f"is {shown(value)}, not a list", "Give a list of 0-based sentence indices.")
        for item in value:
            if type(item) is not int:  # bool is an int, and 3.0 == 3: neither is an index
                self.fail(field, f"holds {shown(item)}, not an integer", "Sentence indices are integers.")
            if not 0 <= item < n_sentences:
                self.fail(
                    field,
                    f"holds sentence index {item}, but the paper has {n_sentences} sentences",
                    f"Indices run from 0 to {n_sentences - 1}.",
                )
        if len(set(value)) != len(value):
            self.fail(field, f"repeats an index: {shown(value)}", "List every sentence once.")
        return tuple(value)

    # -- aspects --------------------------------------------------------------------------

    def evidence(self, n_sentences: int) -> EvidenceSet:
        ids = self.aspect_ids("aspect_list_ids")
        if not ids:
            self.fail("aspect_list_ids", "is empty", "An instance needs at least one study aspect.")
        results = self.result_ids(set(ids))
        covering = self.covering(ids, n_sentences)
        self.check_inverse(covering, n_sentences)
        texts = self.texts("aspect_texts")
        self.check_known("aspect_texts", texts, set(ids))
        aspects = tuple(
            Aspect(
                aspect, tuple(sorted(covering[aspect])), aspect in results, f"A{number}", texts.get(aspect)
            )
            for number, aspect in enumerate(ids, start=1)
        )
        optimal = self.optimal("evidence_retrieval_at_optimal_evaluation")
        if optimal is None:
            self.fail(
                "evidence_retrieval_at_optimal_evaluation",
                "is null",
                "Only the results_* evaluations may be null.",
            )
        return EvidenceSet(
            n_sentences=n_sentences,
            aspects=aspects,
            optimal=optimal,
            results_optimal=self.optimal("results_evidence_retrieval_at_optimal_evaluation"),
        )

    def aspect_ids(self, field: str) -> tuple[str, ...]:
        ids = self.strings(field)
        if len(set(ids)) != len(ids):
            repeated = next(aspect for aspect in ids if ids.count(aspect) > 1)
            self.fail(field, f"repeats {shown(repeated)}", "List every aspect once.")
        return ids

    def result_ids(self, known: set[str]) -> frozenset[str]:
        field = "results_aspect_list_ids"
        keys = [field, *(key for key in _EVALUATIONS if key.startswith("results_"))]
        absent = [key for key in keys if self.raw[key] is None]
        if absent and len(absent) < len(keys):
            there = next(key for key in keys if key not in absent)
            self.fail(absent[0], f"is null, but {there} is not", "Either all result fields are null or none.")
        if absent:
            return frozenset()
        ids = self.aspect_ids(field)
        self.check_known(field, ids, known)
        if not ids:
            self.fail(field, "is empty", "Where nothing is a result, all result fields are null.")
        return frozenset(ids)

    def check_known(self, field: str, ids: object, known: set[str]) -> None:
        for aspect in cast("tuple[str, ...]", ids):
            if aspect not in known:
                self.fail(field, f"names aspect {shown(aspect)}", "Aspects are those of aspect_list_ids.")

    def covering(self, ids: tuple[str, ...], n_sentences: int) -> dict[str, tuple[int, ...]]:
        field = "aspect2sentence_indices"
        value = self.raw[field]
        if not isinstance(value, dict):
            self.fail(field, f"is {shown(value)}, not an object", "Give an object of aspect id: indices.")
        self.check_known(field, tuple(value), set(ids))
        for aspect in ids:
            if aspect not in value:
                self.fail(field, f"has no entry for aspect {shown(aspect)}", "Give one entry an aspect.")
        return {
            aspect: self.indices(f"{field}[{shown(aspect)}]", value[aspect], n_sentences) for aspect in ids
        }

    def check_inverse(self, covering: Mapping[str, tuple[int, ...]], n_sentences: int) -> None:
        field = "sentence_index2aspects"
        value = self.raw[field]
        if not isinstance(value, dict):
            self.fail(
                field, f"is {shown(value)}, not an object", "Give an object of sentence index: aspects."
            )
        expected: dict[str, set[str]] = {str(index): set() for index in range(n_sentences)}
        for aspect, indices in covering.items():
            for index in indices:
                expected[str(index)].add(aspect)
        for key, aspects in value.items():
            if key not in expected:
                self.fail(field, f"has the key {shown(key)}", f'Keys are "0" to "{n_sentences - 1}".')
            if not isinstance(aspects, list) or set(map(str, aspects)) != expected[key]:
                self.fail(
                    f"{field}[{shown(key)}]",
                    f"is {shown(aspects)}, but aspect2sentence_indices says {shown(sorted(expected[key]))}",
                    "The two mappings must be each other's inverse.",
                )
        if len(value) != n_sentences:
            absent = next(key for key in expected if key not in value)
            self.fail(
                field, f"has no entry for sentence {absent}", "Give one entry a sentence, empty lists too."
            )

    # -- stored selections ----------------------------------------------------------------

    def optimal(self, field: str) -> int | None:
        value = self.raw[field]
        if value is None:
            return None
        optimal = value.get("optimal") if isinstance(value, dict) else None
        if type(optimal) is not int or optimal < 1:
            self.fail(f"{field}.optimal", f"is {shown(optimal)}", "Give a positive integer.")
        return optimal

    def stored(self, evidence: EvidenceSet) -> dict[str, StoredSelection]:
        selections: dict[str, StoredSelection] = {}
        for field, (task, budget) in _EVALUATIONS.items():
            value = self.raw[field]
            if value is None:
                if task == "er@10":
                    self.fail(field, "is null", "Only the results_* evaluations may be null.")
                continue
            if not isinstance(value, dict):
                self.fail(field, f"is {shown(value)}, not an object", "Give an evaluation object.")
            selections[task] = self.selection(field, value, evidence, budget)
        return selections

    def selection(
        self, field: str, value: dict[str, Any], evidence: EvidenceSet, budget: int | None
    ) -> StoredSelection:
        where = f"{field}.one_selection_of_sentences"
        picks = self.indices(where, value.get("one_selection_of_sentences"), evidence.n_sentences)
        limit = budget or value["optimal"]
        if len(picks) > limit or (budget is None and len(picks) != limit):
            self.fail(where, f"has {len(picks)} sentences for a budget of {limit}", "The selection must fit.")
        focus = evidence.focused("results" if field.startswith("results_") else "all")
        covered = {aspect.id for aspect in focus if not set(picks).isdisjoint(aspect.sentence_indices)}
        coverable = {aspect.id for aspect in focus if aspect.sentence_indices}
        stored = self.strings(f"{field}.covered_aspects", value.get("covered_aspects", ()))
        if set(stored) != covered:
            self.fail(
                f"{field}.covered_aspects",
                f"lists {len(stored)} aspects, but the selection covers {len(covered)}",
                "It must list the aspects that one_selection_of_sentences covers.",
            )
        if budget is None and covered != coverable:
            self.fail(
                where,
                f"covers {len(covered)} of {len(coverable)} aspects",
                "An optimal selection covers every aspect that a sentence covers.",
            )
        return StoredSelection(picks, stored, value.get("optimal") if budget is None else None)
