"""The instances behind a part of the paper."""

from pathlib import Path

from components.analyse.position import instances_in_bucket
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.analyses.stores import given_run
from tests.analyses.test_positions import DATASET, PICKS
from tests.factories import store_with


def test_instances_in_a_bucket_the_most_missed_first(tmp_path: Path) -> None:
    store, task = store_with(DATASET, tmp_path, "given"), task_named("er@3")
    run = RunStore(store).run(given_run(store, {"a": PICKS["a"], "b": [2]}, "er@3"))
    assert instances_in_bucket(store, run, task, 1, 2).to_dict("records") == [
        {"instance": "b", "n_aspects": 2, "n_missed": 2.0, "sentence": 0},
        {"instance": "a", "n_aspects": 2, "n_missed": 1.0, "sentence": 0},
    ]
    assert instances_in_bucket(store, run, task, 2, 2)["sentence"].tolist() == [9]
