"""Opportunity, picks and recall by position, derived by hand."""

from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.frame import aspects, gold_frame, picks
from evidencebench_core.analyses.positions import positions
from evidencebench_core.data import Store
from evidencebench_core.errors import SelectionError, SettingError
from evidencebench_core.runs import RunStore
from tests.analyses.stores import given_run
from tests.factories import raw_instance, store_with

# Two buckets: of a, sentences 0-4 and 5-9; of b, 0-1 and 2-3.
DATASET = {
    "a": raw_instance(10, {"x": [0], "y": [1, 8], "z": [9]}, ["x"], paper_id="p"),
    "b": raw_instance(4, {"u": [0, 3], "v": [1]}, paper_id="q"),
}
PICKS = {"a": [1, 9, 5], "b": [3]}  # finds y, z and u


def column(frame: pd.DataFrame, name: str) -> list[float]:
    return frame[name].astype(float).tolist()


def test_the_frames_by_hand(tmp_path: Path) -> None:
    dataset = {**DATASET, "c": raw_instance(4, {"w": [2], "ghost": []}, paper_id="q")}
    store = store_with(dataset, tmp_path)
    gold = gold_frame(store, "tiny")
    assert gold["sentence"].tolist() == [0, 1, 8, 9, 0, 3, 1, 2, -1]
    assert gold["row"].tolist() == [0] * 4 + [1] * 3 + [2] * 2
    assert list(aspects(store, "tiny", "er@10").left_out.values()) == [0, 1]
    results = aspects(store, "tiny", "result-er@5")
    assert (results.frame["aspect"].tolist(), results.n_asked.tolist()) == (["x"], [1, 0, 0])


def test_opportunity(store: Store) -> None:
    frame = positions(store, "tiny", buckets=2).tables["opportunity"]
    expected = {
        "from": [0.0, 0.5], "to": [0.5, 1.0], "n_instances": [2, 2], "n_sentences": [7, 7],
        "n_covering": [4, 3], "share_covering": [4 / 7, 3 / 7],  # a0 a1 b0 b1, and a8 a9 b3
        "n_can": [4, 3], "can": [4 / 5, 3 / 5],  # x y u v, and y z u
        "n_must": [2, 1], "must": [2 / 5, 1 / 5], "n_aspects": [5, 5],  # x v, and z
    }  # fmt: skip
    for name, values in expected.items():
        assert column(frame, name) == pytest.approx(values), name
    # Of four sentences in eight buckets, sentence i stands in bucket 2i; of ten: 0 0 1 2 3 4 4 5 6 7.
    fine = positions(store, "tiny", buckets=8).tables["opportunity"]
    assert column(fine, "n_sentences") == [3, 1, 2, 1, 3, 1, 2, 1]
    # Papers p (2 of 3 can be found in the first bucket) and q (2 of 2): two papers leave all open.
    assert (frame.loc[0, "can_low"], frame.loc[0, "can_high"]) == (0.0, 1.0)


def test_picks_and_recall(store: Store) -> None:
    run = given_run(store, PICKS, "er@3")
    tables = positions(store, "tiny", [run], "er@3", buckets=2).tables
    assert column(tables["picks"], "n_picks") == [1, 3]  # a1, and a9 a5 b3
    assert column(tables["picks"], "share") == [0.25, 0.75]
    assert column(tables["picks"], "n_hits") == [1, 2]  # a5 covers nothing
    recall = tables["recall"]
    assert column(recall, "n_aspects") == [4, 1]  # earliest: x y u v, and z
    assert column(recall, "found") == [2, 1]
    # Three of ten sentences meet one of 1 with .3, one of 2 with 1 - C(8,3)/C(10,3) = 64/120; three of four with 3/4
    # and 1. First bucket: x .3, y 64/120, u 1, v .75.
    assert column(recall, "chance") == pytest.approx([(0.3 + 64 / 120 + 1 + 0.75) / 4, 0.3])
    assert column(recall, "mean_covering") == [1.5, 1.0]
    assert tables["middle"].empty  # there is none of two
    # With K = 1 one of three picks counts: y and z are each found with 1/3; b keeps its one pick.
    run = given_run(store, PICKS, "er@1")
    frame = positions(store, "tiny", [run], "er@1", buckets=2).tables["recall"]
    assert column(frame, "found") == pytest.approx([1 / 3 + 1, 1 / 3])


def test_the_middle_against_the_rest(tmp_path: Path) -> None:
    # Two papers of three sentences, each with an aspect on each: the run finds all but those in the middle.
    dataset = {name: raw_instance(3, {"x": [0], "y": [1], "z": [2]}, paper_id=name) for name in "ab"}
    store = store_with(dataset, tmp_path)
    run = given_run(store, {"a": [0, 2], "b": [0, 2]}, "er@2")
    report = positions(store, "tiny", [run], "er@2", buckets=3)
    (middle,) = report.tables["middle"].to_dict("records")
    assert middle["difference"] == -1.0
    assert pd.isna(middle["low"])  # the papers are alike
    assert (middle["n_middle"], middle["n_rest"]) == (2, 4)
    assert middle["chance_difference"] == pytest.approx(0.0)
    assert "lead finds 100.0 points less (no interval" in report.finding
    assert "random picks: 0.0 points more" in report.finding


def test_all_stands_on_what_every_run_answered(store: Store) -> None:
    whole, part = given_run(store, PICKS, "er@3"), given_run(store, {"a": [0]}, "er@3", "abstract-tail")
    tables = positions(store, "tiny", [whole, part], "er@3", buckets=2).tables
    assert column(tables["opportunity"], "n_aspects") == [3, 3]
    assert column(tables["picks"], "n_picks") == [1, 2, 1, 0]
    assert column(tables["recall"], "found") == [1, 1, 1, 0]  # y, z; x


def test_what_it_refuses(store: Store) -> None:
    with pytest.raises(SettingError):
        positions(store, "tiny", buckets=101)
    run = RunStore(store).run(given_run(store, {"b": [4]}, "er@3"))
    with pytest.raises(SelectionError) as caught:
        picks(store, run, "er@3")
    assert caught.value.place == "b"
