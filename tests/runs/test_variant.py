"""Runs over perturbed instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import (
    Progress,
    RunStore,
    Variant,
    execute,
    plan,
    variant_named,
)
from tests.factories import raw_instance, written

TASK = "er@10"


def last_of(
    store: Store, variant: Variant | None, retriever: str = "bm25", limit: int | None = None
) -> Progress:
    *_, last = execute(plan(store, "tiny", retriever, tasks=(TASK,), variant=variant, limit=limit))
    return last


def test_instances_without_the_variant_are_left_out_and_counted(store: Store) -> None:
    variant = Variant("negation", {"tiny_1": "Salt.", "tiny_4": "Water."})
    last = last_of(store, variant)
    assert (last.done, last.total, last.left_out) == (2, 2, 4)
    assert RunStore(store).selections(last.run_id, TASK).keys() == {"tiny_1", "tiny_4"}
    again = last_of(store, variant)
    assert (again.run_id, again.done, again.left_out) == (last.run_id, 2, 4)


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
