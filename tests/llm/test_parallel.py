"""Work on many threads: bounded, stopped in good order, and with nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from evidencebench_core.llm.parallel import in_parallel


def never() -> bool:
    return False


def nothing() -> None:
    pass


def test_everything_is_done_once() -> None:
    for n_items in (0, 100):
        batches = in_parallel(lambda n: n * n, range(n_items), 4, stopped=never, stop=nothing, close=nothing)
        assert sorted(one for batch in batches for one in batch) == [n * n for n in range(n_items)]


def test_items_are_read_as_workers_come_free() -> None:
    read: list[int] = []
    gate = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for number in range(50):
            read.append(number)
            yield number

    def work(number: int) -> int:
        gate.acquire(timeout=30)
        return number

    batches = in_parallel(work, items(), 3, stopped=never, stop=nothing, close=nothing)
    gate.release()
    assert len(next(batches)) == 1
    assert len(read) == 6  # twice as many as there are workers
    gate.release(100)
    assert sum(map(len, batches)) == 49


def test_an_exception_comes_after_the_results_of_the_others() -> None:
    def work(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    found: list[int] = []
    batches = in_parallel(work, range(10), 1, stopped=never, stop=nothing, close=nothing)
    with pytest.raises(ValueError, match="three"):
        found.extend(one for batch in batches for one in batch)
    assert found[:3] == [0, 1, 2]
    assert 9 not in found


def test_what_does_not_end_in_time_is_broken_off() -> None:
    closed, began = threading.Event(), threading.Event()

    def work(_: int) -> str:
        began.set()
        closed.wait(30)
        return "broken off"

    batches = in_parallel(work, range(5), 1, stopped=began.is_set, stop=nothing, close=closed.set, grace=0.0)
    assert [one for batch in batches for one in batch] == ["broken off"]


def test_a_reader_who_leaves_ends_the_work() -> None:
    stopped = threading.Event()
    batches = in_parallel(str, range(1000), 2, stopped=never, stop=stopped.set, close=nothing)
    next(batches)
    batches.close()
    assert stopped.is_set()
