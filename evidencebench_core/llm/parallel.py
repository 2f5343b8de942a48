"""Many pieces of work at once, with the results as they come."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Final, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

_LOOK: Final = 0.05  # seconds between looks whether to stop
_GRACE: Final = 30.0  # seconds that calls under way have to end by themselves: they are paid


def in_parallel(
    work: Callable[[_T], _R],
    items: Iterable[_T],
    n_workers: int,
    *,
    stopped: Callable[[], bool],
    stop: Callable[[], None],
    close: Callable[[], None],
    grace: float = _GRACE,
) -> Iterator[list[_R]]:
    """Results of ``work`` in batches of what is ready, in the order in which they are done.

    Items are read as workers come free, at most twice as many as there are workers. If ``stopped`` says so,
    or whoever reads the results goes away, no more work is begun and ``stop`` is called; what is under way
    has ``grace`` seconds to end, then ``close`` is called to break it off. Its results are still given.
    """
    ready: queue.SimpleQueue[Future[_R]] = queue.SimpleQueue()
    under_way: set[Future[_R]] = set()
    source, failure = iter(items), None
    with ThreadPoolExecutor(n_workers, thread_name_prefix="evidencebench") as pool:
        try:
            ended = False
            while not ended or under_way:
                ended = ended or stopped()
                while not ended and len(under_way) < 2 * n_workers:
                    try:
                        future = pool.submit(work, next(source))
                    except StopIteration:
                        ended = True
                    else:
                        under_way.add(future)
                        future.add_done_callback(ready.put)
                if under_way and (stopped() or failure is not None):
                    ended = True
                    _wind_up(under_way, stop, close, grace)
                done = _ready(ready)
                under_way -= set(done)
                results, failed = _results(done)
                failure = failure or failed
                if results:
                    yield results
            if failure is not None:
                raise failure
        finally:
            if under_way:
                _wind_up(under_way, stop, close, grace)


def _ready(ready: queue.SimpleQueue[Future[_R]]) -> list[Future[_R]]:
    """All that is done by now; if nothing is, what is done next, or nothing after a while."""
    done: list[Future[_R]] = []
    try:
        done.append(ready.get(timeout=_LOOK))
        while True:
            done.append(ready.get_nowait())
    except queue.Empty:
        return done


def _results(done: list[Future[_R]]) -> tuple[list[_R], BaseException | None]:
    results: list[_R] = []
    failure: BaseException | None = None
    for future in done:
        try:
            results.append(future.result())
        except CancelledError:
            continue
        except BaseException as error:  # noqa: BLE001 - raised again once the rest has ended
            failure = failure or error
    return results, failure


def _wind_up(
    under_way: set[Future[_R]], stop: Callable[[], None], close: Callable[[], None], grace: float
) -> None:
    for future in under_way:
        future.cancel()
    stop()
    if wait(under_way, timeout=grace).not_done:
        close()
        wait(under_way)
