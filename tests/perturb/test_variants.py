"""Runs over perturbed instances."""

from pathlib import Path

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import variant_named
from evidencebench_core.runs import Progress, RunStore, Variant, execute, plan
from tests.factories import raw_instance, store_with, tiny_dataset

TASK = "er@10"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(tiny_dataset(), tmp_path)


def last_of(store: Store, variant: Variant | None) -> Progress:
    *_, last = execute(plan(store, "tiny", "bm25", tasks=(TASK,), variant=variant))
    return last


def test_the_retriever_is_asked_the_other_hypothesis_where_there_is_one(store: Store) -> None:
    variant = Variant("negation", {"tiny_1": "Salt.", "tiny_4": "Water."})
    assert plan(store, "tiny", "bm25", variant=variant).left_out == 4
    original, other = last_of(store, None), last_of(store, variant)
    assert (other.done, other.total) == (2, 2)
    runs = RunStore(store)
    assert runs.selections(other.run_id, TASK).keys() == {"tiny_1", "tiny_4"}
    asked = [runs.retrieval(report.run_id, TASK, "tiny_1") for report in (original, other)]
    assert asked[0].scores != asked[1].scores
    again = last_of(store, variant)
    assert (again.run_id, again.done) == (other.run_id, 2)


def test_variants_by_name(tmp_path: Path) -> None:
    raw = raw_instance(8, {"x": [4]}, hypothesis="Tea causes sleep.", hypothesis_negation="No sleep.")
    store = store_with({"a": raw}, tmp_path, "one")
    assert dict(variant_named(store, "one", "negation").hypotheses or {}) == {"a": "No sleep."}
    spelt, same, other = (
        variant_named(store, "one", f"spelling:n=2{seed}") for seed in ("", ",seed=0", ",seed=1")
    )
    assert (spelt.name, spelt.digest) == ("spelling:n=2,seed=0", same.digest)
    assert spelt.digest != other.digest
    for name in ("paraphrase:odd", "spelling:n=0", "spelling:n=x", ""):
        with pytest.raises(SettingError):
            variant_named(store, "one", name)
