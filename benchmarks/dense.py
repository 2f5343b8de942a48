"""Our dense encoding against plain `SentenceTransformer.encode` with its defaults, on the same papers.

    python -m benchmarks.dense

Median milliseconds for a whole paper of about 170 sentences with nothing cached, by each backend (ours includes
looking into the cache and writing it), and with everything cached; the ways take turns paper by paper, so that a
busy machine slows all. Then the seconds from a cold start: a new Python process up to the first paper's embeddings.
The target is to be twice as quick as plain in float32.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import ROOT, report, seconds, usual_papers

COLD = {
    "plain": "import sys, json; from sentence_transformers import SentenceTransformer as S;"
    " S(sys.argv[2]).encode(json.load(open(sys.argv[1])))",
    "ours": "import sys, json; from evidencebench_core.retrievers.encoding import embeddings;"
    " embeddings('minilm', json.load(open(sys.argv[1])))",
}


def cold_seconds(code: str, texts: list[str], model: str, folder: str) -> float:
    file = Path(folder, "paper.json")
    file.write_text(json.dumps(texts), encoding="utf-8")
    command = [sys.executable, "-c", code, str(file), model]
    return round(seconds(lambda: subprocess.run(command, check=True, capture_output=True, cwd=ROOT)), 2)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVIDENCEBENCH_CACHE"] = folder
        from sentence_transformers import SentenceTransformer

        from evidencebench_core.retrievers.encoding import embeddings, minilm_folder

        model = str(minilm_folder())
        ways: dict[str, Callable[[list[str]], object]] = {
            "plain": SentenceTransformer(model).encode,
            "float32": lambda texts: embeddings("minilm", texts),
            "onnx-int8": lambda texts: embeddings("minilm", texts, "onnx-int8"),
            "cached": lambda texts: embeddings("minilm", texts),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():
            way(["warm up"])
        papers = usual_papers(5)
        for number in range(3):
            for paper in papers:
                fresh = [f"{sentence} {number}" for sentence in paper.sentences]  # not in the cache yet
                for name, way in ways.items():
                    times[name].append(1000 * seconds(way, fresh))
        cold = {
            name: cold_seconds(code, [f"{one} {name}" for one in papers[0].sentences], model, folder)
            for name, code in COLD.items()
        }
    medians = {name: round(statistics.median(values), 1) for name, values in times.items()}
    ratios = {name: round(medians["plain"] / value, 1) for name, value in medians.items()}
    found = {"ms_a_paper": medians, "times_quicker_than_plain": ratios, "cold_seconds": cold}
    return report(found, ["float32"] if ratios["float32"] < 2 else [])


if __name__ == "__main__":
    raise SystemExit(main())
