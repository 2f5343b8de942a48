"""The retriever bm25 over the train set, on the four tasks of a run, against an index a question.

    python benchmarks/bm25.py [--rounds 3] [--data FILE]

prints one JSON document: seconds for all instances and tasks (tokenising, scoring, ranking; the same
tokens for all), and how many times quicker the retriever, which keeps a paper's index, is than

- rank-bm25: ``BM25Okapi`` as its read-me shows it, an index a question;
- bm25s: its index and ``retrieve``, likewise.

Scores must be those of rank-bm25 to the last digit. They take turns; medians are shown. Exits 1 if the
retriever is slower than rank-bm25.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared/data/evidencebench/evidencebench_train_set.json"

from evidencebench_core.data import parse_instance  # noqa: E402
from evidencebench_core.data.model import Instance  # noqa: E402
from evidencebench_core.retrievers import make_retriever, query_of  # noqa: E402
from evidencebench_core.retrievers.bm25 import tokens_of  # noqa: E402

K1, B, EPSILON = 1.5, 0.75, 0.25
QUESTIONS = (("all", None), ("all", 10), ("results", None), ("results", 5))


def ours(instance: Instance) -> list[float]:
    """By sentence, through the retriever as `run` calls it."""
    retriever = make_retriever("bm25")
    for focus, budget in QUESTIONS:
        retrieval = retriever.retrieve(query_of(instance, focus, budget))  # type: ignore[arg-type]
    scores = dict(zip(retrieval.ranking, retrieval.scores, strict=True))
    return [scores[index] for index in range(len(instance.sentences))]


def each_question(scored: Callable[[list[list[str]], list[str]], Any]) -> Callable[[Instance], Any]:
    """Tokenise and score again for every question, then rank."""

    def asked(instance: Instance) -> Any:
        for _ in QUESTIONS:
            corpus = [tokens_of(sentence, "word") for sentence in instance.sentences]
            scores = scored(corpus, tokens_of(instance.hypothesis, "word"))
            if scores is not None:
                sorted(range(len(corpus)), key=lambda index: -scores[index])
        return scores

    return asked


def rank_bm25(corpus: list[list[str]], wanted: list[str]) -> Any:
    from rank_bm25 import BM25Okapi

    return BM25Okapi(corpus, k1=K1, b=B, epsilon=EPSILON).get_scores(wanted)


def bm25s(corpus: list[list[str]], wanted: list[str]) -> None:
    import bm25s as package

    index = package.BM25(k1=K1, b=B)
    index.index(corpus, show_progress=False)
    index.retrieve([wanted], k=len(corpus), show_progress=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    raw = json.loads(arguments.data.read_text(encoding="utf-8"))
    instances = [parse_instance(name, value) for name, value in raw.items()]
    ways = {
        "ours": ours,
        "rank-bm25": each_question(rank_bm25),
        "bm25s": each_question(bm25s),
    }
    for instance in instances:
        theirs = ways["rank-bm25"](instance).tolist()
        assert ours(instance) == theirs, instance.id
    times: dict[str, list[float]] = {name: [] for name in ways}
    load = os.getloadavg()[0]
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            for instance in instances:
                way(instance)
            times[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: round(medians[name] / medians["ours"], 1) for name in medians if name != "ours"}
    result = {
        "instances": len(instances),
        "tasks": len(QUESTIONS),
        "load_before": round(load, 2),
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "times_quicker": ratios,
    }
    print(json.dumps(result, indent=2))
    return 0 if ratios["rank-bm25"] >= 1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
