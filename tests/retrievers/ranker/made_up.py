"""A small made-up benchmark to learn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data import parse_instance
from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.ranker.model import RankerModel
from evidencebench_core.retrievers.ranker.retriever import retrieval_of, scored_paper
from evidencebench_core.retrievers.ranker.training import Encoder, Training
from tests.factories import raw_instance

QUICK = Training(n_trees=8)
ENCODER = Encoder("minilm", "made up")


def made(number: int, paper: int | None = None) -> Instance:
    """An instance with 40 sentences, in which those that tell what was found are the evidence."""
    rng = np.random.default_rng(number)
    finds = sorted(int(place) for place in rng.choice(np.arange(6, 40), 6, replace=False))
    lines = [
        "Tea and blood pressure",
        "> We studied tea drinkers.",
        "> Tea lowered pressure (p < 0.05).",
        "# Body",
    ]
    lines += [f"Sentence {place} tells of methods {rng.integers(100)}." for place in range(4, 40)]
    for place in finds:
        lines[place] = f"We found that tea lowers blood pressure by {place} mmHg (p = 0.0{place})."
    raw = raw_instance(
        lines,
        {"a": [2, *finds[:2]], "b": finds[2:4], "c": finds[4:]},
        results=["a", "b"] if number % 4 else [],
        hypothesis="Drinking tea lowers blood pressure.",
        paper_id=f"paper {number if paper is None else paper}",
    )
    return parse_instance(f"instance {number}", raw)


def vectors_of(instance: Instance) -> NDArray[np.float32]:
    """Thirty-two numbers a text; sentences of findings are near the hypothesis."""
    rng = np.random.default_rng(len(instance.id) * 1000 + int(instance.id.split()[1]))
    found: NDArray[np.float32] = rng.normal(size=(1 + len(instance.sentences), 32)).astype(np.float32)
    for place, sentence in enumerate(instance.sentences, start=1):
        if "tea lowers" in sentence:
            found[place] = found[0] + 0.5 * found[place]
    return found


def ranked_by_model(model: RankerModel, query: Query, vectors: NDArray[np.float32]) -> Retrieval:
    """The retrieval of a model, given the embeddings."""
    return retrieval_of(model, scored_paper(model, query, vectors), query, 0.0)
