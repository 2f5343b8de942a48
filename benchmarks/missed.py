"""Missed aspects at scale: ``python benchmarks/missed.py STORE RUN [TASK]``.

Prints seconds for the table (target: under 3 s with 20,000 instances), the papers' words, the causes, and the
shares with their intervals.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from evidencebench_core.analyses.causes import with_causes
from evidencebench_core.analyses.missed import aspect_outcomes, queue_of, with_text
from evidencebench_core.analyses.missed_report import BINNINGS, missed_shares
from evidencebench_core.data import open_store

T = TypeVar("T")


def timed(what: str, call: Callable[[], T]) -> T:
    """The call's result; its seconds on the clock and of the processor are printed."""
    began, worked = time.perf_counter(), time.process_time()
    result = call()
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    print(f"{what:<28}{wall:6.2f} s, {cpu:6.2f} s of processor")
    return result


def main(path: str, run: str, task: str = "result-er@optimal") -> None:
    """Time the parts one after the other."""
    store = open_store(path)
    outcomes = timed("aspect_outcomes", lambda: aspect_outcomes(store, run, task))
    queue = timed("queue_of", lambda: queue_of(outcomes))
    words = timed("with_text", lambda: with_text(store, outcomes))
    caused = timed("causes", lambda: with_causes(words))
    for by in BINNINGS:
        timed(f"missed_shares by {by}", lambda by=by: missed_shares(caused, by))  # type: ignore[misc]
    print(
        f"{len(queue):,} of {len(outcomes):,} aspects missed in {outcomes['instance'].nunique():,} instances"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
