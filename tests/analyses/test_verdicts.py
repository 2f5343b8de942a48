"""Draws of missed aspects: repeatable, resumable, stratified; the tally of causes and the agreement by hand."""

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.analyses.verdicts import RULES, verdicts
from evidencebench_core.data import Store
from tests.analyses.stores import given_run

TASK = "er@10"
NOTED = [
    (0, "AB", "gold"), (1, "AB", "gold"), (2, "AB", "cut"), (3, "AB", "typing slip"),
    (0, "CD", "cut"), (0, "CD", "gold"), (1, "CD", "cut"), (2, "CD", None), (4, "CD", "gold"),  # the newest counts
]  # fmt: skip


@pytest.fixture
def run(store: Store) -> str:
    """It picks nothing: 18 misses, of which 10 are result aspects (tiny_4 has none)."""
    return given_run(store, {f"tiny_{number}": () for number in range(6)}, TASK)


def drawn(store: Store, *runs: str, results_only: bool = False, **how: int) -> list[tuple[str, str, str]]:
    items = verdicts(store, runs, TASK, results_only=results_only, **how).tables["items"]
    return list(items[["run", "instance", "aspect"]].itertuples(index=False, name=None))


def test_a_draw_is_named_by_its_seed_and_a_larger_one_goes_on(store: Store, run: str) -> None:
    ten = drawn(store, run, n=10)
    assert drawn(store, run, n=5) == ten[:5]
    assert len(set(ten)) == 10
    assert drawn(store, run, n=5, seed=1) != ten[:5]
    assert len(drawn(store, run, results_only=True)) == 10


def test_strata_are_equal_as_far_as_they_go(store: Store, run: str) -> None:
    small = given_run(store, {"tiny_0": ()}, TASK, "abstract-tail")  # 3 misses
    for n, of_small in ((4, 2), (5, 2), (12, 3)):
        runs = [of_run for of_run, *_ in drawn(store, run, small, n=n, stratified=True)]
        assert len(runs) == n
        assert abs(runs.count(small) - of_small) <= (n == 5)
    assert len(drawn(store, run, small, n=100)) == 18 + 3


def test_the_tally_and_the_agreement(store: Store, run: str) -> None:
    places = drawn(store, run, n=5, results_only=True)  # the last is not among the four that are read
    assert verdicts(store, [run], TASK).tables["agreement"].empty
    for number, author, cause in NOTED:
        _, instance, aspect = places[number]
        fields = {"instance_id": instance, "aspect_id": aspect, "author": author, "cause": cause}
        NoteStore(store).add(Note(run_id=run, task=TASK, text="" if cause else "none yet", **fields))
    report = verdicts(store, [run], TASK, n=4)
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
