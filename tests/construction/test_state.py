"""What decisions make of a build, and what is due of it; nothing is asked or stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencebench_core.construction import (
    AspectDraft,
    BuildInput,
    BuildState,
    ConstructionSettings,
    Edits,
    Pool,
)
from evidencebench_core.construction.cost import stage_costs
from evidencebench_core.construction.reading import pool_of
from evidencebench_core.construction.store import PaperRecord

N = 23


def look(*yes: int, failed: bool = False) -> dict[str, object]:
    return {"yes": list(yes), "failed": failed, "n_unknown": 0}


def state(**settings: object) -> BuildState:
    """Three aspects by hand; sentence 7 covers the first, 22 the second, none the third."""
    chosen = ConstructionSettings("m", **settings)  # type: ignore[arg-type]
    build = BuildInput("a", "p", hypothesis="H.", aspects=("One", "Two", "Three"))
    pool = Pool("0" * 64, "p", "Title", "CC BY", ("S.",) * N, ("normal_paragraph",) * N)
    covers = {0: {7}, 1: {22}, 2: set[int]()}
    aligned = {
        number: {window: look(*(yes & set(range(*window)))) for window in chosen.windows(N)}
        for number, yes in covers.items()
    }
    results = {"results": {"outcome": "done", "results": [0, 2]}}
    return BuildState(build, chosen, pool=pool, results=results, aligned=aligned)  # type: ignore[arg-type]


def test_an_edited_aspect_has_a_new_number_and_is_aligned_alone() -> None:
    """Rule 22: W(23) = 5 looks; the old ones are kept and unused."""
    edited = replace(
        state(coverage=60),
        edits=Edits(aspects=(AspectDraft(3, "Two, reworded", True, "user"),), gone=frozenset({(1, "Two")})),
    )
    assert [(one.number, one.is_result) for one in edited.aspects] == [(0, True), (2, True), (3, True)]
    assert [one.number for one in edited.drafted] == [0, 1, 2]
    due = list(edited.looks_due())
    assert [(one.number, window) for one, window in due] == [
        (3, window) for window in edited.settings.windows(N)
    ]
    assert len(due) == 5
    assert (edited.position.stage, edited.position.status) == ("alignment", "due")
    assert stage_costs([edited])["alignment"].stored == 15


def test_the_way_out_of_answers_that_were_cut_off_is_named() -> None:
    for kind, is_named in (("cut_off", True), ("no_list", False)):
        lost = {window: look(failed=True) | {"kind": kind} for window in state().settings.windows(N)}
        at = replace(state(), aligned={**state().aligned, 1: lost}).position
        assert (at.status, "--set max_tokens" in at.problem) == ("failed", is_named)
        assert at.problem.startswith("aspect 1 has sentences without a look")


def test_what_a_person_drops_overrules_and_sets() -> None:
    kept = state(coverage=60)
    assert kept.position.status == "kept"
    assert replace(kept, edits=Edits(dropped=True)).position.reason == "human"
    early = replace(kept, aligned={}, edits=Edits(dropped=True))
    assert (early.position.stage, early.position.status) == ("alignment", "dropped")
    low = state()  # 2 of 3 is below 70 percent
    assert low.position.reason == "coverage"
    assert replace(low, edits=Edits(overruled=frozenset({"coverage"}))).position.status == "kept"
    assert replace(low, edits=Edits(gone=frozenset({(2, "Three")}))).position.status == "kept"  # 2 of 2
    said = replace(kept, edits=Edits(results={(0, "One"): False, (1, "Two"): True}, hypothesis="Another."))
    assert [one.is_result for one in said.aspects] == [False, True, True]
    assert said.hypothesis == "Another."


def test_a_missing_look_is_no_no() -> None:
    """Rules 14 and 88: [0, 10) failed, so sentences 0 to 4 have no look; [5, 15) failed, and all have another."""
    whole = state(coverage=60)
    for window, status, missing in (((0, 10), "failed", 10), ((5, 15), "kept", 10)):
        of_first = {**whole.aligned[0], window: look(failed=True)}
        hurt = replace(whole, aligned={**whole.aligned, 0: of_first})
        assert hurt.position.status == status
        assert hurt.looks()[0].missing == missing
        assert (0 in hurt.covers()) is (status == "kept")


@pytest.mark.parametrize(
    ("covered", "n", "reason"),
    [
        (7, 10, None),
        (14, 20, None),
        (21, 30, None),
        (6, 10, "coverage"),
        (2, 3, "coverage"),
        (13, 19, "coverage"),
    ],
)
def test_coverage_by_whole_numbers(covered: int, n: int, reason: str | None) -> None:
    """Rule 98."""
    start = state()
    no = dict.fromkeys(start.settings.windows(N), look())
    aligned = {number: {**no, (0, 10): look(0)} if number < covered else no for number in range(n)}
    many = replace(
        start, input=replace(start.input, aspects=tuple(f"A{i}" for i in range(n))), aligned=aligned
    )
    assert many.position.reason == reason


def test_a_licence_is_the_stricter_one_and_a_person_may_overrule_its_drop() -> None:
    """Rule 6: what the input says frees no paper whose file says otherwise."""
    of_file = PaperRecord(
        "p", Pool("0" * 64, "p", "Title", "CC BY-NC-ND", ("S.",) * N, ("normal_paragraph",) * N)
    )
    build = replace(state().input, review_id="PMC1", licence="CC BY")
    pool, why = pool_of(build, of_file)
    assert pool is not None
    assert (pool.licence, why) == ("CC BY-NC-ND", None)
    none = replace(of_file, pool=replace(pool, licence=""))
    pool, why = pool_of(replace(build, licence=""), none)
    dropped = replace(state(coverage=60), pool=pool, no_pool=why)
    assert dropped.position.reason == "licence"
    assert replace(dropped, edits=Edits(overruled=frozenset({"licence"}))).position.status == "kept"
    assert pool_of(replace(build, review_id="p"), none) == (
        None,
        ("unresolvable", "The paper is the review itself."),
    )


def test_a_probe_holds_for_the_second_model_too() -> None:
    """Rule 71: of five aspects the first three have no sentence, so nobody is asked about the others."""
    probed = state(probe=True, second_model="other")
    none = dict.fromkeys(probed.settings.windows(N), look())
    build = replace(probed.input, aspects=("One", "Two", "Three", "Four", "Five"))
    probed = replace(probed, input=build, aligned=dict.fromkeys(range(3), none))
    assert {one.number for one, _ in probed.pairs(second=True)} == {0, 1, 2}
    assert probed.position.status == "due"
    assert replace(probed, second=probed.aligned).position.reason == "coverage"
