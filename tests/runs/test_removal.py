"""Deleting runs, and datasets with runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.removal import (
    delete_dataset,
)
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.perturb import variant_named
from evidencebench_core.runs import RunStore, execute, plan
from evidencebench_core.runs.notes import Note, NoteStore


def run(store: Store, retriever: str, variant: str = "", dataset: str = "tiny") -> str:
    planned = plan(
        store, dataset, retriever, variant=variant_named(store, dataset, variant) if variant else None
    )
    for _ in execute(planned):
        pass
    return planned.spec.id


def note(store: Store, run_id: str) -> None:
    NoteStore(store).add(
        Note(run_id=run_id, task="er@10", instance_id="tiny_0", aspect_id="a", author="Ada", text="why")
    )


def n_rows(store: Store) -> list[int]:
    tables = ("runs", "results", "notes", "annotations")
    with store.read() as db:
        return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


def test_a_run_goes_with_its_notes_and_perturbed_runs_and_no_other(store: Store) -> None:
    runs, lead = RunStore(store), run(store, "lead")
    before = n_rows(store)
    bm25, spelt = run(store, "bm25"), run(store, "bm25", "spelling:n=1")
    note(store, bm25)
    info = runs.run(bm25)
    runs.delete(info)
    assert n_rows(store) == before
    assert [one.id for one in runs.runs(variants=True)] == [lead]
    with pytest.raises(UnknownNameError):
        runs.run(spelt)


def test_a_dataset_goes_with_runs_notes_and_markings(store: Store) -> None:
    note(store, run(store, "bm25"))
    NoteStore(store).add(Note(instance_id="tiny_0", author="Ada", dataset="tiny", sentence=1, flagged=True))
    dataset = store.dataset("tiny")
    key = instance_key(dataset, "tiny_0")
    n_sentences = len(store.get("tiny", "tiny_0").sentences)
    for paper in (key, "own:1"):
        Annotations(store).save(paper, Annotation("Ada", "Tea.", n_sentences))
    delete_dataset(store, "tiny")
    assert n_rows(store) == [0, 0, 0, 1]
    assert Annotations(store).papers() == ("own:1",)


@pytest.mark.parametrize("what", ["run", "dataset"])
def test_a_run_under_way_that_is_deleted_ends_with_a_reason(store: Store, what: str) -> None:
    steps = execute(plan(store, "tiny", "lead"))
    next(steps)
    if what == "run":
        next(steps)
        RunStore(store).delete(RunStore(store).runs()[0])
    else:
        delete_dataset(store, "tiny")
    with pytest.raises(UnknownNameError, match=r"has been deleted|is not in"):
        list(steps)
    assert n_rows(store)[:2] == [0, 0]


def test_a_renamed_run_is_the_same_run(store: Store) -> None:
    runs, run_id = RunStore(store), run(store, "lead")
    before = runs.run(run_id)
    assert runs.rename(before, " the\nfirst ") == replace(before, label="the first")
    assert run(store, "lead") == run_id
    assert runs.rename(before, " ") == before
