"""Drafts: nothing a model wrote is a wording before somebody has accepted it, and who did is kept."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import DataError, SettingError, UnknownNameError
from evidencebench_core.perturb import (
    Draft,
    HypothesisDrafts,
    MadeBy,
    Wording,
    add_wordings,
    added_wordings,
    hypothesis_variants,
    read_wordings,
)
from evidencebench_core.perturb.hypothesis_drafts import REVIEWED
from evidencebench_core.runs import variant_named
from tests.factories import raw_instance, store_with

BY = MadeBy("m", "negation 1-abc", "2026-01-31T10:00:00+00:00")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two instances; the first brings a negation of its own."""
    dataset = {
        "b": raw_instance(9, {"x": [4]}, hypothesis="Tea helps.", hypothesis_negation="By hand."),
        "a": raw_instance(8, {"x": [4]}, hypothesis="Salt harms."),
    }
    return store_with(dataset, tmp_path, "two")


@pytest.fixture
def drafts(store: Store) -> HypothesisDrafts:
    return HypothesisDrafts(store, "two")


def made(instance_id: str, text: str, name: str = "negation", problem: str = "", **more: bool) -> Draft:
    return Draft(instance_id, name, "", text, problem, BY, **more)


def words_of(store: Store, name: str = "negation") -> dict[str, str]:
    return dict(hypothesis_variants(store, "two")[name])


def ids(drafts: HypothesisDrafts) -> list[int]:
    return [draft.id for draft in drafts.drafts()]


def test_a_draft_is_a_wording_once_accepted_and_says_who_made_and_read_it(
    store: Store, drafts: HypothesisDrafts
) -> None:
    assert drafts.add([made("a", "Salt heals."), made("b", "Tea harms.")]) == 2
    assert drafts.counts() == {"waiting": 2, "refused": 0, "accepted": 0, "rejected": 0}
    # In the order of the dataset, with the hypothesis beside the draft.
    assert [(one.subject_id, one.original, one.text) for one in drafts.drafts()] == [
        ("b", "Tea helps.", "Tea harms."), ("a", "Salt harms.", "Salt heals."),
    ]  # fmt: skip
    assert hypothesis_variants(store, "two") == {"negation": {"b": "By hand."}}
    with pytest.raises(SettingError):
        variant_named(store, "two", "paraphrase:m")
    (accepted,) = drafts.accept(ids(drafts)[1:], "  Ana  ")
    assert (accepted.state, accepted.subject_id) == ("accepted", "a")
    assert words_of(store) == {"b": "By hand.", "a": "Salt heals."}
    assert variant_named(store, "two", "negation").hypotheses == words_of(store)
    origin = added_wordings(store, "two")["negation"]["a"]
    assert origin.source == REVIEWED
    assert origin.made_by == accepted.made_by
    assert replace(origin.made_by, reviewed_at="") == replace(BY, reviewer="Ana")
    assert "b" not in added_wordings(store, "two")["negation"]  # it came with the data


def test_the_reviewers_words_count_and_the_models_stay_to_be_seen(
    store: Store, drafts: HypothesisDrafts
) -> None:
    drafts.add([made("a", "Salt heals.")])
    (number,) = ids(drafts)
    (accepted,) = drafts.accept([number], "Ana", {number: " Salt \n does no harm. "})
    assert (accepted.text, accepted.edited) == ("Salt heals.", "Salt does no harm.")
    assert words_of(store)["a"] == "Salt does no harm."
    assert added_wordings(store, "two")["negation"]["a"].made_by.edited


@pytest.mark.parametrize(
    ("words", "reviewer", "problem"),
    [
        ("salt harms", "Ana", "is the original"),
        (" ", "Ana", "there are no words"),
        ("x" * 6000, "Ana", "6,000 characters"),
        ("Salt heals.", "  ", "has no name"),
        ("Salt heals.", "x" * 201, "has no name"),
    ],
)
def test_what_cannot_be_accepted_changes_nothing(
    store: Store, drafts: HypothesisDrafts, words: str, reviewer: str, problem: str
) -> None:
    drafts.add([made("b", "Tea harms."), made("a", "Salt heals.")])
    first, second = ids(drafts)
    with pytest.raises(SettingError, match=problem):
        drafts.accept([first, second], reviewer, {second: words})
    assert drafts.counts()["waiting"] == 2  # the first neither: all or none
    assert hypothesis_variants(store, "two") == {"negation": {"b": "By hand."}}


def test_what_is_taken_back_waits_again_and_the_datas_own_comes_back(
    store: Store, drafts: HypothesisDrafts
) -> None:
    drafts.add([made("b", "Tea harms.")])
    (number,) = ids(drafts)
    drafts.accept([number], "Ana")
    assert words_of(store)["b"] == "Tea harms."
    drafts.take_back([number])
    assert words_of(store)["b"] == "By hand."
    assert (drafts.drafts()[0].state, drafts.drafts()[0].made_by) == ("waiting", BY)  # nobody has read it
    drafts.accept([number], "Ana")
    add_wordings(store, "two", {"negation": {"b": Wording("From a file.")}}, "a file")
    drafts.take_back([number])  # leaves a wording that came since
    assert words_of(store)["b"] == "From a file."


def test_a_rejected_one_is_no_wording_and_goes_with_its_dataset(
    store: Store, drafts: HypothesisDrafts
) -> None:
    drafts.add([made("a", "Salt heals.")])
    drafts.accept(ids(drafts), "Ana")
    drafts.reject(ids(drafts), "Ben")
    assert "a" not in words_of(store)
    assert drafts.counts()["rejected"] == 1
    with store.write() as db:
        db.execute("DELETE FROM datasets")
        assert db.execute("SELECT count(*) FROM hypothesis_drafts").fetchone() == (0,)


def test_of_two_drafts_of_a_wording_the_last_accepted_is_it(store: Store, drafts: HypothesisDrafts) -> None:
    other = Draft("a", "negation", "", "Salt is harmless.", made_by=MadeBy("n", "negation 1-abc", "2026"))
    drafts.add([made("a", "Salt heals."), other])
    for number in ids(drafts):
        drafts.accept([number], "Ana")
    assert words_of(store)["a"] == "Salt is harmless."
    assert [draft.state for draft in drafts.drafts()] == ["rejected", "accepted"]


def test_refused_ones_are_kept_for_a_reader_and_failed_ones_are_not(
    store: Store, drafts: HypothesisDrafts
) -> None:
    lost = made("a", "It heals.", "paraphrase:m", problem="has lost Salt")
    assert drafts.add([lost, made("b", "", failed=True, problem="timed out")]) == 1
    (draft,) = drafts.drafts("refused")
    assert (draft.name, draft.text, draft.problem) == ("paraphrase:m", "It heals.", "has lost Salt")
    drafts.accept([draft.id], "Ana", {draft.id: "Salt heals, it does."})
    assert hypothesis_variants(store, "two")["paraphrase:m"]["a"] == "Salt heals, it does."
    drafts.take_back([draft.id])
    assert drafts.counts()["refused"] == 1


def test_the_same_words_again_keep_their_state_and_new_words_wait(drafts: HypothesisDrafts) -> None:
    drafts.add([made("a", "Salt heals."), made("b", "Tea harms.")])
    drafts.reject(ids(drafts), "Ana")
    assert drafts.add([made("a", "Salt heals."), made("b", "Tea does harm.")]) == 1
    assert {one.subject_id: one.state for one in drafts.drafts()} == {"a": "rejected", "b": "waiting"}


def test_known_ones_need_not_be_made(drafts: HypothesisDrafts) -> None:
    by = replace(BY, prompt=drafts.prompt_of("negation"))
    drafts.add(
        [Draft("a", "negation", "", "Salt heals.", made_by=by), made("b", "Tea harms.")]
    )  # another prompt
    assert drafts.known("m", ["negation", "paraphrase"]) == {("a", "negation")}
    assert drafts.missing("m", ["negation"]) == [("b", "negation")]
    assert drafts.missing("n", ["negation"], 1) == [
        ("b", "negation")
    ]  # another model; in the order of the data
    assert len(drafts.missing("m", ["negation"], fresh=True)) == 2


def test_pages_of_drafts(drafts: HypothesisDrafts) -> None:
    drafts.add([made("a", "1"), made("b", "2"), made("b", "3", "paraphrase:m")])
    # Dataset order is b, a; an instance's by name: negation before paraphrase.
    assert [one.text for one in drafts.drafts("waiting", limit=2, offset=0)] == ["2", "3"]
    assert [one.text for one in drafts.drafts("waiting", limit=2, offset=2)] == ["1"]


def test_a_file_of_a_model_becomes_drafts_and_the_rest_wordings(
    store: Store, drafts: HypothesisDrafts, tmp_path: Path
) -> None:
    read = {"model": "m", "prompt": "p 1", "reviewer": "Ana", "reviewed_at": "2026-01-01"}
    content = {
        "a": {
            "paraphrases": {"gpt": "Salt is bad.", "hand": "Salt does harm."},
            "negation": "Salt heals.",
            "made_by": {"paraphrase:gpt": {"model": "m", "prompt": "p 1"}, "negation": read},
        },
        "b": {"negation": "Tea harms.", "made_by": {"model": "old", "negation": "negation 1-x"}},
    }
    path = tmp_path / "v.json"
    path.write_text(json.dumps(content))
    assert drafts.add_file(read_wordings(path), "v.json") == (2, 2)
    waiting = {(one.subject_id, one.name, one.made_by.model) for one in drafts.drafts("waiting")}
    assert waiting == {("a", "paraphrase:gpt", "m"), ("b", "negation", "old")}
    assert hypothesis_variants(store, "two") == {
        "paraphrase:hand": {"a": "Salt does harm."},
        "negation": {"b": "By hand.", "a": "Salt heals."},
    }
    assert added_wordings(store, "two")["negation"]["a"].made_by.reviewer == "Ana"
    path.write_text(json.dumps({"c": {"negation": "x", "made_by": {"model": "m"}}}))
    with pytest.raises(DataError, match="such as 'c'"):
        drafts.add_file(read_wordings(path), "v.json")


def test_unknown_ones_are_said(drafts: HypothesisDrafts, store: Store) -> None:
    with pytest.raises(UnknownNameError, match="draft 99"):
        drafts.accept([99], "Ana")
    with pytest.raises(UnknownNameError):
        HypothesisDrafts(store, "nowhere")
