"""A released record either keeps every promise of the format or is refused with the place and the value."""

from functools import reduce
from operator import getitem
from typing import Any

import pytest

from evidencebench_core.data.formats import KEYS, instance_from, released_record
from evidencebench_core.data.model import Aspect, EvidenceSet, paper_key
from evidencebench_core.errors import InstanceError
from tests.factories import raw_instance

Raw = dict[str, Any]
OPTIMAL = "evidence_retrieval_at_optimal_evaluation"
AT_10 = "evidence_retrieval_at_10_evaluation"
RESULTS_OPTIMAL = "results_evidence_retrieval_at_optimal_evaluation"
RESULTS_AT_5 = "results_evidence_retrieval_at_5_evaluation"
COVERING = "aspect2sentence_indices"
INVERSE = "sentence_index2aspects"
IDS, RESULT_IDS = "aspect_list_ids", "results_aspect_list_ids"
PICKS = "one_selection_of_sentences"
TYPES = "sentence_types_in_candidate_pool"
POOL = "paper_as_candidate_pool"


def good() -> Raw:
    """Ten sentences; "a" is covered by 4 and 2, "b" by 4, "c" by 9. The optimum is {4, 9}, {4} for results."""
    return raw_instance(10, {"a": [4, 2], "b": [4], "c": [9]}, ("b",))


def test_good_instance_is_taken_as_it_is() -> None:
    raw = good()
    instance = instance_from("x", raw)
    assert raw == good()
    assert instance.sentences == tuple(raw[POOL])
    aspects = Aspect("a", (2, 4), False, "A1"), Aspect("b", (4,), True, "A2"), Aspect("c", (9,), False, "A3")
    assert instance.evidence == EvidenceSet(10, aspects, optimal=2, results_optimal=1)
    assert set(instance.stored) == {"er@optimal", "er@10", "result-er@optimal", "result-er@5"}
    assert instance.stored["er@optimal"] == (4, 9)
    assert (instance.synthetic, instance.negation, dict(instance.paraphrases)) == (False, None, {})
    assert dict(instance.kept) == {COVERING: raw[COVERING]}  # [4, 2], which we would write as [2, 4]


def test_optional_keys_are_read_and_others_kept() -> None:
    raw = good() | {
        "aspect_texts": {"b": "Mortality fell."},
        "hypothesis_paraphrases": {"plain": "Tea helps."},
        "hypothesis_negation": "Tea does not help.",
        "synthetic": True,
        "sections": ["Summary"] * 10,
        "a_key_of_theirs": [1],
    }
    instance = instance_from("x", raw)
    assert [aspect.text for aspect in instance.evidence.aspects] == [None, "Mortality fell.", None]
    assert dict(instance.paraphrases) == {"plain": "Tea helps."}
    assert instance.negation == "Tea does not help."
    assert instance.synthetic
    assert instance.sections == ("Summary",) * 10
    assert instance.kept["a_key_of_theirs"] == [1]
    # Without results; "b" cannot be covered, so the optimal selection covers 1 of 2 aspects: all that can be.
    bare = instance_from("x", raw_instance(10, {"a": [4], "b": []}))
    assert (bare.evidence.results_optimal, bare.evidence.focused("results")) == (None, ())
    assert set(bare.stored) == {"er@optimal", "er@10"}
    assert (bare.evidence.aspects[1].sentence_indices, bare.evidence.optimal) == ((), 1)


def test_what_follows_from_the_rest_is_computed_where_it_is_absent_and_written() -> None:
    whole = good() | {COVERING: {"a": [2, 4], "b": [4], "c": [9]}}
    for key in (IDS, INVERSE, OPTIMAL, AT_10, RESULTS_OPTIMAL, RESULTS_AT_5):
        written = released_record(instance_from("x", {name: whole[name] for name in KEYS if name != key}))
        assert written == whole
        assert tuple(written)[-1] == key
    least = instance_from("x", {key: whole[key] for key in ("hypothesis", POOL, COVERING)})
    assert least.evidence.optimal == 2
    assert least.sentence_types == ("normal_paragraph",) * 10
    assert least.paper_id == paper_key(least.sentences, least.sentence_types)
    assert set(released_record(least)) == set(KEYS)


GONE = object()
BAD: list[tuple[tuple[Any, ...], object, str]] = [  # path, its new value, where the fault is found
    (("hypothesis",), 3, "hypothesis"),
    (("hypothesis",), " \n", "hypothesis"),
    ((POOL,), [], POOL),
    ((POOL,), "one text", POOL),
    ((POOL, 3), 7, f"{POOL}[3]"),
    ((TYPES, 0), GONE, TYPES),
    ((TYPES, 2), "Abstract", f"{TYPES}[2]"),
    (("paper_id",), 7, "paper_id"),
    ((IDS,), [], IDS),
    ((IDS, 0), 1, f"{IDS}[0]"),
    ((IDS, 0), "b", IDS),
    ((RESULT_IDS,), [], RESULT_IDS),
    ((RESULT_IDS,), ["z"], RESULT_IDS),
    ((RESULT_IDS,), None, RESULTS_OPTIMAL),
    ((COVERING, "c"), GONE, COVERING),
    ((COVERING, "z"), [1], COVERING),
    ((COVERING, "a"), [4.0, 2], f"{COVERING}.a[0]"),
    ((COVERING, "a"), [True], f"{COVERING}.a[0]"),
    ((COVERING, "a"), ["1"], f"{COVERING}.a[0]"),
    ((COVERING, "a"), [4, 10], f"{COVERING}.a"),
    ((COVERING, "a"), [-1], f"{COVERING}.a"),
    ((COVERING, "a"), [4, 4], f"{COVERING}.a"),
    ((INVERSE, "10"), ["a"], f"{INVERSE}.10"),
    ((INVERSE, "5"), ["a"], f"{INVERSE}.5"),
    ((INVERSE, "4"), ["a"], f"{INVERSE}.4"),
    ((OPTIMAL, "optimal"), GONE, OPTIMAL),
    ((OPTIMAL, "optimal"), 0, f"{OPTIMAL}.optimal"),
    ((RESULTS_OPTIMAL, "optimal"), True, f"{RESULTS_OPTIMAL}.optimal"),
    ((OPTIMAL, "optimal"), 3, OPTIMAL),
    ((AT_10, PICKS), GONE, AT_10),
    ((RESULTS_AT_5, PICKS), [0, 1, 2, 3, 4, 5], RESULTS_AT_5),
    ((AT_10, PICKS), [12], f"{AT_10}.{PICKS}"),
    ((AT_10, "covered_aspects"), ["a", "b"], AT_10),
    ((RESULTS_OPTIMAL, "covered_aspects"), ["b", "a"], RESULTS_OPTIMAL),
    ((OPTIMAL,), {"optimal": 2, PICKS: [2, 4], "covered_aspects": ["a", "b"]}, OPTIMAL),
    ((OPTIMAL,), {"optimal": 3, PICKS: [4, 9, 0], "covered_aspects": ["a", "b", "c"]}, OPTIMAL),
    (("aspect_texts",), {"z": "Z"}, "aspect_texts"),
    (("aspect_texts",), {"a": ""}, "aspect_texts.a"),
    (("hypothesis_paraphrases",), {"plain": 1}, "hypothesis_paraphrases.plain"),
    (("hypothesis_negation",), "", "hypothesis_negation"),
    (("synthetic",), 1, "synthetic"),
    (("sections",), ["Methods"], "sections"),
    (("construction",), {"gold": "some"}, "construction.gold"),
    ((POOL,), ["x"] * 5_001, POOL),
    ((IDS,), ["x"] * 1_001, IDS),
]


@pytest.mark.parametrize(("path", "value", "field"), BAD)
def test_bad_instance_is_named(path: tuple[Any, ...], value: object, field: str) -> None:
    raw = good()
    *steps, last = path
    at = reduce(getitem, steps, raw)
    if value is GONE:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(InstanceError) as caught:
        instance_from("x", raw)
    assert caught.value.place == f"instance 'x', {field}"
    assert caught.value.problem
    assert caught.value.remedy
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_optimum_that_is_not_the_smallest_though_no_pick_is_needless() -> None:
    # Sentences 2, 3 and 4 cover an aspect of each trio, 0 and 1 a trio each.
    covering = {"a": [0, 2], "b": [0, 3], "c": [0, 4], "d": [1, 2], "e": [1, 3], "f": [1, 4]}
    raw = raw_instance(10, covering)
    assert instance_from("x", raw).evidence.optimal == 2
    raw[OPTIMAL] = {"optimal": 3, PICKS: [2, 3, 4], "covered_aspects": list("abcdef")}
    with pytest.raises(InstanceError) as caught:
        instance_from("x", raw)
    assert caught.value.place == f"instance 'x', {OPTIMAL}"
    assert "(0, 1)" in caught.value.problem


@pytest.mark.parametrize(("name", "value"), [("x", None), ("x", []), (" ", good())])
def test_what_is_no_object_or_has_no_id(name: str, value: object) -> None:
    with pytest.raises(InstanceError) as caught:
        instance_from(name, value)
    assert caught.value.place == f"instance {name!r}"
