"""Every promise of the benchmark's format, checked on a raw instance.

The format is the paper's appendix A.6, refined by spec rules 1 to 5; `parse` turns what passes
into an `Instance`. Ingest asks this of every instance, so what is usually true is asked first and
of C, and only where it is not true the culprit is looked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeGuard, cast, get_args

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import InstanceError, shown

__all__ = ["EVALUATIONS", "KEYS", "OPTIONAL_KEYS", "check_instance", "inverted"]

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
OPTIONAL_KEYS: Final = ("aspect_texts", "hypothesis_paraphrases", "hypothesis_negation", "synthetic")
EVALUATIONS: Final = {  # key -> (task, fixed budget or None where the object brings its optimal K)
    "evidence_retrieval_at_optimal_evaluation": ("er@optimal", None),
    "evidence_retrieval_at_10_evaluation": ("er@10", 10),
    "results_evidence_retrieval_at_optimal_evaluation": ("result-er@optimal", None),
    "results_evidence_retrieval_at_5_evaluation": ("result-er@5", 5),
}

_KEY_SET: Final = frozenset(KEYS)
_SENTENCE_TYPES: Final = get_args(SentenceType)
_TYPE_SET: Final = frozenset(_SENTENCE_TYPES)
_OPTIONAL_SET: Final = frozenset(OPTIONAL_KEYS)
_IDS: Final = "aspect_list_ids"
_RESULT_IDS: Final = "results_aspect_list_ids"
_RESULT_FIELDS: Final = (_RESULT_IDS, *(key for key in EVALUATIONS if key.startswith("results_")))


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
        Whether ``sentence_index2aspects`` is exactly what `inverted` makes of the other mapping,
        the order of keys and of aspects included. (If not, it says the same in another order.)

    Raises
    ------
    InstanceError
        Naming the instance, the field, the value found and what was expected.
    """
    return _Checks(instance_id, raw).run()


def inverted(covering: Mapping[str, Collection[int]], n_sentences: int) -> dict[str, list[str]]:
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
            self.fail("", "has half of a surrogate pair in its id", "Write the file as valid UTF-8.")
        if not instance_id.strip():
            self.fail("", "is a blank instance id", "Give every instance an id.")
        if not isinstance(raw, dict):
            self.fail("", f"is {shown(raw)}, not an object", "An instance is an object with 12 keys.")
        self.raw = cast("dict[str, Any]", raw)
        if not raw.keys() >= _KEY_SET:
            missing = next(key for key in KEYS if key not in raw)
            self.fail(missing, "is missing", "All 12 keys of the format are required.")

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        name = self.id if self.id.strip() and _is_unicode(self.id) else shown(self.id)
        raise InstanceError(f"{name}.{field}" if field else name, problem, remedy)

    def run(self) -> bool:
        raw = self.raw
        self.text("hypothesis", raw["hypothesis"])
        self.text("paper_id", raw["paper_id"])
        n_sentences = self.n_sentences()
        known = self.aspect_ids(_IDS)
        results = self.result_ids(known)
        aspects_of = self.covering(known, n_sentences)
        follows = self.inverse(aspects_of, n_sentences)
        self.selections(aspects_of, {"": known, "results_": results}, n_sentences)
        if not _OPTIONAL_SET.isdisjoint(raw):
            self.optional(known)
        return follows

    # -- plain values ---------------------------------------------------------------------

    def text(self, field: str, value: object) -> None:
        if not isinstance(value, str):
            self.fail(field, f"is {shown(value)}, not text", "Give a JSON string.")
        if not value.strip():
            self.fail(field, "is empty", "Give a text that is not blank.")
        if not _is_unicode(value):
            self.fail(field, "has half of a surrogate pair", "Write the file as valid UTF-8.")

    def strings(self, field: str, value: object) -> list[str]:
        if not isinstance(value, list):
            self.fail(field, f"is {shown(value)}, not a list", "Give a JSON list of strings.")
        try:
            unicode = _is_unicode("".join([item for item in value if not item.isascii()]))
        except (AttributeError, TypeError):
            position, item = next((p, item) for p, item in enumerate(value) if not isinstance(item, str))
            self.fail(f"{field}[{position}]", f"is {shown(item)}, not text", "Give a JSON string.")
        if not unicode:
            position = next(position for position, item in enumerate(value) if not _is_unicode(item))
            self.fail(
                f"{field}[{position}]", "has half of a surrogate pair", "Write the file as valid UTF-8."
            )
        return value

    def texts(self, field: str) -> dict[str, str]:
        value = self.raw.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(field, f"is {shown(value)}, not an object", "Give an object of name: text.")
        for name, text in value.items():
            self.text(f"{field}, a name", name)
            self.text(f"{field}[{shown(name)}]", text)
        return value

    def optional(self, known: frozenset[str]) -> None:
        self.names("aspect_texts", self.texts("aspect_texts"), known)
        self.texts("hypothesis_paraphrases")
        negation, synthetic = self.raw.get("hypothesis_negation"), self.raw.get("synthetic")
        if negation is not None:
            self.text("hypothesis_negation", negation)
        if synthetic is not None and not isinstance(synthetic, bool):
            self.fail("synthetic", f"is {shown(synthetic)}", "Give true or false.")

    # -- the paper ------------------------------------------------------------------------

    def n_sentences(self) -> int:
        pool, field = "paper_as_candidate_pool", "sentence_types_in_candidate_pool"
        n_sentences = len(self.strings(pool, self.raw[pool]))
        if not n_sentences:
            self.fail(pool, "is empty", "A paper needs at least one sentence.")
        types = self.raw[field]
        if not isinstance(types, list):
            self.strings(field, types)
        if len(types) != n_sentences:
            self.fail(
                field, f"has {len(types)} entries for {n_sentences} sentences", "Give one type a sentence."
            )
        if types.count("normal_paragraph") + types.count("abstract") + types.count("section_name") != len(
            types
        ):
            self.strings(field, types)
            position, kind = next((p, kind) for p, kind in enumerate(types) if kind not in _TYPE_SET)
            allowed = ", ".join(_SENTENCE_TYPES)
            self.fail(f"{field}[{position}]", f"is {shown(kind)}", f"Types are: {allowed}.")
        return n_sentences

    def indices(self, field: str, aspect: str | None, value: object, n_sentences: int) -> list[int]:
        """Sentence indices of ``field``, or of its entry for an aspect."""
        if not _are_indices(value, n_sentences):
            self.fail_indices(field if aspect is None else f"{field}[{shown(aspect)}]", value, n_sentences)
        return value

    def fail_indices(self, field: str, value: object, n_sentences: int) -> NoReturn:
        if not isinstance(value, list):
            self.fail(field, f"is {shown(value)}, not a list", "Give a list of 0-based sentence indices.")
        for item in value:
            if type(item) is not int:
                self.fail(field, f"holds {shown(item)}, not an integer", "Sentence indices are integers.")
            if not 0 <= item < n_sentences:
                self.fail(
                    field,
                    f"holds sentence index {item}, but the paper has {n_sentences} sentences",
                    f"Indices run from 0 to {n_sentences - 1}.",
                )
        self.fail(field, f"repeats an index: {shown(value)}", "List every sentence once.")

    # -- aspects --------------------------------------------------------------------------

    def aspect_ids(self, field: str) -> frozenset[str]:
        ids = self.strings(field, self.raw[field])
        known = frozenset(ids)
        if not ids:
            remedy = "Where nothing is a result, all result fields are null."
            if field == _IDS:
                remedy = "An instance needs at least one study aspect."
            self.fail(field, "is empty", remedy)
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
        if not known.issuperset(ids):
            unknown = next(aspect for aspect in ids if aspect not in known)
            self.fail(field, f"names aspect {shown(unknown)}", f"Aspects are those of {_IDS}.")

    def covering(self, known: frozenset[str], n_sentences: int) -> dict[int, list[str]]:
        """The other mapping as it should be, without the sentences that cover nothing."""
        field = "aspect2sentence_indices"
        value = self.raw[field]
        if not isinstance(value, dict):
            self.fail(field, f"is {shown(value)}, not an object", "Give an object of aspect id: indices.")
        self.names(field, value, known)
        if len(value) != len(known):
            absent = next(aspect for aspect in self.raw[_IDS] if aspect not in value)
            self.fail(field, f"has no entry for aspect {shown(absent)}", "Give one entry an aspect.")
        aspects_of: dict[int, list[str]] = {}
        for aspect, indices in value.items():
            for index in self.indices(field, aspect, indices, n_sentences):
                if index in aspects_of:
                    aspects_of[index].append(aspect)
                else:
                    aspects_of[index] = [aspect]
        return aspects_of

    def inverse(self, aspects_of: Mapping[int, list[str]], n_sentences: int) -> bool:
        field = "sentence_index2aspects"
        value = self.raw[field]
        if not isinstance(value, dict):
            self.fail(
                field, f"is {shown(value)}, not an object", "Give an object of sentence index: aspects."
            )
        if tuple(value) == _index_keys(n_sentences):
            entries = list(value.values())
            n_nothing = n_sentences - len(aspects_of)
            if entries.count([]) == n_nothing and all(
                entries[index] == aspects for index, aspects in aspects_of.items()
            ):
                return True
        keys = frozenset(_index_keys(n_sentences))
        for key, aspects in value.items():
            if key not in keys:
                self.fail(field, f"has the key {shown(key)}", f'Keys are "0" to "{n_sentences - 1}".')
            expected = aspects_of.get(int(key), [])
            known = isinstance(aspects, list) and all(isinstance(aspect, str) for aspect in aspects)
            if not known or set(aspects) != set(expected):
                self.fail(
                    f"{field}[{shown(key)}]",
                    f"is {shown(aspects)}, but aspect2sentence_indices says {shown(sorted(expected))}",
                    "The two mappings must be each other's inverse.",
                )
        if len(value) != n_sentences:
            absent = next(key for key in _index_keys(n_sentences) if key not in value)
            self.fail(
                field, f"has no entry for sentence {absent}", "Give one entry a sentence, empty lists too."
            )
        return False

    # -- stored selections ----------------------------------------------------------------

    def selections(
        self,
        aspects_of: Mapping[int, list[str]],
        asked: Mapping[str, frozenset[str] | None],
        n_sentences: int,
    ) -> None:
        for field, (_, budget) in EVALUATIONS.items():
            focus = asked["results_" if field.startswith("results_") else ""]
            if focus is None:
                continue
            value = self.raw[field]
            if value is None:
                self.fail(field, "is null", "Only the results_* evaluations may be null.")
            if not isinstance(value, dict):
                self.fail(field, f"is {shown(value)}, not an object", "Give an evaluation object.")
            limit = budget or self.optimal(field, value, len(focus))
            for key in ("one_selection_of_sentences", "covered_aspects"):
                if key not in value:
                    self.fail(f"{field}.{key}", "is missing", "An evaluation object brings a selection.")
            picks = self.picks(field, value, n_sentences, budget, limit)
            covered = self.covered_aspects(
                field, value, focus & {aspect for index in picks for aspect in aspects_of.get(index, ())}
            )
            if budget is None and len(covered) != len(focus):
                covering = self.raw["aspect2sentence_indices"]
                n_coverable = sum(bool(covering[aspect]) for aspect in focus)
                if len(covered) != n_coverable:
                    self.fail(
                        f"{field}.one_selection_of_sentences",
                        f"covers {len(covered)} of {n_coverable} aspects",
                        "An optimal selection covers every aspect that a sentence covers.",
                    )
            if budget is None:
                self.no_spare_pick(field, picks, focus, aspects_of)

    def no_spare_pick(
        self, field: str, picks: list[int], focus: frozenset[str], aspects_of: Mapping[int, list[str]]
    ) -> None:
        times = Counter(aspect for pick in picks for aspect in aspects_of.get(pick, ()) if aspect in focus)
        for pick in picks:
            if all(times[aspect] > 1 for aspect in aspects_of.get(pick, ()) if aspect in focus):
                self.fail(
                    f"{field}.one_selection_of_sentences",
                    f"covers the same without sentence {pick}",
                    "An optimal selection has the smallest number of sentences that cover all aspects.",
                )

    def optimal(self, field: str, value: dict[str, Any], n_aspects: int) -> int:
        optimal = value.get("optimal")
        if type(optimal) is not int or optimal < 1:
            self.fail(f"{field}.optimal", f"is {shown(optimal)}", "Give a positive integer.")
        if optimal > n_aspects:
            self.fail(
                f"{field}.optimal",
                f"is {optimal}, but one sentence for each of the {n_aspects} aspects would do",
                "Give the smallest number of sentences that cover all aspects.",
            )
        return optimal

    def picks(
        self, field: str, value: dict[str, Any], n_sentences: int, budget: int | None, limit: int
    ) -> list[int]:
        where = f"{field}.one_selection_of_sentences"
        picks = self.indices(where, None, value["one_selection_of_sentences"], n_sentences)
        if len(picks) > limit or (budget is None and len(picks) != limit):
            self.fail(where, f"has {len(picks)} sentences for a budget of {limit}", "The selection must fit.")
        return picks

    def covered_aspects(self, field: str, value: dict[str, Any], covered: frozenset[str]) -> frozenset[str]:
        where = f"{field}.covered_aspects"
        stored = frozenset(self.strings(where, value["covered_aspects"]))
        if stored != covered:
            name = min(stored ^ covered)
            self.fail(
                where,
                f"leaves out {shown(name)}" if name in covered else f"names {shown(name)}, which is not",
                "It must list the aspects of the task that one_selection_of_sentences covers.",
            )
        return stored


def _are_indices(value: object, n_sentences: int) -> TypeGuard[list[int]]:
    if not isinstance(value, list):
        return False
    for item in value:
        if type(item) is not int or not 0 <= item < n_sentences:  # a bool is an int, and 3.0 == 3
            return False
    return len(set(value)) == len(value)


def _is_unicode(text: str) -> bool:
    """Whether a text can be written at all: half of a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
