"""Ingest against bare ijson over the same file, in the same run.

    python -m benchmarks.ingest FILE

For FILE, and for a file made from it in which no two instances share a sentence (2,000 instances: copies of a paper
are one paper to the store): instances a second of ``ijson.kvitems`` and of our ingest into a fresh store, their ratio
(the target is 0.5 on FILE), and the peak memory of the ingest (300 MB). Each runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.timing import peak_mb, report

N_UNIQUE = 2_000


def measure(what: str, path: Path, store_path: Path) -> dict[str, float]:
    """In a process of its own."""
    from evidencebench_core.data import ingest, open_store

    began, cpu = time.perf_counter(), time.process_time()
    if what == "ijson":
        import ijson

        with path.open("rb") as file:
            n_instances = sum(1 for _ in ijson.kvitems(file, ""))
    else:
        n_instances = ingest(open_store(store_path), path).dataset.n_instances
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "instances_a_second": round(n_instances / seconds),
        "cpu_ms_an_instance": round(1000 * cpu / n_instances, 3),
        "peak_mb": peak_mb(),
    }


def compared(path: Path, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"mb": round(path.stat().st_size / 1e6)}
    for what in ("ijson", "ingest"):
        command = [sys.executable, "-m", "benchmarks.ingest", what, str(path), f"{folder}/{path.name}.{what}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[what] = json.loads(done.stdout)
    found["ratio"] = round(found["ingest"]["instances_a_second"] / found["ijson"]["instances_a_second"], 2)
    return found


def write_unique(source: Path, target: Path) -> None:
    """Instances of ``source`` with a word of their own at the end of every sentence."""
    from evidencebench_core.data import iter_raw

    some = [(name, dict(raw)) for name, raw in islice(iter_raw(source), 200) if isinstance(raw, dict)]
    made = {}
    for number, (name, raw) in enumerate(islice(cycle(some), N_UNIQUE)):
        sentences = [f"{text} w{number}x" for text in raw["paper_as_candidate_pool"]]
        made[f"{name}_{number}"] = {**raw, "paper_as_candidate_pool": sentences, "paper_id": f"p{number}"}
    target.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")


def main() -> int:
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
        return 0
    path = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        unique = Path(name, "unique.json")
        write_unique(path, unique)
        found = {"file": compared(path, Path(name)), "unique papers": compared(unique, Path(name))}
    missed = [] if found["file"]["ratio"] >= 0.5 else ["ratio"]
    return report(found, missed + [name for name, one in found.items() if one["ingest"]["peak_mb"] >= 300])


if __name__ == "__main__":
    raise SystemExit(main())
