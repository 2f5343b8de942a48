"""Draws of missed aspects: repeatable, resumable, stratified; the tally of causes and the agreement by hand."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.analyses.verdicts import RULES, Draw, draw, verdicts
from evidencebench_core.data import Store
from tests.analyses.stores import given_run
from tests.factories import raw_dataset, store_with

TASK = "er@10"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(raw_dataset(6), tmp_path)


@pytest.fixture
def run(store: Store) -> str:
    """It picks nothing: 18 misses, of which 10 are result aspects (tiny_4 has none)."""
    return given_run(store, {f"tiny_{number}": () for number in range(6)}, TASK)


def keys(drawn: Draw) -> list[tuple[str, ...]]:
    return list(drawn.frame[["run", "instance", "aspect"]].itertuples(index=False, name=None))


def note(store: Store, drawn: Draw, place: int, author: str, cause: str | None, text: str = "") -> None:
    run, instance, aspect = keys(drawn)[place]
    NoteStore(store).add(
        Note(
            run_id=run,
            task=TASK,
            instance_id=instance,
            aspect_id=aspect,
            author=author,
            cause=cause,
            text=text,
        )
    )


def test_a_draw_is_named_by_its_seed_and_a_larger_one_goes_on(store: Store, run: str) -> None:
    five, ten = (draw(store, [run], TASK, n=n, results_only=False) for n in (5, 10))
    assert keys(ten)[:5] == keys(five)
    assert len(set(keys(ten))) == 10
    assert keys(five) != keys(draw(store, [run], TASK, n=5, seed=1, results_only=False))
    assert len(draw(store, [run], TASK).frame) == 10
    assert set(draw(store, [run], TASK).frame["is_result"]) == {True}


def test_strata_are_equal_as_far_as_they_go(store: Store, run: str) -> None:
    small = given_run(store, {"tiny_0": ()}, TASK, "abstract-tail")  # 3 misses
    for n, of_small in ((4, 2), (5, 2), (12, 3)):
        drawn = draw(store, [run, small], TASK, n=n, stratified=True, results_only=False)
        assert len(drawn.frame) == n
        assert abs(list(drawn.frame["run"]).count(small) - of_small) <= (n == 5)
    pooled = draw(store, [run, small], TASK, n=100, results_only=False)
    assert list(pooled.frame["run"]).count(small) == 3


def test_the_tally_and_the_agreement(store: Store, run: str) -> None:
    options = {"task": TASK, "n": 4}
    drawn = draw(store, [run], **options)
    for place, cause in enumerate(("gold", "gold", "cut", "typing slip")):
        note(store, drawn, place, "AB", cause)
    note(store, drawn, 0, "CD", "cut")
    note(store, drawn, 0, "CD", "gold")  # the newest counts
    note(store, drawn, 1, "CD", "cut")
    note(store, drawn, 2, "CD", None, "no verdict yet")
    outside = draw(store, [run], task=TASK, n=5)
    note(store, outside, 4, "CD", "gold")
    drawn = draw(store, [run], **options)
    assert [len(drawn.waiting(reader)) for reader in ("AB", "CD", "EF")] == [0, 2, 4]
    report = verdicts(store, [run], **options)
    causes = report.tables["causes"].set_index(["cause", "by"])
    assert causes["n"].to_dict() == {
        ("far", RULES): 4, ("far", "AB"): 0, ("far", "CD"): 0, ("gold", RULES): 0, ("gold", "AB"): 2,
        ("gold", "CD"): 1, ("cut", RULES): 0, ("cut", "AB"): 1, ("cut", "CD"): 1, ("typing slip", RULES): 0,
        ("typing slip", "AB"): 1, ("typing slip", "CD"): 0,
    }  # fmt: skip
    assert causes.loc[("gold", "AB"), "share"] == 0.5
    agreement = report.tables["agreement"].set_index(["a", "b", "measure"])["value"]
    # AB: gold, gold; CD: gold, cut. Kappa: (1/2 - 1/2) / (1/2). Alpha, 3 of 4 being gold: 1 - 3 * 2 / (16 - 10).
    assert agreement["AB", "CD", "same cause"] == 0.5
    assert agreement["AB", "CD", "Cohen's kappa"] == 0
    assert agreement["all readers", "", "Krippendorff's alpha"] == pytest.approx(0)
    assert agreement[RULES, "AB", "among all suggested"] == 0
    items = report.tables["items"]
    assert list(items["number"]) == [1, 2, 3, 4]
    assert items["notes"][0] == "AB: gold; CD: gold"


def test_without_a_note_there_are_the_rules_alone(store: Store, run: str) -> None:
    report = verdicts(store, [run], TASK)
    assert set(report.tables["causes"]["by"]) == {RULES}
    assert report.tables["agreement"].empty
