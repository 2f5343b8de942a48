"""Opportunity, picks and recall by position, derived by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evidencebench_core.analyses.aspect_table import aspect_table, run_picks
from evidencebench_core.analyses.buckets import behind_bucket, buckets_of
from evidencebench_core.analyses.positions import positions
from evidencebench_core.data import Store
from evidencebench_core.errors import SelectionError, SettingError
from evidencebench_core.runs import score_run
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run, given_run
from tests.factories import packed_picks, raw_instance, store_with

# Two buckets: of a, sentences 0-4 and 5-9; of b, 0-1 and 2-3.
DATASET = {
    "a": raw_instance(10, {"x": [0], "y": [1, 8], "z": [9]}, ["x"], paper_id="p"),
    "b": raw_instance(4, {"u": [0, 3], "v": [1]}, paper_id="q"),
}
PICKS = {"a": [1, 9, 5], "b": [3]}  # finds y, z and u


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(DATASET, tmp_path, "given")


def column(frame: pd.DataFrame, name: str) -> list[float]:
    return [float(value) for value in frame[name]]


def test_opportunity(store: Store) -> None:
    frame = positions(store, "given", buckets=2).tables["opportunity"]
    expected = {
        "from": [0.0, 0.5], "to": [0.5, 1.0], "n_instances": [2, 2], "n_sentences": [7, 7],
        "n_covering": [4, 3], "share_covering": [4 / 7, 3 / 7],  # a0 a1 b0 b1, and a8 a9 b3
        "n_can": [4, 3], "can": [4 / 5, 3 / 5],  # x y u v, and y z u
        "n_must": [2, 1], "must": [2 / 5, 1 / 5], "n_aspects": [5, 5],  # x v, and z
    }  # fmt: skip
    for name, values in expected.items():
        assert column(frame, name) == pytest.approx(values), name
    # Papers p (2 of 3 can be found in the first bucket) and q (2 of 2): resamples pp 4/6, pq 4/5, qq 4/4.
    assert (frame.loc[0, "can_low"], frame.loc[0, "can_high"]) == pytest.approx((2 / 3, 1.0))


def test_picks(store: Store) -> None:
    run = given_run(store, PICKS, "er@3")
    frame = positions(store, "given", [run], "er@3", buckets=2, n_resamples=100).tables["picks"]
    assert column(frame, "n_picks") == [1, 3]  # a1, and a9 a5 b3
    assert column(frame, "share") == [0.25, 0.75]
    assert column(frame, "n_hits") == [1, 2]  # a5 covers nothing


@pytest.mark.parametrize(
    ("stand", "n_aspects", "found"),
    [
        ("earliest", [4, 1], [2, 1]),  # x y u v, and z
        ("latest", [2, 3], [0, 3]),  # x v, and y z u
        ("every", [4, 3], [2, 3]),
        ("only", [2, 1], [0, 1]),  # x v, and z
    ],
)
def test_recall(store: Store, stand: str, n_aspects: list[int], found: list[int]) -> None:
    run = given_run(store, PICKS, "er@3")
    frame = positions(store, "given", [run], "er@3", buckets=2, n_resamples=100).tables["recall"]
    frame = frame[frame["stand"] == stand]
    assert column(frame, "n_aspects") == n_aspects
    assert column(frame, "found") == found
    assert column(frame, "recall") == pytest.approx([f / n for f, n in zip(found, n_aspects, strict=True)])


def test_chance_and_covering_sentences(store: Store) -> None:
    # Three of ten sentences meet one of 1 with .3, one of 2 with 1 - C(8,3)/C(10,3) = 64/120; three of
    # four with 3/4 and 1. First bucket, earliest: x .3, y 64/120, u 1, v .75.
    run = given_run(store, PICKS, "er@3")
    frame = positions(store, "given", [run], "er@3", buckets=2, n_resamples=10).tables["recall"]
    first, second = frame[frame["stand"] == "earliest"].to_dict("records")
    assert first["chance"] == pytest.approx((0.3 + 64 / 120 + 1 + 0.75) / 4)
    assert second["chance"] == pytest.approx(0.3)
    assert (first["mean_covering"], second["mean_covering"]) == (1.5, 1.0)


def test_more_picks_than_the_budget_find_with_a_probability(store: Store) -> None:
    # One of three picks counts: y and z are each found with 1/3; b keeps its one pick.
    run = given_run(store, PICKS, "er@1")
    report = positions(store, "given", [run], "er@1", buckets=2, n_resamples=10)
    frame = report.tables["recall"]
    assert column(frame[frame["stand"] == "earliest"], "found") == pytest.approx([1 / 3 + 1, 1 / 3])
    assert any("picked more than the budget in 1 instances" in note for note in report.notes)


def test_all_stands_on_what_every_run_answered(store: Store) -> None:
    whole, part = given_run(store, PICKS, "er@3"), given_run(store, {"a": [0]}, "er@3", "abstract-tail")
    report = positions(store, "given", [whole, part], "er@3", buckets=2, n_resamples=10)
    assert column(report.tables["opportunity"], "n_aspects") == [3, 3]
    assert column(report.tables["picks"], "n_picks") == [1, 2, 1, 0]
    assert any("1 instances are left out for all runs: abstract-tail" in note for note in report.notes)


def test_results_only_skip_those_without(store: Store) -> None:
    report = positions(store, "given", task="result-er@5", buckets=2, n_resamples=10)
    assert column(report.tables["opportunity"], "n_can") == [1, 0]
    assert any("1 instances are skipped" in note and "no result aspects" in note for note in report.notes)


def test_an_aspect_that_nothing_covers_stands_nowhere(tmp_path: Path) -> None:
    dataset = {"a": raw_instance(4, {"x": [0], "ghost": []})}
    report = positions(store_with(dataset, tmp_path), "tiny", buckets=2, n_resamples=10)
    assert column(report.tables["opportunity"], "n_aspects") == [1, 1]
    assert any("1 aspects that no sentence covers" in note for note in report.notes)


def test_fewer_sentences_than_buckets(store: Store) -> None:
    # Of four sentences in eight buckets, sentence i stands in bucket 2i; of ten: 0 0 1 2 3 4 4 5 6 7.
    report = positions(store, "given", buckets=8, n_resamples=10)
    assert column(report.tables["opportunity"], "n_sentences") == [3, 1, 2, 1, 3, 1, 2, 1]
    assert any("1 papers have fewer sentences than buckets" in note for note in report.notes)
    assert column(report.tables["opportunity"], "n_instances") == [2, 1, 2, 1, 2, 1, 2, 1]


def test_buckets_by_token(tmp_path: Path) -> None:
    # 6, 1 and 1 tokens: the middles stand at 3, 6.5 and 7.5 of 8, so only the first is in the first half.
    raw = raw_instance(["one two  three\tfour five six", "seven", "eight"], {"x": [1]})
    store = store_with({"a": raw}, tmp_path, "given")
    table = aspect_table(store, "given", task_named("er@10"))
    assert buckets_of(store, "given", table, 2, "token").tolist() == [0, 1, 1]
    assert buckets_of(store, "given", table, 2).tolist() == [0, 0, 1]
    by_token = positions(store, "given", buckets=2, by="token", n_resamples=10).tables["opportunity"]
    assert column(by_token, "n_can") == [0, 1]


@pytest.mark.parametrize("by", ["sentence", "token"])
@pytest.mark.parametrize("n_buckets", [1, 3, 100])
def test_buckets_never_fall_along_a_paper_and_hold_as_much(store: Store, by: str, n_buckets: int) -> None:
    table = aspect_table(store, "given", task_named("er@10"))
    bucket = buckets_of(store, "given", table, n_buckets, by)
    of_a, of_b = bucket[:10], bucket[10:]
    for of_paper in (of_a, of_b):
        assert (np.diff(of_paper) >= 0).all()
        assert 0 <= of_paper.min() <= of_paper.max() < n_buckets
        sizes = np.bincount(of_paper, minlength=n_buckets)
        assert by == "token" or sizes.max() - sizes.min() <= 1


def test_instances_behind_a_bucket(store: Store) -> None:
    table = aspect_table(store, "given", task_named("er@3"))
    bucket = buckets_of(store, "given", table, 2)
    picks = run_picks(table, packed_picks({"a": (1, 9, 5), "b": (3,)}))
    frame = behind_bucket(table, bucket, 1, "earliest", picks)
    assert frame.to_dict("records") == [
        {"id": "a", "n_aspects": 2, "n_found": 1.0, "n_missed": 1.0, "n_picks": 1, "sentence": 0},
        {"id": "b", "n_aspects": 2, "n_found": 1.0, "n_missed": 1.0, "n_picks": 0, "sentence": 0},
    ]
    alone = behind_bucket(table, bucket, 2, "only")
    assert (alone["id"].tolist(), alone["sentence"].tolist()) == (["a"], [9])
    assert alone["n_found"].isna().all()
    assert behind_bucket(table, bucket, 1, "earliest", picks, np.array([False, True]))["id"].tolist() == ["b"]


def test_recall_of_all_buckets_together_is_that_of_the_score(store: Store) -> None:
    run = complete_run(store, "given", "bm25", tasks=["er@3"])
    frame = positions(store, "given", [run], "er@3", buckets=3, n_resamples=10).tables["recall"]
    found = frame[frame["stand"] == "earliest"]["found"].sum()
    scored = score_run(store, run, "er@3").per_instance
    assert found == pytest.approx(3 * scored["a"] + 2 * scored["b"])


def test_what_it_refuses(store: Store) -> None:
    for settings in ({"buckets": 0}, {"buckets": 101}, {"by": "page"}):
        with pytest.raises(SettingError):
            positions(store, "given", **settings)  # type: ignore[arg-type]
    table = aspect_table(store, "given", task_named("er@3"))
    with pytest.raises(SelectionError, match="sentence 4"):
        run_picks(table, packed_picks({"b": (4,)}))


@pytest.mark.realdata
def test_on_train(train_store: Store) -> None:
    run = complete_run(train_store, "train", "abstract-tail", tasks=["er@10"])
    report = positions(train_store, "train", [run], "er@10", buckets=10, n_resamples=100)
    frame = report.tables["opportunity"]
    assert frame["n_aspects"].tolist() == [747] * 10
    assert frame["can"].idxmax() == 0  # the abstract
    recall = report.tables["recall"]
    earliest = recall[recall["stand"] == "earliest"]
    assert earliest["n_aspects"].sum() == 747
    assert earliest["recall"].iloc[3:].max() == 0  # it never leaves the beginning
