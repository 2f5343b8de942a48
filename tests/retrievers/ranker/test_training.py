from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import parse_instance
from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.ranker.examples import (
    Example,
    example_of,
    folds_by_paper,
    sampling,
    targets,
)
from evidencebench_core.retrievers.ranker.features import FEATURES
from evidencebench_core.retrievers.ranker.model import RankerModel
from evidencebench_core.retrievers.ranker.model_file import write_model
from evidencebench_core.retrievers.ranker.training import Training, fit_ranker
from tests.factories import raw_instance
from tests.retrievers.ranker.made_up import ENCODER, QUICK, ranked_by_model, vectors_of


def test_targets_by_hand() -> None:
    instance = parse_instance("i", raw_instance(5, {"a": [1, 2], "b": [2], "c": [0, 1, 2, 3]}, results=["b"]))
    found = targets(instance.evidence, "all")
    assert found["evidence"].tolist() == [1, 1, 1, 1, 0]
    # of three aspects 0 and 3 cover one, 1 covers two, 2 all
    assert found["aspects"] == pytest.approx([1 / 3, 2 / 3, 1, 1 / 3, 0])
    # a is divided by 2, b by 1, c by 4
    assert found["share"] == pytest.approx([x * 10 / 3 for x in (0.25, 0.75, 1.75, 0.25, 0)])
    assert targets(instance.evidence, "results")["evidence"].tolist() == [0, 0, 1, 0, 0]
    assert targets(EvidenceSet(2, (), 0, None), "all")["share"].tolist() == [0, 0]


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1), st.integers(2, 6), st.integers(0, 3))
def test_folds_share_no_paper_and_are_even(papers: list[str], n_folds: int, seed: int) -> None:
    folds = folds_by_paper(papers, n_folds, seed)
    assert len(set(zip(papers, folds, strict=True))) == len(set(papers))
    sizes = [len({p for p, f in zip(papers, folds, strict=True) if f == fold}) for fold in range(n_folds)]
    assert max(sizes) - min(sizes) <= 1
    assert folds_by_paper(papers[::-1], n_folds, seed) == folds[::-1]


def test_the_same_seed_gives_the_same_file(examples: Sequence[Example], tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_model(fit_ranker(examples, ENCODER, QUICK), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    write_model(fit_ranker(examples, ENCODER, Training(seed=1, n_trees=8)), tmp_path / "three")
    assert (tmp_path / "three").read_bytes() != (tmp_path / "one").read_bytes()


def test_it_learns_what_evidence_looks_like(
    model: RankerModel, instances: Sequence[Instance], examples: Sequence[Example]
) -> None:
    assert set(model.focuses) == {"all", "results"}
    sampled = [example_of(one, vectors_of(one), n_rows=25) for one in instances]
    for learnt in (model, fit_ranker(sampled, ENCODER, QUICK)):
        assert learnt.network.linear[FEATURES.index("finding"), 0] > 0
    bare = replace(instances[0], evidence=EvidenceSet(40, (), 0, None))
    with pytest.raises(SettingError, match="no study aspects"):
        fit_ranker([example_of(bare, vectors_of(instances[0]))], ENCODER, QUICK)
    with pytest.raises(InterruptedError):
        fit_ranker(examples, ENCODER, QUICK, stopped=lambda: True)
    assert model.trained_on.instance_ids == tuple(sorted(one.id for one in instances))
    assert len(model.trained_on.paper_ids) == 10


def test_small_datasets_are_taken_whole_and_large_ones_sampled_within_a_bound() -> None:
    assert sampling({"i": 60, "j": 40}, {"i": "p", "j": "q"}, most=100) == (("i", "j"), None)
    sizes = {f"i{number}": 300 for number in range(1000)}
    papers = {name: f"p{int(name[1:]) // 2}" for name in sizes}
    # 300,000 sentences, 150,000 wanted: 150 of each
    assert sampling(sizes, papers, most=150_000) == (tuple(sizes), 150)
    # 10,000 wanted: 100 of each are the least, so 100 instances of 50 papers
    ids, n_rows = sampling(sizes, papers, most=10_000)
    assert (len(ids), n_rows, len({papers[name] for name in ids})) == (100, 100, 50)
    assert (ids, n_rows) == sampling(sizes, papers, most=10_000) != sampling(sizes, papers, 1, most=10_000)


def test_a_sample_keeps_all_evidence_and_counts_the_rest(instances: Sequence[Instance]) -> None:
    instance = instances[1]
    vectors = vectors_of(instance)
    whole, part = example_of(instance, vectors), example_of(instance, vectors, n_rows=20)
    n_evidence = int(whole.targets["all"]["evidence"].sum())
    weights: Any = part.weights
    assert len(part.chosen) == len(weights) == 20
    assert part.targets["all"]["evidence"].sum() == n_evidence
    assert weights.sum() == pytest.approx(len(instance.sentences))
    assert set(weights[part.targets["all"]["evidence"] == 1]) == {1.0}
    assert (part.rows == whole.rows).all()  # those around the chosen ones are looked at, too
    assert set(np.flatnonzero(whole.targets["all"]["evidence"])) <= set(part.chosen)
    assert set(whole.weights) == {1.0}


def picks(model: RankerModel, instance: Instance) -> list[int]:
    return list(ranked_by_model(model, query_of(instance, "all", 10), vectors_of(instance)).selection)
