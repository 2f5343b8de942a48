"""The ledger and the aspect table, on a case worked out by hand."""

from __future__ import annotations

import pytest

from components.browse.ledger import aspect_rows, ledger_rows, references
from components.widgets.table import Cell
from evidencebench_core.data import Instance, parse_instance
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import task_named
from tests.factories import raw_instance


@pytest.fixture
def instance() -> Instance:
    """Three aspects on six sentences: 1 covers A1 and A2, 3 covers A2, 5 covers A3 (a result)."""
    raw = raw_instance(
        6, {"a": [1], "b": [1, 3], "c": [5]}, ["c"], aspect_texts={"a": "The first.", "b": "The second."}
    )
    return parse_instance("x", raw)


def labels(cell: Cell) -> list[str] | None:
    return [chip.label for chip in cell] if isinstance(cell, tuple) else None


def test_each_pick_is_told_by_what_it_adds_and_repeats(instance: Instance) -> None:
    task = task_named("er@10")
    rows = ledger_rows(instance, task, (3, 0, 1), references(instance.evidence, task))
    told = [(labels(r.cells[0]), labels(r.cells[1]), labels(r.cells[2]), r.cells[3]) for r in rows]
    # 3 covers A2 first; 0 covers nothing; 1 adds A1 and repeats A2: recall 1/3, 1/3, 2/3
    assert told == [
        (["3"], ["A2"], None, pytest.approx(1 / 3)),
        (["0"], None, None, pytest.approx(1 / 3)),
        (["1"], ["A1"], ["A2"], pytest.approx(2 / 3)),
    ]
    # greedy and best: 1 (A1, A2), then 5 (A3)
    assert [labels(r.cells[4]) for r in rows] == [["1", "A1", "A2"], ["5", "A3"], None]
    assert [labels(r.cells[5]) for r in rows] == [["1", "A1", "A2"], ["5", "A3"], None]


def test_repeated_aspects_are_hollow(instance: Instance) -> None:
    task = task_named("er@10")
    repeats = ledger_rows(instance, task, (3, 1), references(instance.evidence, task))[1].cells[2]
    assert isinstance(repeats, tuple)
    assert [chip.filled for chip in repeats] == [False]


def test_a_result_task_keeps_the_numbers_of_the_aspects(instance: Instance) -> None:
    task = task_named("result-er@5")
    (row,) = ledger_rows(instance, task, (5,), references(instance.evidence, task))
    assert isinstance(row.cells[1], tuple)
    assert (row.cells[1][0].label, row.cells[1][0].number, row.cells[3]) == ("A3", 2, 1.0)


def test_long_selections_are_cut(instance: Instance) -> None:
    task = task_named("result-er@unconstrained")
    rows = ledger_rows(instance, task, (0, 1, 2, 3), references(instance.evidence, task), limit=2)
    assert len(rows) == 2


def test_the_aspect_table_names_the_first_pick_that_found_it(instance: Instance) -> None:
    answers = {"x": Retrieval((0, 3, 1), (3.0, 2.0, 1.0), (0, 3, 1)), "y": Retrieval((5,), (1.0,), (5,))}
    rows = aspect_rows(instance, task_named("er@10"), answers)
    assert [row.cells[3:] for row in rows] == [(3, None), (2, None), (None, 1)]
    assert rows[0].cells[1] == "The first."
    assert str(rows[2].cells[1]).startswith("Result. “")  # no text in the data: its first sentence
    assert [labels(row.cells[2]) for row in rows] == [["1"], ["1", "3"], ["5"]]
    (only,) = aspect_rows(instance, task_named("er@10"), answers, only="A2")
    assert labels(only.cells[0]) == ["A2"]
