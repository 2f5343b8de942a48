"""A small made-up benchmark to learn from, and a model that anybody can compute by hand."""

from functools import cache

import lightgbm
import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data import instance_from
from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers import query_of
from evidencebench_core.retrievers.encoding import TrainedOn, model_identity
from evidencebench_core.retrievers.ranker.features import Features, features_of, unit_vectors
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    FOCUSES,
    N_OWN,
    N_TOPICS,
    Network,
    Projection,
    Ranker,
)
from tests.factories import raw_instance


def made(number: int, paper: int | None = None) -> Instance:
    """An instance with 40 sentences, in which those that tell what was found are the evidence."""
    rng = np.random.default_rng(number)
    finds = sorted(int(place) for place in rng.choice(np.arange(6, 40), 6, replace=False))
    lines = [
        "Tea and blood pressure",
        "> We asked tea drinkers.",
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
    return instance_from(f"instance {number}", raw)


def inputs_of(instance: Instance) -> tuple[Features, NDArray[np.float32]]:
    """Features, and the vectors at length 1."""
    vectors = vectors_of(instance)
    return features_of(query_of(instance), vectors), unit_vectors(vectors)


def vectors_of(instance: Instance) -> NDArray[np.float32]:
    """Thirty-two numbers a text; sentences of findings are near the hypothesis."""
    rng = np.random.default_rng(len(instance.id) * 1000 + int(instance.id.split()[1]))
    vectors: NDArray[np.float32] = rng.normal(size=(1 + len(instance.sentences), 32)).astype(np.float32)
    for place, sentence in enumerate(instance.sentences, start=1):
        if "tea lowers" in sentence:
            vectors[place] = vectors[0] + 0.5 * vectors[place]
    return vectors


@cache
def flat_trees() -> str:
    """Trees that say the same of every sentence."""
    data = lightgbm.Dataset(np.zeros((4, N_OWN)), np.zeros(4))
    return str(lightgbm.train({"verbose": -1}, data, 1).model_to_string())


def small_model(
    feature: str = "place in paper",
    paper_keys: tuple[str, ...] = (),  # of the papers that it has learnt from
    width: int = 384,  # of minilm
) -> Ranker:
    """A model to compute by hand: one feature has the linear weight 1, and nothing else counts."""
    n = len(COLUMNS)
    linear = np.zeros((n, len(FOCUSES)), np.float32)
    linear[COLUMNS.index(feature)] = 1.0
    projection = Projection(np.zeros(width, np.float32), np.zeros((N_TOPICS, width), np.float32))
    hidden, bias, out = np.zeros((n, 1), np.float32), np.zeros(1, np.float32), np.zeros((1, 2), np.float32)
    return Ranker(
        encoder="minilm",
        encoder_identity=model_identity("minilm"),
        topics=projection,
        shared_topics=projection,
        network=Network(np.zeros(n, np.float32), np.ones(n, np.float32), hidden, bias, out, linear),
        trees=dict.fromkeys(FOCUSES, flat_trees()),
        trained_on=TrainedOn("tiny", len(paper_keys), paper_keys),
    )
