"""Runs over perturbed instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import variant_named
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import (
    Progress,
    RunStore,
    Variant,
    execute,
    plan,
)
from tests.factories import raw_dataset, raw_instance, store_with, written

TASK = "er@10"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Six instances of invented papers."""
    return store_with(raw_dataset(6), tmp_path)


def last_of(
    store: Store, variant: Variant | None, retriever: str = "bm25", limit: int | None = None
) -> Progress:
    *_, last = execute(plan(store, "tiny", retriever, tasks=(TASK,), variant=variant, limit=limit))
    return last


def test_instances_without_the_variant_are_left_out_and_counted(store: Store) -> None:
    variant = Variant("negation", {"tiny_1": "Salt.", "tiny_4": "Water."})
    assert plan(store, "tiny", "bm25", variant=variant).left_out == 4
    last = last_of(store, variant)
    assert (last.done, last.total) == (2, 2)
    assert RunStore(store).selections(last.run_id, TASK).keys() == {"tiny_1", "tiny_4"}
    again = last_of(store, variant)
    assert (again.run_id, again.done) == (last.run_id, 2)


def answer_of(store: Store, run_id: str, instance_id: str) -> Retrieval:
    answer = RunStore(store).retrieval(run_id, TASK, instance_id)
    assert answer is not None
    return answer


def test_the_retriever_is_asked_the_other_hypothesis(store: Store) -> None:
    variants = (None, Variant("w", {"tiny_1": "Salt and sleep."}))
    original, other = [answer_of(store, last_of(store, one).run_id, "tiny_1") for one in variants]
    assert original.scores != other.scores


def test_variants_by_name(store: Store, tmp_path: Path) -> None:
    dataset = {
        "a": raw_instance(8, {"x": [4]}, hypothesis="Tea causes sleep.", hypothesis_negation="No sleep.")
    }
    ingest(store, written(dataset, tmp_path / "one.json"), name="one")
    assert dict(variant_named(store, "one", "negation").hypotheses or {}) == {"a": "No sleep."}
    spelt = variant_named(store, "one", "spelling:n=2")
    assert (spelt.name, spelt.digest) == (
        "spelling:n=2,seed=0",
        variant_named(store, "one", "spelling:n=2,seed=0").digest,
    )
    assert spelt.digest != variant_named(store, "one", "spelling:n=2,seed=1").digest
    for name in ("paraphrase:odd", "spelling:n=0", "spelling:n=x", ""):
        with pytest.raises(SettingError):
            variant_named(store, "one", name)
