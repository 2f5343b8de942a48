"""The ledger and the aspect table, on a case worked out by hand."""

import pytest

from components.browse.aspects import aspect_rows
from components.browse.ledger import best_selection, ledger_rows
from components.table import Cell, Row
from evidencebench_core.data import instance_from
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import task_named
from tests.factories import raw_instance

# Three aspects on six sentences: 1 covers A1 and A2, 3 covers A2, 5 covers A3 (a result).
TEXTS = {"a": "The first.", "b": "The second."}
INSTANCE = instance_from("x", raw_instance(6, {"a": [1], "b": [1, 3], "c": [5]}, ["c"], aspect_texts=TEXTS))


def labels(cell: Cell) -> list[str] | None:
    return [chip.label for chip in cell] if isinstance(cell, tuple) else None


def rows_of(name: str, *picks: int, **options: int) -> list[Row]:
    task = task_named(name)
    best = best_selection(INSTANCE.evidence, task)
    return ledger_rows(INSTANCE, task, Retrieval(picks, ()), best, **options)


def test_each_pick_is_told_by_what_it_adds_and_repeats() -> None:
    rows = rows_of("er@10", 3, 0, 1)
    # 3 covers A2 first; 0 covers nothing; 1 adds A1 and repeats A2: recall 1/3, 1/3, 2/3
    assert [(*map(labels, row.cells[:3]), row.cells[3]) for row in rows] == [
        (["3"], ["A2"], None, pytest.approx(1 / 3)),
        (["0"], None, None, pytest.approx(1 / 3)),
        (["1"], ["A1"], ["A2"], pytest.approx(2 / 3)),
    ]
    # best: 1 (A1, A2), then 5 (A3)
    assert [labels(row.cells[4]) for row in rows] == [["1", "A1", "A2"], ["5", "A3"], None]
    assert {len(row.cells) for row in rows} == {5}
    assert [chip.filled for chip in rows[2].cells[2]] == [False]  # repeated aspects are hollow
    assert len(rows_of("result-er@unconstrained", 0, 1, 2, 3, limit=2)) == 2


def test_a_result_task_keeps_the_numbers_of_the_aspects() -> None:
    (row,) = rows_of("result-er@5", 5)
    (chip,) = row.cells[1]
    assert (chip.label, chip.number, row.cells[3]) == ("A3", 2, 1.0)


def test_the_aspect_table_names_the_first_pick_that_found_it() -> None:
    answers = [Retrieval((0, 3, 1), (3.0, 2.0, 1.0)), Retrieval((5,), (1.0,))]
    rows = aspect_rows(INSTANCE, task_named("er@10"), answers)
    assert [row.cells[3:] for row in rows] == [(3, None), (2, None), (None, 1)]
    assert rows[0].cells[1] == "The first."
    assert str(rows[2].cells[1]).startswith("Result. “")  # no text in the data: its first sentence
    assert [labels(row.cells[2]) for row in rows] == [["1"], ["1", "3"], ["5"]]
    (only,) = aspect_rows(INSTANCE, task_named("er@10"), answers, only="A2")
    assert labels(only.cells[0]) == ["A2"]
