import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, make_retriever
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.encoding import embeddings
from evidencebench_core.retrievers.ranker.examples import example_of
from evidencebench_core.retrievers.ranker.explanation import GROUP_OF
from evidencebench_core.retrievers.ranker.features import FEATURES
from evidencebench_core.retrievers.ranker.model import AROUND, COLUMNS, MEANING, NETWORK_COLUMNS, RankerModel
from evidencebench_core.retrievers.ranker.model_file import write_model
from evidencebench_core.retrievers.ranker.structure import WEIGHTS
from evidencebench_core.retrievers.ranker.training import fit_ranker
from tests.retrievers.ranker.made_up import QUICK, made, ranked_by_model, vectors_of


def test_contributions_sum_up_to_the_score(model: RankerModel, instances: Sequence[Instance]) -> None:
    # An average training sentence is not one of this paper: the sums differ from the scores by one number,
    # the same for all sentences of the paper.
    for focus, budget in itertools.product(("all", "results"), (1, 5, None)):
        query = query_of(instances[0], focus, budget)  # type: ignore[arg-type]
        paper = model.scored(query, vectors_of(instances[0]))
        why = model.contributions(paper, slice(None))
        assert why.shape == (40, len(GROUP_OF))
        left = paper.scores - why.sum(axis=1)
        assert np.ptp(left) == pytest.approx(0, abs=1e-5)


def test_for_few_picks_the_trees_are_not_asked(model: RankerModel, instances: Sequence[Instance]) -> None:
    vectors = vectors_of(instances[0])
    four, five, whole = (model.scored(query_of(instances[0], "all", k), vectors) for k in (4, 5, None))
    assert set(four.weights) == {"embedding", "network"}
    assert set(five.weights) == {"embedding", "network", *model.focuses["all"].trees}
    assert (five.scores == whole.scores).all()
    assert (five.scores != four.scores).any()
    # unless they are all there is
    alone = {**model.focuses["all"].weights, "embedding": 0.0, "network": 0.0}
    trees = replace(model, focuses={"all": replace(model.focuses["all"], weights=alone)})
    assert trees.scored(query_of(instances[0], "all", 4), vectors).weights == alone


def test_the_network_sees_the_sentences_around(model: RankerModel, instances: Sequence[Instance]) -> None:
    paper = model.scored(query_of(instances[0], "all", None), vectors_of(instances[0]))
    own, before = (paper.inputs[:, NETWORK_COLUMNS.index(name)] for name in ("style 1", "style 1 before"))
    after = paper.inputs[:, NETWORK_COLUMNS.index("style 1 after")]
    assert own.any()
    assert (before[0], after[-1]) == (0, 0)
    assert (before[1:] == own[:-1]).all()
    assert (after[:-1] == own[1:]).all()


def test_an_explanation_tells_of_each_pick(model: RankerModel, instances: Sequence[Instance]) -> None:
    retrieval = ranked_by_model(model, query_of(instances[0], "all", 5), vectors_of(instances[0]))
    told = json.loads(retrieval.details["explanation"])
    assert list(map(int, told)) == list(retrieval.selection)
    for one in told.values():
        assert set(one["groups"]) <= set(GROUP_OF.values())
        assert len(one["features"]) == 6
        sizes = [abs(adds) for _, _, adds in one["features"]]
        assert sizes == sorted(sizes, reverse=True)
        assert {name for name, _, _ in one["features"]} <= set(FEATURES)
    assert set(GROUP_OF) == {*COLUMNS, MEANING, AROUND}


def test_evidence_of_an_unseen_paper_comes_first(model: RankerModel) -> None:
    unseen = made(77)
    found = ranked_by_model(model, query_of(unseen, "all", 6), vectors_of(unseen))
    covering = set().union(*unseen.evidence.covers("all"))
    assert len(covering & set(found.selection)) >= 5


@pytest.fixture
def own_model(
    instances: Sequence[Instance], encoded_texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A model in the place that is looked at, of an encoder that hashes; its digest."""
    vectors = (embeddings("minilm", (one.hypothesis, *one.sentences))[0] for one in instances)
    examples = [example_of(one, its) for one, its in zip(instances, vectors, strict=True)]
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "ranker.json"))
    return write_model(fit_ranker(examples, "minilm", QUICK), tmp_path / "ranker.json")


def test_the_retriever_end_to_end(own_model: str, instances: Sequence[Instance]) -> None:
    retriever = make_retriever("evidence-ranker")
    assert retriever.settings == {"model": "default", "weights": own_model}
    for budget in (0, 1, 7, 35, 100, None):
        found = retriever.retrieve(query_of(instances[0], "results", budget))
        assert sorted(found.ranking) == list(range(40))
        assert found.selection == found.ranking[:budget]
        assert len(json.loads(found.details["explanation"])) == len(found.selection) or budget is None
    empty = Query("Nothing?", (), (), ())
    assert retriever.retrieve(empty).ranking == ()


def test_models_that_cannot_be_asked(own_model: str) -> None:
    make_retriever("evidence-ranker", {"weights": own_model})
    with pytest.raises(RetrieverError, match="trained again"):
        make_retriever("evidence-ranker", {"weights": "0" * 12})
    with pytest.raises(RetrieverError, match="had not seen its paper"):
        make_retriever("evidence-ranker", {"model": "cross-validated"})


def test_another_encoder_is_refused(
    model: RankerModel, encoded_texts: list[str], instances: Sequence[Instance], tmp_path: Path
) -> None:
    write_model(replace(model, encoder_identity="other"), tmp_path / "other.json")
    retriever = make_retriever("evidence-ranker", {"model": str(tmp_path / "other.json")})
    with pytest.raises(RetrieverError, match="another embedding model"):
        retriever.retrieve(query_of(instances[0], "all", 5))


def test_structure_explains_what_it_adds_up(encoded_texts: list[str], instances: Sequence[Instance]) -> None:
    for weights in WEIGHTS.values():
        assert set(weights) <= set(FEATURES)
        assert len(weights) <= 15
    found = make_retriever("structure").retrieve(query_of(instances[0], "all", 4))
    told = json.loads(found.details["explanation"])
    assert list(map(int, told)) == list(found.selection)
    assert sorted(found.ranking) == list(range(40))
    for index, one in told.items():
        # nothing but the features adds anything, and an average sentence of the paper has the score 0
        assert sum(one["groups"].values()) == pytest.approx(one["score"], abs=0.01)
        assert one["score"] == pytest.approx(found.scores[found.ranking.index(int(index))], abs=0.001)
