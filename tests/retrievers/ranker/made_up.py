"""A small made-up benchmark to learn from, and a model that anybody can compute by hand."""

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data import parse_instance
from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.encoding import model_identity
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_STYLES,
    N_TOPICS,
    NETWORK_COLUMNS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
)
from evidencebench_core.retrievers.ranker.network import Network
from evidencebench_core.retrievers.ranker.retriever import retrieval_of
from evidencebench_core.retrievers.ranker.selection import Selecting
from evidencebench_core.retrievers.ranker.training import Training
from evidencebench_core.retrievers.ranker.trees import Trees
from evidencebench_core.retrievers.trained_on import TrainedOn
from tests.factories import raw_instance

QUICK = Training(n_trees=8, n_epochs=2)
ENCODER = "minilm"


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
    return retrieval_of(model, model.scored(query, vectors), query)


def tree_text(**fields: str) -> str:
    """A tree as LightGBM writes it: unless told otherwise, one leaf that says 0."""
    none = dict.fromkeys(("split_feature", "threshold", "decision_type", "left_child", "right_child"), "")
    of_leaves = {"leaf_value": "0", "leaf_count": "1", "internal_value": "", "internal_count": ""}
    lines = [f"{name}={value}" for name, value in {**none, **of_leaves, **fields}.items()]
    return "\n".join(("tree", "", "Tree=0", *lines, "", "", "end of trees", ""))


def small_model(
    feature: str = "place in paper",
    dataset: str = "tiny",
    sha256: str = "0" * 64,
    ids: tuple[str, ...] = (),
    notes: dict[str, object] | None = None,
    width: int = 384,  # of minilm
) -> RankerModel:
    """A model to compute by hand: one feature has the linear weight 1, and nothing else counts."""
    weights = np.zeros((len(NETWORK_COLUMNS), 2))
    weights[NETWORK_COLUMNS.index(feature)] = 1.0
    projection = Projection(np.zeros(width, np.float32), np.zeros((N_TOPICS, width), np.float32))
    focus = FocusModel(
        trees={"evidence": Trees(tree_text(), len(COLUMNS))},
        embedding=Linear(np.zeros(3 * width), np.zeros(3 * width)),
        weights={"evidence": 0.0, "embedding": 0.0, "network": 1.0},
    )
    n = len(NETWORK_COLUMNS)
    identity = model_identity("minilm")
    trained_on = TrainedOn(sha256, ids, tuple(f"paper of {name}" for name in ids), dataset)
    return RankerModel(
        encoder="minilm",
        encoder_identity=identity,
        topics=projection,
        shared_topics=projection,
        styles=Projection(np.zeros(width, np.float32), np.zeros((N_STYLES, width), np.float32)),
        network=Network(*(np.zeros(n), np.ones(n), np.zeros((n, 1)), np.zeros(1), np.zeros((1, 2)), weights)),
        focuses={"all": focus},
        selecting=Selecting(),
        trained_on=trained_on,
        notes=notes or {},
    )
