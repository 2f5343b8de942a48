"""Training, scores and their shares, the model's folder, and the retrievers that stand on it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.data.model import SUFFICIENT, Instance
from evidencebench_core.errors import RetrieverError
from evidencebench_core.papers.find import DEFAULT_RETRIEVER
from evidencebench_core.retrievers import Query, make_retriever, query_of
from evidencebench_core.retrievers.encoding import Encoder
from evidencebench_core.retrievers.ranker import model_file
from evidencebench_core.retrievers.ranker.model import Network, Ranker
from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model, write_model
from evidencebench_core.retrievers.ranker.retriever import ranking_of
from evidencebench_core.retrievers.ranker.training import Example, examples_of, fit_ranker, folds_by_paper
from tests.retrievers.ranker.made_up import inputs_of, made, small_model


def test_evidence_of_an_unseen_paper_comes_first(model: Ranker) -> None:
    unseen = made(77)
    query = query_of(unseen, "all", 6)
    retrieval = ranking_of(model, query, *inputs_of(unseen)).cut(6)
    covering = set().union(*unseen.evidence.covers("all"))
    assert len(covering & set(retrieval.selection)) >= 5


def test_the_same_seed_gives_the_same_model(examples: Sequence[Example], few_epochs: None) -> None:
    first, again, other = (fit_ranker(examples, "minilm", seed) for seed in (1, 1, 2))
    for name in Network._fields:
        assert np.allclose(getattr(first.network, name), getattr(again.network, name))
    assert not np.allclose(first.network.hidden, other.network.hidden)


def test_folds_are_apart_by_paper_whatever_the_order() -> None:
    papers = ["a", "b", "a", "c", "d", "e", "b"]
    folds = dict(zip(papers, folds_by_paper(papers, 3, 5), strict=True))
    assert set(folds.values()) == {0, 1, 2}
    assert folds_by_paper(papers[::-1], 3, 5) == [folds[paper] for paper in papers[::-1]]
    assert folds_by_paper(papers, 3, 5) != folds_by_paper(papers, 3, 6)


def test_without_result_aspects_they_are_ranked_as_all(examples: Sequence[Example], few_epochs: None) -> None:
    bare = [replace(example, covers=(example.covers[0], example.covers[0][:, :0])) for example in examples]
    ranker = fit_ranker(bare, "minilm")
    assert ranker.trees["all"] == ranker.trees["results"]


def test_gold_that_is_sufficient_says_nothing_on_methods_and_every_wording_is_learnt_from(
    encoded_texts: list[str], few_epochs: None
) -> None:
    wordings = ["Tea helps.", "Tea is bad."]
    trial = replace(made(1), construction={"gold": SUFFICIENT, "wordings": wordings})
    learnt = examples_of(trial, Encoder("minilm"))
    assert [example.instance.hypothesis for example in learnt] == [trial.hypothesis, *wordings]
    assert {example.covers[0].shape[1] for example in learnt} == {0}
    assert {example.covers[1].shape[1] for example in learnt} == {2}
    ranker = fit_ranker(learnt, "minilm")
    assert ranker.trees["all"] == ranker.trees["results"]
    query = query_of(trial, "results", None)
    by_words, by_meaning = (
        replace(ranker, cosine_weight=weight).scores(query, learnt[0].features, learnt[0].vectors)
        for weight in (0.0, 1000.0)
    )
    cosine = learnt[0].vectors[1:] @ learnt[0].vectors[0]
    assert by_meaning.argmax() == cosine.argmax()
    assert not np.allclose(by_words, by_meaning)


def test_a_weight_of_nothing_is_no_example(examples: Sequence[Example], few_epochs: None) -> None:
    half = len(examples) // 2
    light = [replace(example, weight=0.0) for example in examples[half:]]
    turned = [replace(example, covers=tuple(1 - table for table in example.covers)) for example in light]
    first, second = (fit_ranker([*examples[:half], *beside], "minilm") for beside in (light, turned))
    assert np.allclose(first.network.hidden, second.network.hidden)


def test_a_model_is_read_as_it_was_written(
    model: Ranker, tmp_path: Path, instances: Sequence[Instance]
) -> None:
    digest = write_model(model, tmp_path / "m")
    again, same = read_model(tmp_path / "m")
    assert (same, len(digest)) == (digest, 12)
    assert again.trained_on == model.trained_on
    query = query_of(instances[0], "all", None)
    scores = [ranker.scores(query, *inputs_of(instances[0])) for ranker in (model, again)]
    assert (scores[0] == scores[1]).all()


def test_what_is_no_model_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # a model of another version
        patch.setattr(model_file, "_FORMAT", "another")
        write_model(small_model(), tmp_path)
    for content in (None, b"{", b"\xc0" * 99):
        if content is not None:
            (tmp_path / model_file.FILE).write_bytes(content)
        with pytest.raises(RetrieverError) as caught:
            read_model(tmp_path)
        assert caught.value.place == str(tmp_path)
        assert "\n" not in str(caught.value)
    with pytest.raises(RetrieverError):
        read_model(tmp_path / "none")


@pytest.fixture
def own_model(model: Ranker, encoded_texts: list[str]) -> str:
    """The digest of the model in the place that is looked at; the encoder hashes."""
    return write_model(model, default_model_path())


def test_the_retriever_end_to_end(own_model: str, instances: Sequence[Instance]) -> None:
    retriever = make_retriever("evidence-ranker")
    assert retriever.basis == {"weights": own_model, "learnt from": ""}
    for budget in (0, 1, 7, 35, 100, None):
        retrieval = retriever.retrieve(query_of(instances[0], "results", budget))
        assert sorted(retrieval.ranking) == list(range(40))
        assert retrieval.selection == retrieval.ranking[:budget]
    assert retriever.retrieve(Query("Nothing?", (), (), ())).ranking == ()


def test_models_that_cannot_be_asked(own_model: str, tmp_path: Path) -> None:
    write_model(replace(small_model(), encoder_identity="other"), tmp_path / "other")
    for folder in ("cross-validated", str(tmp_path / "none"), str(tmp_path / "other")):
        with pytest.raises(RetrieverError):
            make_retriever("evidence-ranker", {"model": folder})


def test_the_shipped_model_is_used_until_one_is_trained(model: Ranker, encoded_texts: list[str]) -> None:
    shipped, digest = read_model(model_file.SHIPPED)
    assert make_retriever(DEFAULT_RETRIEVER).basis["weights"] == digest
    assert shipped.trained_on.n_instances > 200
    assert (model_file.SHIPPED / model_file.FILE).stat().st_size < 3_000_000
    own = write_model(model, default_model_path())
    assert make_retriever(DEFAULT_RETRIEVER).basis["weights"] == own
    assert make_retriever(DEFAULT_RETRIEVER, {"model": "shipped"}).basis["weights"] == digest
