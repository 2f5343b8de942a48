"""Missed aspects at scale: seconds for the table (the target is 3 with 20,000 instances), the papers' words, the
causes, and the shares with their intervals.

    python -m benchmarks.missed STORE RUN [TASK]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks.timing import report
from evidencebench_core.analyses.causes import with_causes
from evidencebench_core.analyses.missed import aspect_outcomes, queue_of
from evidencebench_core.analyses.missed_report import BINNINGS, missed_shares
from evidencebench_core.analyses.missed_text import with_text
from evidencebench_core.data import open_store

T = TypeVar("T")


def main(path: str, run: str, task: str = "result-er@optimal") -> int:
    times: dict[str, float] = {}

    def timed(name: str, call: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = call()
        times[name] = round(time.perf_counter() - began, 2)
        return result

    store = open_store(path)
    outcomes = timed("aspect_outcomes", lambda: aspect_outcomes(store, run, task))
    queue = timed("queue_of", lambda: queue_of(outcomes))
    words = timed("with_text", lambda: with_text(store, outcomes))
    caused = timed("causes", lambda: with_causes(words))
    for by in BINNINGS:
        timed(f"missed_shares by {by}", lambda by=by: missed_shares(caused, by))  # type: ignore[misc]
    counts = {"missed": len(queue), "aspects": len(outcomes), "instances": outcomes["instance"].nunique()}
    return report({"seconds": times, **counts}, ["aspect_outcomes"] if times["aspect_outcomes"] >= 3 else [])


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
