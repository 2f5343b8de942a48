"""Runs against each other."""

from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.analyses.comparison import compare, comparison, systems
from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import score_run
from evidencebench_core.stats import standard_error
from tests.analyses.stores import complete_run, given_run, systems_of
from tests.factories import raw_dataset, raw_instance, store_with


def test_a_pair_by_hand() -> None:
    # Differences 0.5, 0.25, 0: mean 0.25, p = 2/4.
    report = comparison(systems_of([[1.0, 0.5, 0.3], [0.5, 0.25, 0.3]])).as_dict()
    (pair,) = report["tables"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["difference"]) == ("A", "B", 3, pytest.approx(0.25))
    assert (pair["wins"], pair["ties"], pair["losses"], pair["p"], pair["p_holm"]) == (2, 1, 0, 0.5, 0.5)
    assert [row["recall"] for row in report["tables"]["systems"]] == pytest.approx([0.6, 0.35])
    assert "a note" in report["notes"]


def test_p_values_are_corrected_for_all_pairs() -> None:
    pairs = comparison(systems_of(np.random.default_rng(0).random((4, 30)).tolist())).tables["pairs"]
    assert pairs.loc[pairs["p"].idxmin(), "p_holm"] == pytest.approx(min(1.0, 6 * pairs["p"].min()))


def test_recalls_are_those_of_the_score(tmp_path: Path) -> None:
    store = store_with(raw_dataset(10), tmp_path)  # two without result aspects
    runs = [complete_run(store, "tiny", name, tasks=("result-er@5",)) for name in ("oracle", "lead")]
    report = compare(store, runs, "result-er@5")
    assert any("2 instances without anything to cover" in note for note in report.notes)
    for row in report.tables["systems"].to_dict("records"):
        score = score_run(store, row["system"], "result-er@5")
        assert (row["n"], row["n_papers"], row["recall"]) == (8, 8, pytest.approx(score.aspect_recall))
        assert row["standard_error"] == pytest.approx(standard_error(list(score.per_instance.values())))
        further = {name: row[name] for name in ("picks", "precision", "f1")}
        assert further == pytest.approx({name: score.measures[name].value for name in further})
    assert report.share_columns("systems") & {"picks", "precision", "f1"} == {"precision", "f1"}


def test_systems_by_hand(tmp_path: Path) -> None:
    raw = {
        "a": raw_instance(9, {"x": [1], "y": [2]}, ["x"], paper_id="p"),
        "b": raw_instance(9, {"x": [3]}, paper_id="p"),
        "c": raw_instance(9, {"x": [4]}, paper_id="q"),
    }
    store = store_with(raw, tmp_path, "given")
    whole = given_run(store, {"c": [4], "b": [0], "a": [1]}, "er@2")
    part = given_run(store, {"a": [1, 2], "c": []}, "er@2", "abstract-tail")
    found = systems(store, [whole[:8], part, whole], "er@2")
    assert found.labels == {whole: "lead", part: "abstract-tail"}
    assert (found.recalls.index.tolist(), found.papers) == (["a", "c"], ["p", "q"])
    assert found.recalls.T.to_numpy().tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert found.notes == ("Left out: 1 instance that abstract-tail has not answered.",)
    with pytest.raises(SettingError):
        systems(store, [], "er@2")
    with pytest.raises(SettingError):
        runs_named(store, [whole], "other")
