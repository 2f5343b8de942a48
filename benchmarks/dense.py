"""Our dense encoding against plain `SentenceTransformer.encode` with its defaults, on the same papers.

    python benchmarks/dense.py [--papers 5] [--rounds 3] [--data FILE]

prints one JSON document: the median seconds for a whole paper (of about 170 sentences), and ratios: how
many times quicker each backend encodes with nothing cached, and how many with everything cached. Ours
includes looking into the cache and writing it. The two take turns paper by paper, so that a busy machine
slows both; the load is printed beside. Then the same from a cold start: a new Python process up to the
first embedding of a paper. Exits 1 if float32, the default, is less than twice as quick.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared/data/evidencebench/evidencebench_train_set.json"
TARGET = 2.0
COLD = {
    "plain": "import sys, json; from sentence_transformers import SentenceTransformer as S;"
    " S(sys.argv[2]).encode(json.load(open(sys.argv[1])))",
    "ours": "import sys, json; from evidencebench_core.retrievers.encoding import embeddings;"
    " embeddings('minilm', json.load(open(sys.argv[1])))",
}


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def papers(path: Path, n_papers: int) -> list[list[str]]:
    """The sentences of the papers nearest to 170 sentences."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    pools = [instance["paper_as_candidate_pool"] for instance in raw.values()]
    return sorted(pools, key=lambda pool: abs(len(pool) - 170))[:n_papers]


def cold(paper: list[str], folder: str, model: str) -> dict[str, float]:
    """Seconds of a new process up to the first paper's embeddings."""
    file = Path(folder, "paper.json")

    def run(command: list[str]) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    found = {}
    for name, code in COLD.items():
        times = []
        for number in range(3):
            file.write_text(
                json.dumps([f"{sentence} {name}{number}" for sentence in paper]), encoding="utf-8"
            )
            command = [sys.executable, "-c", code, str(file), model]
            times.append(seconds(run, command))
        found[name] = statistics.median(times)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVIDENCEBENCH_CACHE"] = folder
        from sentence_transformers import SentenceTransformer

        from evidencebench_core.retrievers.encoding import embeddings, minilm_folder

        plain = SentenceTransformer(str(minilm_folder()))
        ways: dict[str, Callable[[list[str]], object]] = {
            "plain": plain.encode,
            "float32": lambda texts: embeddings("minilm", texts),
            "onnx-int8": lambda texts: embeddings("minilm", texts, "onnx-int8"),
            "cached": lambda texts: embeddings("minilm", texts),
        }
        pools = papers(arguments.data, arguments.papers)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():
            way(["warm up"])
        load = os.getloadavg()[0]
        for number in range(arguments.rounds):
            for pool in pools:
                fresh = [f"{sentence} {number}" for sentence in pool]  # not in the cache yet
                for name, way in ways.items():
                    times[name].append(seconds(way, fresh))
        medians = {name: statistics.median(values) for name, values in times.items()}
        from_cold = cold(pools[0], folder, str(minilm_folder()))
    ratios = {name: round(medians["plain"] / medians[name], 1) for name in medians if name != "plain"}
    result = {
        "papers": len(pools),
        "sentences_a_paper": round(statistics.mean(map(len, pools))),
        "load_before": round(load, 2),
        "processors": os.cpu_count(),
        "median_seconds_a_paper": {name: round(value, 4) for name, value in medians.items()},
        "times_quicker_than_plain": ratios,
        "cold_seconds": {name: round(value, 2) for name, value in from_cold.items()},
    }
    print(json.dumps(result, indent=2))
    return 0 if ratios["float32"] >= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
