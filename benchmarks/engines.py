"""How fast runs go: papers a second of bm25 and dense, here and on Ray, and what the store takes.

    python -m benchmarks.engines TRAIN_SET [N]

bm25 over N (960) copies of the train set's instances, dense over its first 24 with an empty cache of embeddings; local,
one worker, two workers, in turn. *whole* counts from the call, *steady* from the first answer (with Ray that leaves
out the start of the workers).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.runs import LocalEngine, RunStore, execute, plan
from evidencebench_core.runs.engines.ray import RayEngine


def copies(path: Path, n: int, out: Path) -> Path:
    """The instances again and again, under ids of their own."""
    originals = list(json.loads(path.read_text(encoding="utf-8")).items())
    instances = {}
    for number in range(n):
        name, instance = originals[number % len(originals)]
        copy = json.loads(json.dumps(instance).replace(f"{name}_aspect_", f"copy_{number}_aspect_"))
        instances[f"copy_{number}"] = copy | {"hypothesis": f"{copy['hypothesis']} ({number})"}
    out.write_text(json.dumps(instances), encoding="utf-8")
    return out


def timed(store: Store, dataset: str, retriever: str, engine: Any, limit: int | None) -> tuple[float, float]:
    """Seconds of a run from the call, and from its first answer."""
    planned = plan(store, dataset, retriever, limit=limit)
    began, first, done = time.perf_counter(), 0.0, 0
    for report in execute(planned, engine):
        done = report.done
        if done and not first:
            first = time.perf_counter()
    now = time.perf_counter()
    assert done == report.total
    RunStore(store).delete(RunStore(store).run(report.run_id))
    return now - began, now - first


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    source, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 960
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    cache = os.environ["EVIDENCEBENCH_CACHE"] = str(folder / "cache")
    store = open_store(folder / "store.sqlite")
    ingest(store, source, name="train")
    ingest(store, copies(source, n, folder / "copies.json"), name="copies")
    engines = {"local": LocalEngine(), "1 worker": RayEngine(workers=1), "2 workers": RayEngine(workers=2)}
    for retriever, dataset, limit in (("bm25", "copies", None), ("dense", "train", 24)):
        for name, engine in engines.items():
            shutil.rmtree(cache, ignore_errors=True)
            whole, steady = timed(store, dataset, retriever, engine, limit)
            load = os.getloadavg()[0]
            print(f"{retriever} {name:10} whole {whole:6.1f} s  steady {steady:6.1f} s  (load {load:.0f})")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
