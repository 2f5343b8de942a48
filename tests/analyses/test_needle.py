"""The needle test: arrangements and recall by place, derived by hand."""

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.analyses.aspect_table import aspect_table, run_picks
from evidencebench_core.analyses.needle import (
    PARTS,
    PLACES,
    arrangement,
    arrangement_run,
    behind_place,
    needle,
    needle_variant,
    part_places,
    parts_named,
)
from evidencebench_core.analyses.variant_runs import Setup, run_variants
from evidencebench_core.data import Store, parse_instance
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run
from tests.factories import raw_instance, store_with

PAPER = ["> Short.", "> Sweet.", "# Introduction", "Why.", "# Methods", "How.", "# Results", "This.", "That."]
#          0           1           2                 3       4            5       6            7        8
# inside: only the abstract; both: the abstract and the results; outside: the results alone.
ASPECTS = {"inside": [0], "both": [1, 7], "outside": [8]}
DATASET = {
    "a": raw_instance(PAPER, ASPECTS, paper_id="p"),
    "b": raw_instance([*PAPER, "More."], ASPECTS, paper_id="q"),
    "bare": raw_instance(["# Methods", "How.", "# Results", "This."], {"x": [3]}, paper_id="r"),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(DATASET, tmp_path, "given")


@pytest.fixture
def lead(store: Store) -> str:
    """A run of lead over all arrangements of the abstract, for er@2; the id of the original."""
    return run_arrangements(store, "lead")


def run_arrangements(store: Store, retriever: str) -> str:
    variants = [None, *(needle_variant("abstract", place) for place in PLACES)]
    for _ in run_variants(store, Setup("given", retriever, {}, task_named("er@2")), variants):
        pass
    (run,) = RunStore(store).runs("given")
    return run.id


def rows(store: Store, run: str, **settings: Any) -> dict[tuple[str, str], dict[str, Any]]:
    frame = needle(store, "given", [run], "er@2", **settings).tables["needle"]
    return {(row["place"], row["scope"]): row for row in frame.to_dict("records")}


def test_orders_by_hand() -> None:
    instance = parse_instance("a", DATASET["a"])
    assert arrangement(instance, "abstract", "start") == (0, 1, 2, 3, 4, 5, 6, 7, 8)
    # Seven others: three, the abstract, four.
    assert arrangement(instance, "abstract", "middle") == (2, 3, 4, 0, 1, 5, 6, 7, 8)
    assert arrangement(instance, "abstract", "end") == (2, 3, 4, 5, 6, 7, 8, 0, 1)
    assert arrangement(instance, "abstract", "removed") == (2, 3, 4, 5, 6, 7, 8)
    assert arrangement(instance, "results", "start") == (6, 7, 8, 0, 1, 2, 3, 4, 5)
    assert arrangement(instance, "discussion", "end") is None
    assert arrangement(parse_instance("bare", DATASET["bare"]), "abstract", "end") is None
    nothing_else = parse_instance("x", raw_instance(["> One.", "> Two."], {"x": [0]}))
    assert all(arrangement(nothing_else, "abstract", place) is None for place in PLACES)


def test_every_arrangement_is_a_run_of_its_own() -> None:
    variants = [needle_variant(part, place) for part in PARTS for place in PLACES]
    assert len({variant.digest for variant in variants}) == len(variants) == 24
    assert needle_variant("abstract", "end").name == "place:abstract=end"


def test_parts_by_name() -> None:
    assert parts_named(["results", "abstract", "results"]) == ("abstract", "results")
    assert parts_named(["every"]) == PARTS
    with pytest.raises(SettingError, match="abstract, introduction"):
        parts_named(["appendix"])


def test_lead_loses_what_moves_away_from_the_start(store: Store, lead: str) -> None:
    # Lead picks the first two: sentences 0 and 1 find inside and both. At the end and in the middle it
    # reads 2 and 3, which find nothing. Of the moved part are inside and both.
    found = rows(store, lead)
    start, middle = found["start", "part"], found["middle", "part"]
    assert (start["n_instances"], start["n_aspects"]) == (2, 4)
    assert (start["recall"], start["original"], start["difference"]) == (1.0, 1.0, 0.0)
    assert (middle["recall"], middle["original"], middle["difference"]) == (0.0, 1.0, -1.0)
    assert (middle["difference_low"], middle["difference_high"]) == (-1.0, -1.0)
    assert (middle["picks_in_part"], middle["original_picks_in_part"]) == (0.0, 1.0)
    assert found["end", "all"]["recall"] == 0.0
    assert found["start", "all"]["recall"] == pytest.approx(2 / 3)
    assert found["start", "rest"]["recall"] == 0.0


def test_what_was_removed_is_in_no_denominator(store: Store, lead: str) -> None:
    # Without the abstract nothing covers inside: it is left out, twice; both can still be found at 7.
    removed = rows(store, lead)["removed", "all"]
    assert (removed["n_aspects"], removed["n_left_out"]) == (4, 2)
    assert (removed["recall"], removed["original"]) == (0.0, 0.5)  # of both and outside, lead had both
    part = rows(store, lead)["removed", "part"]
    assert (part["n_aspects"], part["n_left_out"], part["original"]) == (2, 2, 1.0)


def test_abstract_tail_follows_the_abstract(store: Store) -> None:
    found = rows(store, run_arrangements(store, "abstract-tail"))
    for place in ("start", "middle", "end"):
        assert found[place, "part"]["recall"] == 1.0
    assert found["removed", "part"]["recall"] == 0.0


def test_what_it_stands_on_is_said(store: Store, lead: str) -> None:
    bm25 = complete_run(store, "given", "bm25", tasks=["er@2"])
    notes = " ".join(needle(store, "given", [lead, bm25], "er@2", n_resamples=10).notes)
    assert "1 of 3 instances have no abstract" in notes
    assert "not by where they stand, by bm25:" in notes
    assert "Not run yet: bm25 with abstract at the start" in notes


def test_nothing_to_cover_gives_an_empty_table(store: Store, lead: str) -> None:
    complete_run(store, "given", "lead", tasks=["result-er@5"])
    report = needle(store, "given", [lead], "result-er@5", n_resamples=10)
    assert report.tables["needle"].empty
    assert "3 instances are skipped, they have nothing to cover." in report.notes


def test_instances_behind_a_place(store: Store, lead: str) -> None:
    table = aspect_table(store, "given", task_named("er@2"))
    inside = part_places(store, "given", table, ("abstract",))["abstract"]
    runs = RunStore(store)
    sha256 = store.dataset("given").sha256
    moved = runs.packed_selections(arrangement_run(runs.run(lead), sha256, "abstract", "middle"), "er@2")
    before, after = run_picks(table, runs.packed_selections(lead, "er@2")), run_picks(table, moved)
    frame = behind_place(table, inside, before, after, "middle", "all")
    assert frame["id"].tolist() == ["a", "b"]
    assert frame["difference"].tolist() == pytest.approx([-2 / 3, -2 / 3])
