"""Picks before and after an edit, on a case worked out by hand."""

from __future__ import annotations

from components.browse.edited import change_rows, pick_rows
from components.widgets.table import Cell
from evidencebench_core.data import parse_instance
from evidencebench_core.metrics import selection_change
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import task_named
from tests.factories import raw_instance

# Three aspects on six sentences: 1 covers A1 and A2, 3 covers A2, 5 covers A3 (a result).
INSTANCE = parse_instance("x", raw_instance(6, {"a": [1], "b": [1, 3], "c": [5]}, ["c"]))
BEFORE = Retrieval((3, 1, 5, 0), (), (3, 1))
AFTER = Retrieval((5, 3), (), (5, 3))


def labels(cell: Cell) -> list[str] | None:
    return [chip.label for chip in cell] if isinstance(cell, tuple) else None


def test_every_pick_says_what_became_of_it() -> None:
    rows = pick_rows(INSTANCE, BEFORE, AFTER, is_after=False)
    assert [(row.id, row.cells[0], labels(row.cells[1]), row.cells[2]) for row in rows] == [
        ("3", 1, ["3"], "= kept, pick 2"),
        ("1", 2, ["1"], "− lost, not ranked"),
    ]
    after = pick_rows(INSTANCE, AFTER, BEFORE, is_after=True)
    assert [row.cells[2] for row in after] == ["+ gained, rank 3", "= kept, pick 1"]


def test_what_is_gained_and_lost_in_a_task() -> None:
    change = selection_change(BEFORE.selection, AFTER.selection, INSTANCE.evidence.covers("all"))
    rows = change_rows(INSTANCE, task_named("er@10"), change, scored=True)
    assert [(row.cells[0], *map(labels, row.cells[1:])) for row in rows] == [
        ("+ Gained", ["5"], ["A3"]),
        ("− Lost", ["1"], ["A1"]),  # A2 stays: 3 covers it
        ("= Kept", ["3"], None),
    ]
    assert [len(row.cells) for row in change_rows(INSTANCE, task_named("er@10"), change, scored=False)] == [
        2
    ] * 3
