"""The ranker end to end: a whole paper ranked with explanations, and what a model costs.

    python benchmarks/ranker.py [--model FILE] [--papers 20] [--rounds 3] [--data FILE]

prints one JSON document: the median milliseconds for a paper of about 170 sentences with cached embeddings
(hypothesis to explained picks, the cache's reading included), where they go, and the size of the model file.
Without --model, a model is trained first, and the seconds are printed (`evidencebench train-ranker --no-cv`
does the same; the embedding of the papers is not in them). Exits 1 if the median is 50 ms or more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared/data/evidencebench/evidencebench_train_set.json"
TARGET = 50.0


def median_ms(work: Callable[[Any], object], items: list[Any], rounds: int) -> float:
    """Median milliseconds of a call, over all items and rounds."""
    times = []
    for _ in range(rounds):
        for item in items:
            began = time.perf_counter()
            work(item)
            times.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(times), 1)


def trained(instances: list[Any], path: Path) -> float:
    """Train on these instances and write the model; the seconds it took, embedding apart."""
    from evidencebench_core.retrievers.encoding import embeddings
    from evidencebench_core.retrievers.ranker.crossvalidation import training_set
    from evidencebench_core.retrievers.ranker.examples import example_of
    from evidencebench_core.retrievers.ranker.model_file import write_model
    from evidencebench_core.retrievers.ranker.training import Encoder, Training, fit_ranker

    papers = [(one, *embeddings("minilm", (one.hypothesis, *one.sentences))) for one in instances]
    began = time.perf_counter()
    examples = [example_of(one, vectors) for one, vectors, _ in papers]
    encoder = Encoder("minilm", papers[0][2].identity)
    write_model(fit_ranker(examples, encoder, training_set(examples, "train", ""), Training()), path)
    return time.perf_counter() - began


def main() -> int:
    from evidencebench_core.data import parse_instance
    from evidencebench_core.retrievers import make_retriever
    from evidencebench_core.retrievers.base import query_of
    from evidencebench_core.retrievers.encoding import embeddings
    from evidencebench_core.retrievers.ranker.features import features_of
    from evidencebench_core.retrievers.ranker.retriever import retrieval_of, scored_paper

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--papers", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    raw = json.loads(arguments.data.read_text(encoding="utf-8"))
    instances = [parse_instance(name, one) for name, one in raw.items()]
    near = sorted(instances, key=lambda one: abs(len(one.sentences) - 170))[: arguments.papers]
    found: dict[str, Any] = {"load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.model or Path(folder, "ranker.json")
        if arguments.model is None:
            found["seconds_to_train"] = round(trained(instances, path), 1)
        found["model_bytes"] = path.stat().st_size
        ranker, structure = (
            make_retriever("evidence-ranker", {"model": str(path)}),
            make_retriever("structure"),
        )
        queries = [query_of(one, "all", 10) for one in near]
        for query in queries:
            ranker.retrieve(query)  # embeddings into the cache
        rounds, model = arguments.rounds, ranker.model  # type: ignore[attr-defined]
        parts = []
        for query in queries:
            vectors = embeddings("minilm", (query.hypothesis, *query.sentences))[0]
            features = features_of(query, vectors)
            parts.append((query, vectors, features, scored_paper(model, query, vectors, features)))
        found["ms"] = {
            "evidence-ranker": median_ms(ranker.retrieve, queries, rounds),
            "structure": median_ms(structure.retrieve, queries, rounds),
            "of it: cached embeddings": median_ms(
                lambda one: embeddings("minilm", (one.hypothesis, *one.sentences)), queries, rounds
            ),
            "of it: features": median_ms(lambda one: features_of(one[0], one[1]), parts, rounds),
            "of it: scores": median_ms(
                lambda one: scored_paper(model, one[0], one[1], one[2]), parts, rounds
            ),
            "of it: picks and explanation": median_ms(
                lambda one: retrieval_of(model, one[3], one[0], 0.0), parts, rounds
            ),
        }
    found["papers"] = len(near)
    found["median_sentences"] = statistics.median(len(one.sentences) for one in near)
    found["load_after"] = os.getloadavg()
    print(json.dumps(found, indent=2))
    return 0 if found["ms"]["evidence-ranker"] < TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
