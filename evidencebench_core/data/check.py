"""Every promise of the benchmark's format, checked on a raw instance.

The format is the paper's appendix A.6, refined by spec rules 1 to 5; `parse` turns what passes into an
`Instance`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final, NoReturn, TypeVar, get_args

from evidencebench_core.data.model import SUFFICIENT, SentenceType
from evidencebench_core.errors import InstanceError, shown

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
OPTIONAL_KEYS: Final = (
    *("aspect_texts", "hypothesis_paraphrases", "hypothesis_negation", "synthetic", "construction"),
)
GOLD_KINDS: Final = ("every sentence looked at", SUFFICIENT)
"""The values of ``construction.gold``."""
EVALUATIONS: Final = {  # key -> (task, fixed budget or None where the object brings its optimal K)
    "evidence_retrieval_at_optimal_evaluation": ("er@optimal", None),
    "evidence_retrieval_at_10_evaluation": ("er@10", 10),
    "results_evidence_retrieval_at_optimal_evaluation": ("result-er@optimal", None),
    "results_evidence_retrieval_at_5_evaluation": ("result-er@5", 5),
}

_MOST_SENTENCES: Final = 5_000  # as of any paper; the longest of the benchmark has 794
_MOST_ASPECTS: Final = 1_000  # with so many the best selection is still found, or bounded, in seconds

_POOL: Final = "paper_as_candidate_pool"
_TYPES: Final = "sentence_types_in_candidate_pool"
_IDS: Final = "aspect_list_ids"
_RESULT_IDS: Final = "results_aspect_list_ids"
_RESULT_FIELDS: Final = (_RESULT_IDS, *(key for key in EVALUATIONS if key.startswith("results_")))
_SENTENCE_TYPES: Final = get_args(SentenceType)
_KINDS: Final[Mapping[type, str]] = {str: "text", list: "a list", dict: "an object"}

_HALF: Final = "has half of a surrogate pair"
_UTF_8: Final = "Write the file as valid UTF-8."

_T = TypeVar("_T")


def check_instance(instance_id: str, raw: object) -> bool:
    """Check all of a raw instance.

    Parameters
    ----------
    instance_id : str
        The key under which it stands in its file.
    raw : object
        The decoded JSON value; only a dict is an instance.

    Returns
    -------
    bool
        Whether ``sentence_index2aspects`` is exactly what `inverse_of` makes of the other mapping,
        the order of keys and of aspects included. (If not, it says the same in another order.)

    Raises
    ------
    InstanceError
        Naming the instance, the field, the value found and what was expected.
    """
    return _Checks(instance_id, raw).run()


def inverse_of(covering: Mapping[str, Collection[int]], n_sentences: int) -> dict[str, list[str]]:
    """``sentence_index2aspects`` as it follows from ``aspect2sentence_indices``."""
    aspects: dict[str, list[str]] = {key: [] for key in _index_keys(n_sentences)}
    for aspect, indices in covering.items():
        for index in indices:
            aspects[str(index)].append(aspect)
    return aspects


@lru_cache(maxsize=256)
def _index_keys(n_sentences: int) -> tuple[str, ...]:
    return tuple(map(str, range(n_sentences)))


class _Checks:
    """Holds the raw instance and its name, so that every message can tell where it is."""

    def __init__(self, instance_id: str, raw: object) -> None:
        self.id = instance_id
        if not _is_unicode(instance_id):
            self.fail("", f"{_HALF} in its id", _UTF_8)
        if not instance_id.strip():
            self.fail("", "is a blank instance id", "Give every instance an id.")
        self.raw = self.of_kind("", raw, dict, "An instance is an object with 12 keys.")
        for key in KEYS:
            if key not in self.raw:
                self.fail(key, "is missing", "All 12 keys of the format are required.")

    def run(self) -> bool:
        raw = self.raw
        self.text("hypothesis", raw["hypothesis"])
        self.text("paper_id", raw["paper_id"])
        n_sentences = self.n_sentences()
        known = self.aspect_ids(_IDS)
        results = self.result_ids(known)
        inverse = inverse_of(self.covering(known, n_sentences), n_sentences)
        follows = self.inverse(inverse)
        for field, (_, budget) in EVALUATIONS.items():
            focus = results if field in _RESULT_FIELDS else known
            if focus is not None:
                self.evaluation(field, budget, focus, list(inverse.values()))
        self.names("aspect_texts", self.texts("aspect_texts"), known)
        self.texts("hypothesis_paraphrases")
        if raw.get("hypothesis_negation") is not None:
            self.text("hypothesis_negation", raw["hypothesis_negation"])
        if not isinstance(raw.get("synthetic"), bool | None):
            self.fail("synthetic", f"is {shown(raw['synthetic'])}", "Give true or false.")
        self.construction(raw.get("construction"))
        return follows

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        name = self.id if self.id.strip() and _is_unicode(self.id) else shown(self.id)
        raise InstanceError(f"{name}.{field}" if field else name, problem, remedy)

    def construction(self, value: object) -> None:
        if value is None:
            return
        made = self.of_kind("construction", value, dict, "Give an object that says how it was made.")
        gold = made.get("gold")
        if gold is not None and gold not in GOLD_KINDS:
            self.fail("construction.gold", f"is {shown(gold)}", f"Give one of: {', '.join(GOLD_KINDS)}.")

    # -- plain values ---------------------------------------------------------------------

    def of_kind(self, field: str, value: object, kind: type[_T], remedy: str) -> _T:
        if not isinstance(value, kind):
            self.fail(field, f"is {shown(value)}, not {_KINDS[kind]}", remedy)
        return value

    def text(self, field: str, value: object) -> None:
        text = self.of_kind(field, value, str, "Give a JSON string.")
        if not text.strip():
            self.fail(field, "is empty", "Give a text that is not blank.")
        if not _is_unicode(text):
            self.fail(field, _HALF, _UTF_8)

    def strings(self, field: str, value: object) -> list[str]:
        strings: list[str] = self.of_kind(field, value, list, "Give a JSON list of strings.")
        try:
            if _is_unicode("".join(strings)):
                return strings
        except TypeError:
            pass
        for position, item in enumerate(strings):
            if not isinstance(item, str):
                self.fail(f"{field}[{position}]", f"is {shown(item)}, not text", "Give a JSON string.")
            if not _is_unicode(item):
                self.fail(f"{field}[{position}]", _HALF, _UTF_8)
        return strings

    def texts(self, field: str) -> dict[str, str]:
        texts: dict[str, str] = {}
        if self.raw.get(field) is not None:
            texts = self.of_kind(field, self.raw[field], dict, "Give an object of name: text.")
        for name, text in texts.items():
            self.text(f"{field}, a name", name)
            self.text(f"{field}[{shown(name)}]", text)
        return texts

    def indices(self, field: str, value: object, n_sentences: int) -> list[int]:
        indices: list[int] = self.of_kind(field, value, list, "Give a list of 0-based sentence indices.")
        for item in indices:
            if type(item) is not int:  # a bool is an int, and 3.0 == 3
                self.fail(field, f"holds {shown(item)}, not an integer", "Sentence indices are integers.")
            if not 0 <= item < n_sentences:
                problem = f"holds sentence index {item}, but the paper has {n_sentences} sentences"
                self.fail(field, problem, f"Indices run from 0 to {n_sentences - 1}.")
        if len(set(indices)) != len(indices):
            self.fail(field, f"repeats an index: {shown(value)}", "List every sentence once.")
        return indices

    # -- the paper and its aspects --------------------------------------------------------

    def n_sentences(self) -> int:
        n_sentences = len(self.strings(_POOL, self.raw[_POOL]))
        if n_sentences > _MOST_SENTENCES:
            self.fail(_POOL, f"has {n_sentences:,} sentences", f"A paper has {_MOST_SENTENCES:,} at most.")
        if not n_sentences:
            self.fail(_POOL, "is empty", "A paper needs at least one sentence.")
        types = self.of_kind(_TYPES, self.raw[_TYPES], list, "Give a JSON list of strings.")
        if len(types) != n_sentences:
            problem = f"has {len(types)} entries for {n_sentences} sentences"
            self.fail(_TYPES, problem, "Give one type a sentence.")
        for position, kind in enumerate(types):
            if kind not in _SENTENCE_TYPES:
                remedy = f"Types are: {', '.join(_SENTENCE_TYPES)}."
                self.fail(f"{_TYPES}[{position}]", f"is {shown(kind)}", remedy)
        return n_sentences

    def aspect_ids(self, field: str) -> frozenset[str]:
        ids = self.strings(field, self.raw[field])
        if not ids and field == _IDS:
            self.fail(field, "is empty", "An instance needs at least one study aspect.")
        if not ids:
            self.fail(field, "is empty", "Where nothing is a result, all result fields are null.")
        if len(ids) > _MOST_ASPECTS:
            self.fail(field, f"has {len(ids):,} aspects", f"An instance has {_MOST_ASPECTS:,} at most.")
        known = frozenset(ids)
        if len(known) != len(ids):
            repeated = next(aspect for aspect in ids if ids.count(aspect) > 1)
            self.fail(field, f"repeats {shown(repeated)}", "List every aspect once.")
        return known

    def result_ids(self, known: frozenset[str]) -> frozenset[str] | None:
        absent = [key for key in _RESULT_FIELDS if self.raw[key] is None]
        if len(absent) == len(_RESULT_FIELDS):
            return None
        if absent:
            there = next(key for key in _RESULT_FIELDS if key not in absent)
            self.fail(absent[0], f"is null, but {there} is not", "Either all result fields are null or none.")
        ids = self.aspect_ids(_RESULT_IDS)
        self.names(_RESULT_IDS, ids, known)
        return ids

    def names(self, field: str, ids: Collection[str], known: frozenset[str]) -> None:
        for aspect in ids:
            if aspect not in known:
                self.fail(field, f"names aspect {shown(aspect)}", f"Aspects are those of {_IDS}.")

    def covering(self, known: frozenset[str], n_sentences: int) -> dict[str, list[int]]:
        field = "aspect2sentence_indices"
        covering = self.of_kind(field, self.raw[field], dict, "Give an object of aspect id: indices.")
        self.names(field, covering, known)
        for aspect in self.raw[_IDS]:
            if aspect not in covering:
                self.fail(field, f"has no entry for aspect {shown(aspect)}", "Give one entry an aspect.")
        for aspect, indices in covering.items():
            self.indices(f"{field}[{shown(aspect)}]", indices, n_sentences)
        return covering

    def inverse(self, expected: Mapping[str, list[str]]) -> bool:
        """Whether the other mapping is the expected one to the order; the same in another order will do."""
        field = "sentence_index2aspects"
        value = self.of_kind(field, self.raw[field], dict, "Give an object of sentence index: aspects.")
        if value == expected and list(value) == list(expected):
            return True
        for key, aspects in value.items():
            if key not in expected:
                self.fail(field, f"has the key {shown(key)}", f'Keys are "0" to "{len(expected) - 1}".')
            known = isinstance(aspects, list) and all(isinstance(aspect, str) for aspect in aspects)
            if not known or set(aspects) != set(expected[key]):
                says = f"aspect2sentence_indices says {shown(sorted(expected[key]))}"
                remedy = "The two mappings must be each other's inverse."
                self.fail(f"{field}[{shown(key)}]", f"is {shown(aspects)}, but {says}", remedy)
        for key in expected:
            if key not in value:
                remedy = "Give one entry a sentence, empty lists too."
                self.fail(field, f"has no entry for sentence {key}", remedy)
        return False

    # -- stored selections ----------------------------------------------------------------

    def evaluation(
        self, field: str, budget: int | None, focus: frozenset[str], aspects_of: Sequence[Collection[str]]
    ) -> None:
        if self.raw[field] is None:
            self.fail(field, "is null", "Only the results_* evaluations may be null.")
        value = self.of_kind(field, self.raw[field], dict, "Give an evaluation object.")
        limit = budget or self.optimal(f"{field}.optimal", value.get("optimal"), len(focus))
        for key in ("one_selection_of_sentences", "covered_aspects"):
            if key not in value:
                self.fail(f"{field}.{key}", "is missing", "An evaluation object brings a selection.")
        where = f"{field}.one_selection_of_sentences"
        picks = self.indices(where, value["one_selection_of_sentences"], len(aspects_of))
        if len(picks) > limit or (budget is None and len(picks) != limit):
            problem = f"has {len(picks)} sentences for a budget of {limit}"
            self.fail(where, problem, "The selection must fit.")
        times = Counter(aspect for pick in picks for aspect in aspects_of[pick] if aspect in focus)
        stored = set(self.strings(f"{field}.covered_aspects", value["covered_aspects"]))
        if stored != times.keys():
            name = min(stored.symmetric_difference(times))
            problem = f"leaves out {shown(name)}" if name in times else f"names {shown(name)}, which is not"
            remedy = "It must list the aspects of the task that one_selection_of_sentences covers."
            self.fail(f"{field}.covered_aspects", problem, remedy)
        if budget is not None:
            return
        n_coverable = len(focus & set[str]().union(*aspects_of))
        if len(times) != n_coverable:
            remedy = "An optimal selection covers every aspect that a sentence covers."
            self.fail(where, f"covers {len(times)} of {n_coverable} aspects", remedy)
        for pick in picks:
            if all(times[aspect] > 1 for aspect in aspects_of[pick] if aspect in focus):
                remedy = "An optimal selection has the smallest number of sentences that cover all aspects."
                self.fail(where, f"covers the same without sentence {pick}", remedy)

    def optimal(self, field: str, optimal: object, n_aspects: int) -> int:
        if type(optimal) is not int or optimal < 1:
            self.fail(field, f"is {shown(optimal)}", "Give a positive integer.")
        if optimal > n_aspects:
            problem = f"is {optimal}, but one sentence for each of the {n_aspects} aspects would do"
            self.fail(field, problem, "Give the smallest number of sentences that cover all aspects.")
        return optimal


def _is_unicode(text: str) -> bool:
    """Whether a text can be written at all: half of a surrogate pair cannot."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
