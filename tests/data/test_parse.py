"""A raw instance either keeps every promise of the format or is refused with the place and the value."""

import copy
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from evidencebench_core.data.check import KEYS, check_instance
from evidencebench_core.data.parse import parse_instance
from evidencebench_core.errors import InstanceError
from tests.factories import raw_instance

Raw = dict[str, Any]
OPTIMAL = "evidence_retrieval_at_optimal_evaluation"
AT_10 = "evidence_retrieval_at_10_evaluation"
RESULTS_OPTIMAL = "results_evidence_retrieval_at_optimal_evaluation"
RESULTS_AT_5 = "results_evidence_retrieval_at_5_evaluation"


def good() -> Raw:
    """Ten sentences; "a" is covered by 4 and 2, "b" by 4, "c" by 9. The optimum is {4, 9}, {4} for results."""
    return raw_instance(10, {"a": [4, 2], "b": [4], "c": [9]}, ("b",))


def test_good_instance_is_taken_as_it_is() -> None:
    raw = good()
    before = copy.deepcopy(raw)
    instance = parse_instance("x", raw)
    assert raw == before
    assert instance.sentences == tuple(raw["paper_as_candidate_pool"])
    assert [(a.id, a.sentence_indices, a.is_result, a.label, a.text) for a in instance.evidence.aspects] == [
        ("a", (2, 4), False, "A1", None),
        ("b", (4,), True, "A2", None),
        ("c", (9,), False, "A3", None),
    ]
    assert (instance.evidence.optimal, instance.evidence.results_optimal) == (2, 1)
    assert set(instance.stored) == {"er@optimal", "er@10", "result-er@optimal", "result-er@5"}
    best = instance.stored["er@optimal"]
    assert (best.sentence_indices, best.optimal, instance.stored["er@10"].optimal) == ((4, 9), 2, None)
    assert (instance.synthetic, instance.negation, dict(instance.paraphrases)) == (False, None, {})


def test_optional_keys_are_kept_and_others_ignored() -> None:
    raw = good() | {
        "aspect_texts": {"b": "Mortality fell."},
        "hypothesis_paraphrases": {"plain": "Tea helps."},
        "hypothesis_negation": "Tea does not help.",
        "synthetic": True,
        "a_key_of_theirs": [1],
    }
    instance = parse_instance("x", raw)
    assert [aspect.text for aspect in instance.evidence.aspects] == [None, "Mortality fell.", None]
    assert dict(instance.paraphrases) == {"plain": "Tea helps."}
    assert instance.negation == "Tea does not help."
    assert instance.synthetic
    # Without results; "b" cannot be covered, so the optimal selection covers 1 of 2 aspects: all that can be.
    bare = parse_instance("x", raw_instance(10, {"a": [4], "b": []}))
    assert (bare.evidence.results_optimal, bare.evidence.focused("results")) == (None, ())
    assert set(bare.stored) == {"er@optimal", "er@10"}
    assert (bare.evidence.aspects[1].sentence_indices, bare.evidence.optimal) == ((), 1)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_required(key: str) -> None:
    raw = good()
    del raw[key]
    with pytest.raises(InstanceError, match=rf"^x\.{key}: is missing\."):
        parse_instance("x", raw)


GONE = object()
HALF = "half \ud83d of a pair"
COVERING = "aspect2sentence_indices"
INVERSE = "sentence_index2aspects"
IDS, RESULT_IDS = "aspect_list_ids", "results_aspect_list_ids"
PICKS = "one_selection_of_sentences"
TYPES = "sentence_types_in_candidate_pool"
POOL = "paper_as_candidate_pool"

BAD: list[tuple[tuple[Any, ...], object, str, str]] = [  # path, its new value, where it is found, problem
    (("hypothesis",), 3, "hypothesis", "is 3, not text"),
    (("hypothesis",), " \n", "hypothesis", "is empty"),
    (("hypothesis",), HALF, "hypothesis", "has half of a surrogate pair"),
    (("paper_id",), None, "paper_id", "is None, not text"),
    ((POOL,), [], POOL, "is empty"),
    ((POOL,), "one", POOL, "is 'one', not a list"),
    ((POOL, 3), 7, f"{POOL}[3]", "is 7, not text"),
    ((POOL, 0), None, f"{POOL}[0]", "is None, not text"),
    ((POOL, 3), HALF, f"{POOL}[3]", "has half of a surrogate pair"),
    ((TYPES,), None, TYPES, "is None, not a list"),
    ((TYPES, 0), GONE, TYPES, "has 9 entries for 10 sentences"),
    ((TYPES, 2), "figure", f"{TYPES}[2]", "is 'figure'"),
    ((TYPES, 2), 1, f"{TYPES}[2]", "is 1"),
    ((TYPES, 2), [], f"{TYPES}[2]", "is []"),
    ((IDS,), [], IDS, "is empty"),
    ((IDS,), None, IDS, "is None, not a list"),
    ((IDS, 0), 1, "aspect_list_ids[0]", "is 1, not text"),
    ((IDS, 0), "b", IDS, "repeats 'b'"),
    ((RESULT_IDS,), [], RESULT_IDS, "is empty"),
    ((RESULT_IDS,), ["z"], RESULT_IDS, "names aspect 'z'"),
    ((RESULTS_AT_5,), None, RESULTS_AT_5, "is null, but results_aspect_list_ids is not"),
    ((RESULT_IDS,), None, RESULT_IDS, f"is null, but {RESULTS_OPTIMAL} is not"),
    ((COVERING,), [], COVERING, "is [], not an object"),
    ((COVERING, "c"), GONE, COVERING, "has no entry for aspect 'c'"),
    ((COVERING, "z"), [1], COVERING, "names aspect 'z'"),
    ((COVERING, "a"), None, f"{COVERING}['a']", "is None, not a list"),
    ((COVERING, "a"), [4.0, 2], f"{COVERING}['a']", "holds 4.0, not an integer"),
    ((COVERING, "a"), [True], f"{COVERING}['a']", "holds True, not an integer"),
    ((COVERING, "a"), ["4"], f"{COVERING}['a']", "holds '4', not an integer"),
    ((COVERING, "a"), [4, 10], f"{COVERING}['a']", "holds sentence index 10, but"),
    ((COVERING, "a"), [-1], f"{COVERING}['a']", "holds sentence index -1, but the paper has 10"),
    ((COVERING, "a"), [4, 4], f"{COVERING}['a']", "repeats an index: [4, 4]"),
    ((INVERSE,), [], INVERSE, "is [], not an object"),
    ((INVERSE, "7"), GONE, INVERSE, "has no entry for sentence 7"),
    ((INVERSE, "10"), [], INVERSE, "has the key '10'"),
    ((INVERSE, "07"), [], INVERSE, "has the key '07'"),
    ((INVERSE, "5"), ["a"], f"{INVERSE}['5']", "is ['a'], but aspect2sentence_indices says []"),
    ((INVERSE, "4"), ["a"], f"{INVERSE}['4']", "is ['a'], but aspect2sentence_indices says ['a',"),
    ((INVERSE, "5"), None, f"{INVERSE}['5']", "is None, but"),
    ((INVERSE, "5"), "", f"{INVERSE}['5']", "is '', but"),
    ((INVERSE, "9"), [1], f"{INVERSE}['9']", "is [1], but"),
    ((AT_10,), None, AT_10, "is null"),
    ((OPTIMAL,), [], OPTIMAL, "is [], not an object"),
    ((OPTIMAL, "optimal"), GONE, f"{OPTIMAL}.optimal", "is None"),
    ((OPTIMAL, "optimal"), 0, f"{OPTIMAL}.optimal", "is 0"),
    ((OPTIMAL, "optimal"), 2.0, f"{OPTIMAL}.optimal", "is 2.0"),
    ((RESULTS_OPTIMAL, "optimal"), True, f"{RESULTS_OPTIMAL}.optimal", "is True"),
    ((OPTIMAL, "optimal"), 4, f"{OPTIMAL}.optimal", "is 4, but one sentence for each of the 3"),
    ((OPTIMAL, "optimal"), 3, f"{OPTIMAL}.{PICKS}", "has 2 sentences for a budget of 3"),
    ((AT_10, PICKS), GONE, f"{AT_10}.{PICKS}", "is missing"),
    ((AT_10, "covered_aspects"), GONE, f"{AT_10}.covered_aspects", "is missing"),
    ((RESULTS_AT_5, PICKS), [0, 1, 2, 3, 4, 5], f"{RESULTS_AT_5}.{PICKS}", "has 6 sentences for"),
    ((AT_10, PICKS), [12], f"{AT_10}.{PICKS}", "holds sentence index 12, but"),
    ((AT_10, "covered_aspects"), ["a", "b"], f"{AT_10}.covered_aspects", "leaves out 'c'"),
    (
        (RESULTS_OPTIMAL, "covered_aspects"),
        ["b", "a"],
        f"{RESULTS_OPTIMAL}.covered_aspects",
        "names 'a', which",
    ),
    (("aspect_texts",), [], "aspect_texts", "is [], not an object"),
    (("aspect_texts",), {"z": "Z"}, "aspect_texts", "names aspect 'z'"),
    (("aspect_texts",), {"a": ""}, "aspect_texts['a']", "is empty"),
    (("hypothesis_paraphrases",), {"plain": 1}, "hypothesis_paraphrases['plain']", "is 1, not text"),
    (("hypothesis_negation",), "", "hypothesis_negation", "is empty"),
    (("synthetic",), 1, "synthetic", "is 1"),
]


@pytest.mark.parametrize(("path", "value", "field", "problem"), BAD)
def test_bad_instance_is_named(path: tuple[Any, ...], value: object, field: str, problem: str) -> None:
    raw = good()
    *steps, last = path
    at = reduce(getitem, steps, raw)
    if value is GONE:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(InstanceError) as caught:
        parse_instance("x", raw)
    assert caught.value.place == f"x.{field}"
    assert caught.value.problem.startswith(problem)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "size", "said"),
    [
        ("paper_as_candidate_pool", 5_001, "has 5,001 sentences"),
        ("aspect_list_ids", 1_001, "has 1,001 aspects"),
    ],
)
def test_an_instance_has_a_size_limit(field: str, size: int, said: str) -> None:
    with pytest.raises(InstanceError, match=said):
        parse_instance("x", good() | {field: ["x"] * size})


OTHER_OPTIMUM = {"optimal": 2, PICKS: [2, 4], "covered_aspects": ["a", "b"]}  # nothing of them covers "c"
WASTEFUL = {"optimal": 3, PICKS: [4, 9, 0], "covered_aspects": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("x", good() | {OPTIMAL: OTHER_OPTIMUM}, "covers 2 of 3 aspects"),
        ("x", good() | {OPTIMAL: WASTEFUL}, "covers the same without sentence 0"),
        *(("x", value, r"^x: is .*, not an object") for value in (None, 3, "text", [], True)),
        *(
            (name, good(), f"^{shown}: ")
            for name, shown in (("", "''"), (" ", "' '"), ("\ud800", r"'\\ud800'"))
        ),
    ],
)
def test_bad_optima_values_and_ids(name: str, value: object, said: str) -> None:
    with pytest.raises(InstanceError, match=said) as caught:
        parse_instance(name, value)
    str(caught.value).encode()  # it can be printed


def test_order_in_the_inverse_mapping_is_free_but_noticed() -> None:
    raw = good()
    assert check_instance("x", raw) is True
    swapped = raw | {INVERSE: raw[INVERSE] | {"4": ["b", "a"]}}
    assert check_instance("x", swapped) is False
    turned = raw | {INVERSE: dict(reversed(raw[INVERSE].items()))}
    assert check_instance("x", turned) is False
    assert parse_instance("x", swapped) == parse_instance("x", turned) == parse_instance("x", raw)


@pytest.mark.realdata
def test_the_real_train_set_passes(train_raw: dict[str, Raw]) -> None:
    instances = [parse_instance(name, raw) for name, raw in train_raw.items()]
    assert len(instances) == 96
    assert sum(instance.evidence.results_optimal is None for instance in instances) == 1
    assert all(check_instance(name, raw) for name, raw in train_raw.items())
