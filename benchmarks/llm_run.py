"""A whole run that asks a model for 2,000 instances: 20 ms a call at the server, 32 at a time.

``python benchmarks/llm_run.py [FILE] [--instances 2000] [--latency 0.02] [--concurrency 32]`` prints one JSON
document: seconds, the ideal (instances x latency / concurrency), their ratio (1.3 is what we ask for),
processor milliseconds an instance, peak resident memory of this process in MB (500 is the limit), the load of
the machine before, and the ratio of as many bare exchanges of bytes in the same minute: less than that the
machine does not allow.

Everything is real but the server: a store with instances made from FILE (a dataset, such as the benchmark's
train set; without it the sample data), `execute` with retriever ``llm`` and strategy ``cot`` (one call an
instance), every answer and every retrieval stored. Exits 1 if an instance was asked for other than once or was
not answered, or if a limit is passed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.llm_server import served
from benchmarks.llm_throughput import exchanged, transport

LIMIT_RATIO, LIMIT_MB = 1.3, 500.0
SAMPLE = Path(__file__).resolve().parents[1] / "sample_data" / "sample_data.json"


def copies(source: Path, n: int) -> dict[str, object]:
    """``n`` instances made from those of a file, no two of one hypothesis."""
    originals = list(json.loads(source.read_text(encoding="utf-8")).values())
    made: dict[str, object] = {}
    for number in range(n):
        original = originals[number % len(originals)]
        hypothesis = f"{original['hypothesis']} (copy {number})"
        paper = f"{original['paper_id']}_{number}"
        made[f"copy_{number}"] = original | {"hypothesis": hypothesis, "paper_id": paper}
    return made


def prepare(source: Path, store_path: Path, n: int) -> None:
    """Fill the store: in a process of its own, so that its memory is not counted."""
    from evidencebench_core.data.ingest import ingest
    from evidencebench_core.data.store import open_store

    path = store_path.with_name("copies.json")
    path.write_text(json.dumps(copies(source, n)), encoding="utf-8")
    ingest(open_store(store_path), path, name="copies")


def measured(url: str, store_path: Path, concurrency: int) -> dict[str, float]:
    """Seconds and processor seconds of the run, and how many instances it answered."""
    from evidencebench_core.data.store import open_store
    from evidencebench_core.llm import Connection
    from evidencebench_core.retrievers.llm import session_for
    from evidencebench_core.runs import execute

    store = open_store(store_path)
    began, began_cpu = time.perf_counter(), time.process_time()
    session = session_for(store, connection=Connection(url, "none"))
    settings = {"model": "scripted", "strategy": "cot"}
    *_, last = execute(store, "copies", "llm", settings, ["er@10"], session=session, concurrency=concurrency)
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    return {"seconds": seconds, "cpu": cpu, "answered": last.done}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(options.latency) as server:
        store_path = Path(folder) / "store.sqlite"
        child = multiprocessing.get_context("fork").Process(
            target=prepare, args=(options.file, store_path, options.instances)
        )
        child.start()
        child.join()
        load = os.getloadavg()[0]
        found = measured(server.url, store_path, options.concurrency)
        n_requests = server.n_requests
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        with transport(server.url) as ask:
            bare, _ = exchanged(ask, options.instances, options.concurrency)
    ideal = options.instances * options.latency / options.concurrency
    result = {
        "instances": options.instances,
        "seconds": round(found["seconds"], 3),
        "ideal_seconds": round(ideal, 3),
        "ratio": round(found["seconds"] / ideal, 3),
        "cpu_ms_per_instance": round(1e3 * found["cpu"] / options.instances, 3),
        "ratio_of_bare_exchanges": round(bare / ideal, 3),
        "peak_mb": round(memory),
        "load_before": round(load, 2),
    }
    print(json.dumps(result))
    whole = found["answered"] == options.instances == n_requests
    return 0 if whole and result["ratio"] <= LIMIT_RATIO and memory < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
