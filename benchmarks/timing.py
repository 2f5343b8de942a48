"""What the benchmarks share: the data, the clock, the memory, and one JSON document at the end.

usage: python -m benchmarks.NAME [arguments], from the root of the checkout
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from evidencebench_core.data import parse_instance
from evidencebench_core.data.model import Instance

ROOT = Path(__file__).resolve().parent.parent
TRAIN = ROOT.parent / "shared/data/evidencebench/evidencebench_train_set.json"


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def median_ms(work: Callable[[Any], object], items: Iterable[Any]) -> float:
    """Median milliseconds of a call, three times for each item."""
    return round(1000 * statistics.median(seconds(work, item) for item in list(items) * 3), 1)


def peak_mb() -> int:
    """The most memory that this process has had so far, on Linux; what it was started by does not count."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def usual_papers(n: int, path: Path = TRAIN) -> list[Instance]:
    """The instances of the train set whose papers are nearest to 170 sentences."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    instances = [parse_instance(name, one) for name, one in raw.items()]
    return sorted(instances, key=lambda one: abs(len(one.sentences) - 170))[:n]


def report(found: dict[str, Any], missed: Iterable[str] = ()) -> int:
    """Print what was found and which targets were missed as one JSON document; the exit code."""
    machine = {"load": os.getloadavg(), "processors": os.cpu_count(), "missed": list(missed)}
    print(json.dumps(found | machine, indent=2))
    return int(bool(machine["missed"]))
