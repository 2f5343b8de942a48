"""How fast runs go, here and on Ray: seconds of bm25 over N (960) copies of the train set's instances.

python -m benchmarks.engines TRAIN_SET [N]
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


def timed(store: Store, engine: Any) -> float:
    """Seconds of a run."""
    planned = plan(store, "copies", "bm25")
    began = time.perf_counter()
    for report in execute(planned, engine):
        run_id = report.run_id
    seconds = time.perf_counter() - began
    RunStore(store).delete(RunStore(store).run(run_id))
    return seconds


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    source, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 960
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    store = open_store(folder / "store.sqlite")
    ingest(store, copies(source, n, folder / "copies.json"), name="copies")
    engines = {"local": LocalEngine(), "1 worker": RayEngine(workers=1), "2 workers": RayEngine(workers=2)}
    for name, engine in engines.items():
        print(f"{name:10} {timed(store, engine):6.1f} s  (load {os.getloadavg()[0]:.0f})")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
