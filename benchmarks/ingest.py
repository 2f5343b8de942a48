"""Ingest against bare ijson over the same file, in the same run.

    python benchmarks/ingest.py FILE

prints, for FILE and for a file made from it in which no two instances share a sentence (2,000
instances: in a file of `make_scale_dataset.py` all copies of a paper are one paper to the store):
instances a second of ``ijson.kvitems``, of our ingest into a fresh store, their ratio (0.5 is what
we ask for on FILE), and the peak resident memory of the ingest (300 MB is the limit). Each of them
runs in a process of its own, ijson before and after, so that a busy machine shows.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

N_UNIQUE = 2_000


def main() -> None:
    if len(sys.argv) == 4:
        measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
        return
    if len(sys.argv) != 2:
        sys.exit("usage: benchmarks/ingest.py FILE")
    path = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare("the file", path, folder)
        unique = folder / "unique.json"
        write_unique(path, unique)
        compare("unique papers", unique, folder)


def compare(title: str, path: Path, folder: Path) -> None:
    before = measured("ijson", path, folder)
    ours = measured("ingest", path, folder)
    after = measured("ijson", path, folder)
    theirs = (before["rate"] + after["rate"]) / 2
    print(f"{title}: {path}, {path.stat().st_size / 1e6:,.0f} MB, {ours['n']:,.0f} instances")
    print(
        f"  ijson.kvitems  {theirs:8,.0f} instances/s ({before['rate']:,.0f} before, {after['rate']:,.0f} after)"
    )
    print(
        f"  ingest         {ours['rate']:8,.0f} instances/s, processor time {ours['cpu_ms']:.3f} ms an instance"
    )
    print(f"  ratio          {ours['rate'] / theirs:8.2f}")
    print(f"  peak memory    {ours['rss_mb']:8,.0f} MB resident, store of {ours['store_mb']:,.0f} MB")


def measured(what: str, path: Path, folder: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        done = subprocess.run(
            [sys.executable, __file__, what, str(path), str(Path(fresh) / "store.sqlite")],
            check=True,
            capture_output=True,
            text=True,
        )
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def measure(what: str, path: Path, store_path: Path) -> None:
    """In the process of its own: one JSON object on stdout."""
    n_instances = 0
    if what == "ijson":
        import ijson

        began, cpu = time.perf_counter(), time.process_time()
        with path.open("rb") as file:
            for _ in ijson.kvitems(file, ""):
                n_instances += 1
    else:
        from evidencebench_core.data import ingest, open_store

        store = open_store(store_path)
        began, cpu = time.perf_counter(), time.process_time()
        n_instances = ingest(store, path).dataset.n_instances
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(
        json.dumps(
            {
                "n": n_instances,
                "rate": n_instances / seconds,
                "cpu_ms": cpu / n_instances * 1e3,
                "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "store_mb": store_path.stat().st_size / 1e6 if store_path.exists() else 0,
            }
        )
    )


def write_unique(source: Path, target: Path) -> None:
    """Instances of ``source`` with a word of their own at the end of every sentence."""
    from evidencebench_core.data import iter_raw

    some = [(name, dict(raw)) for name, raw in islice(iter_raw(source), 200) if isinstance(raw, dict)]
    with target.open("w", encoding="utf-8") as file:
        for number, (name, raw) in enumerate(islice(cycle(some), N_UNIQUE)):
            sentences = [f"{text} w{number}x" for text in raw["paper_as_candidate_pool"]]
            instance = {**raw, "paper_as_candidate_pool": sentences, "paper_id": f"paper_{number}"}
            file.write("{" if number == 0 else ",\n")
            file.write(f"{json.dumps(f'{name}_{number}')}:{json.dumps(instance, ensure_ascii=False)}")
        file.write("}\n")


if __name__ == "__main__":
    main()
