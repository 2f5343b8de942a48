"""Runs against each other."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evidencebench_core.analyses.comparison import compare, comparison
from evidencebench_core.analyses.systems import Systems
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore, score_run
from evidencebench_core.stats import standard_error
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run
from tests.factories import raw_dataset, store_with

TASK = task_named("er@optimal")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """``tiny``: ten instances of nine papers, with an oracle, a lead and a half-finished random run."""
    raw = raw_dataset(10)
    raw["tiny_9"]["paper_id"] = "paper_8"
    store = store_with(raw, tmp_path)
    for retriever, limit in (("oracle", None), ("lead", None), ("random", 6)):
        complete_run(store, "tiny", retriever, limit=limit)
    return store


def ids(store: Store) -> dict[str, str]:
    return {run.retriever: run.id for run in RunStore(store).runs("tiny")}


def by_hand(values: list[list[float]]) -> Systems:
    names = "ABCDE"[: len(values)]
    recalls = pd.DataFrame(np.array(values).T, columns=list(names))
    return Systems(
        TASK,
        "somewhere",
        dict(zip(names, names, strict=True)),
        recalls,
        range(len(recalls)),
        ("a note",),
    )


def test_a_pair_by_hand() -> None:
    # Differences 0.5, 0.25, 0 : mean 0.25, p = 2/4.
    report = comparison(by_hand([[1.0, 0.5, 0.3], [0.5, 0.25, 0.3]]))
    (pair,) = report.as_dict()["tables"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"]) == ("A", "B", 3)
    assert pair["difference"] == pytest.approx(0.25)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (2, 1, 0)
    assert (pair["p"], pair["p_holm"]) == (0.5, 0.5)
    assert [row["recall"] for row in report.as_dict()["tables"]["systems"]] == pytest.approx([0.6, 0.35])
    assert "a note" in report.notes


def test_p_values_are_corrected_for_all_pairs() -> None:
    rng = np.random.default_rng(0)
    report = comparison(by_hand(rng.random((4, 30)).tolist()))
    pairs = report.tables["pairs"]
    assert len(pairs) == 6
    smallest = pairs["p"].min()
    assert pairs.loc[pairs["p"].idxmin(), "p_holm"] == pytest.approx(min(1.0, 6 * smallest))
    assert (pairs["p_holm"] >= pairs["p"]).all()
    one = comparison(by_hand([[0.1, 0.2]]))
    assert len(one.tables["pairs"]) == 0


def test_runs_stand_on_the_instances_all_have(store: Store) -> None:
    known = ids(store)
    report = compare(store, [known["oracle"], known["lead"], known["random"]], "er@10")
    assert set(report.tables["systems"]["n"]) == {6}
    assert any("4 instances that random has not answered" in note for note in report.notes)
    results = compare(store, [known["oracle"], known["lead"]], "result-er@5")
    assert set(results.tables["systems"]["n"]) == {8}
    assert any("2 instances without anything to cover" in note for note in results.notes)
    both = compare(store, [known["oracle"], known["lead"]], "er@10")
    assert set(both.tables["systems"]["n"]) == {10}
    assert set(both.tables["systems"]["n_papers"]) == {9}
    for row in both.tables["systems"].to_dict("records"):
        score = score_run(store, row["system"], "er@10")
        assert row["recall"] == pytest.approx(score.aspect_recall)
        assert row["standard_error"] == pytest.approx(standard_error(list(score.per_instance.values())))
