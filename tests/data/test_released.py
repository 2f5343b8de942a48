"""A released record either keeps every promise of the format or is refused with the place and the value."""

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.formats import KEYS, instance_from, released_record
from evidencebench_core.data.model import Aspect, EvidenceSet, paper_key
from evidencebench_core.errors import InstanceError
from tests.factories import raw_instance

Raw = dict[str, Any]
_, POOL, IDS, _, COVERING, INVERSE, OPTIMAL, AT_10, RESULTS_OPTIMAL, RESULTS_AT_5, _, _ = KEYS


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
    ours = {
        "hypothesis_paraphrases": {"plain": "It helps."},
        "hypothesis_negation": "It harms.",
        "synthetic": True,
    }
    theirs = {"aspect_texts": {"b": "Mortality fell."}, "sections": ["Summary"] * 10, "a_key_of_theirs": [1]}
    instance = instance_from("x", good() | ours | theirs)
    assert [aspect.text for aspect in instance.evidence.aspects] == [None, "Mortality fell.", None]
    assert (instance.paraphrases, instance.negation) == ({"plain": "It helps."}, "It harms.")
    assert (instance.synthetic, instance.sections) == (True, ("Summary",) * 10)
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


# Path of a value in `good`, what stands there instead, where the fault is noticed.
BAD = json.loads(Path(__file__).with_name("bad_released.json").read_text("utf-8"))
LONG = {"SENTENCES": ["x"] * 5_001, "IDS": ["x"] * 1_001}  # longer than the format allows


@pytest.mark.parametrize(("path", "value", "field"), BAD)
def test_bad_instance_is_named(path: list[Any], value: Any, field: str) -> None:
    raw = good()
    *steps, last = path
    at = reduce(getitem, steps, raw)
    if value == "GONE":
        del at[last]
    else:
        at[last] = LONG[value] if value in ("SENTENCES", "IDS") else value
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
    raw[OPTIMAL] = {"optimal": 3, "one_selection_of_sentences": [2, 3, 4], "covered_aspects": list("abcdef")}
    with pytest.raises(InstanceError) as caught:
        instance_from("x", raw)
    assert caught.value.place == f"instance 'x', {OPTIMAL}"
    assert "where 2 would do" in caught.value.problem


@pytest.mark.parametrize(("name", "value"), [("x", None), ("x", []), (" ", good())])
def test_what_is_no_object_or_has_no_id(name: str, value: object) -> None:
    with pytest.raises(InstanceError) as caught:
        instance_from(name, value)
    assert caught.value.place == f"instance {name!r}"
