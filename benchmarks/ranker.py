"""The ranker end to end: whole papers ranked with explanations, and what a model costs.

    python -m benchmarks.ranker [MODEL_FILE]

Median milliseconds for a paper of about 170 sentences with cached embeddings (hypothesis to explained picks, the
cache's reading included; the target is 50), where they go, and the size of the model file. Without a file a model
is trained first, and its seconds are given, embedding apart.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import median_ms, report, usual_papers
from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers import Query, make_retriever, query_of
from evidencebench_core.retrievers.encoding import layered_embeddings, model_named
from evidencebench_core.retrievers.ranker.examples import example_of
from evidencebench_core.retrievers.ranker.features import features_of, layers_of
from evidencebench_core.retrievers.ranker.model_file import read_model, write_model
from evidencebench_core.retrievers.ranker.retriever import retrieval_of
from evidencebench_core.retrievers.ranker.training import Training, fit_ranker

TARGET = 50.0


def vectors_of(query: Query | Instance) -> Any:
    return layered_embeddings("minilm", (query.hypothesis, *query.sentences))[0]


def seconds_to_train(path: Path) -> float:
    """Train on the whole train set and write the model."""
    papers = [(one, vectors_of(one)) for one in usual_papers(10_000)]
    began = time.perf_counter()
    examples = [example_of(one, vectors) for one, vectors in papers]
    write_model(fit_ranker(examples, model_named("minilm"), Training()), path)
    return round(time.perf_counter() - began, 1)


def main() -> int:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1] if sys.argv[1:] else f"{folder}/ranker.json")
        if not sys.argv[1:]:
            found["seconds_to_train"] = seconds_to_train(path)
        found["model_bytes"] = path.stat().st_size
        model, _ = read_model(path)
        ranker = make_retriever("evidence-ranker", {"model": str(path)})
        queries = [query_of(one, "all", 10) for one in usual_papers(20)]
        parts = [(query, vectors_of(query)) for query in queries]
        scored = [(query, vectors, model.scored(query, vectors)) for query, vectors in parts]
        found["ms"] = {
            "evidence-ranker": median_ms(ranker.retrieve, queries),
            "structure": median_ms(make_retriever("structure").retrieve, queries),
            "of it: cached embeddings": median_ms(vectors_of, queries),
            "of it: features": median_ms(lambda one: features_of(one[0], layers_of(one[1])[0]), parts),
            "of it: scores": median_ms(lambda one: model.scored(one[0], one[1], one[2].features), scored),
            "of it: picks and explanation": median_ms(
                lambda one: retrieval_of(model, one[2], one[0]), scored
            ),
        }
    return report(found, ["evidence-ranker"] if found["ms"]["evidence-ranker"] >= TARGET else [])


if __name__ == "__main__":
    raise SystemExit(main())
