"""The Ray engine against the local one, and what the one writer of the store takes.

    python benchmarks/engines.py shared/data/evidencebench/evidencebench_train_set.json [N_COPIES]

bm25 over so many copies of the train set's instances, dense over its first 24 with an empty cache of embeddings; local,
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
from types import MappingProxyType
from typing import Any

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import LocalEngine, RunStore, execute, plan


def copies(path: Path, n: int, out: Path) -> Path:
    """The instances again and again, under ids of their own."""
    originals = list(json.loads(path.read_text(encoding="utf-8")).items())
    made = {}
    for number in range(n):
        old, instance = originals[number % len(originals)]
        copy = json.loads(json.dumps(instance).replace(f"{old}_aspect_", f"copy_{number}_aspect_"))
        made[f"copy_{number}"] = copy | {"hypothesis": f"{copy['hypothesis']} ({number})"}
    out.write_text(json.dumps(made), encoding="utf-8")
    return out


def timed(store: Store, dataset: str, retriever: str, engine: Any, limit: int | None) -> tuple[float, float]:
    with store.write() as db:
        db.execute("DELETE FROM retrievals")
    planned = plan(store, dataset, retriever, limit=limit)
    began, first, n_first, cpu = time.perf_counter(), 0.0, 0, 0
    for report in execute(planned, engine):
        if report.instance_id is not None and not first:
            first, n_first = time.perf_counter(), report.done
        cpu = report.done
    now = time.perf_counter()
    assert cpu == len(planned.missing)
    return now - began, (now - first) * cpu / max(1, cpu - n_first)


def writer(store: Store) -> None:
    """Answers a second that `RunStore.add` takes: rankings of 172 sentences, 32 instances a transaction."""
    run = RunStore(store).create(plan(store, "copies", "lead").spec, store.dataset("copies"))
    ranking = tuple(range(172))
    one = Retrieval(ranking, tuple(float(n) for n in ranking), ranking[:10], 0.1, MappingProxyType({}))
    n_batches, tasks = 60, ("er@optimal", "er@10", "result-er@optimal", "result-er@5")
    began, cpu = time.perf_counter(), time.process_time()
    for batch in range(n_batches):
        RunStore(store).add(run.id, {f"{batch}-{n}": dict.fromkeys(tasks, one) for n in range(32)})
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    n = n_batches * 32 * len(tasks)
    print(f"writer: {n / seconds:,.0f} answers a second ({n / cpu:,.0f} a second of processor time)")


def main() -> None:
    source, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 960
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    cache = os.environ["EVIDENCEBENCH_CACHE"] = str(folder / "cache")
    store = open_store(folder / "store.sqlite")
    ingest(store, source, name="train")
    ingest(store, copies(source, n, folder / "copies.json"), name="copies")
    writer(store)

    from evidencebench_core.runs.engines.ray_cluster import cluster

    from evidencebench_core.runs.engines.ray import RayEngine

    with cluster(None, None):
        for retriever, dataset, limit in (("bm25", "copies", None), ("dense", "train", 24)):
            for turn in range(2):
                for name, engine in (
                    ("local", LocalEngine()),
                    ("1 worker", RayEngine(workers=1)),
                    ("2 workers", RayEngine(workers=2)),
                ):
                    shutil.rmtree(cache, ignore_errors=True)
                    whole, steady = timed(store, dataset, retriever, engine, limit)
                    load = os.getloadavg()[0]
                    print(
                        f"{retriever} {turn} {name:10} whole {whole:6.1f} s  steady {steady:6.1f} s"
                        f"  (load {load:.0f})",
                        flush=True,
                    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
