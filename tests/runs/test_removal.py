"""Deleting runs, and datasets with runs."""

from dataclasses import replace

import pytest

from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.removal import delete_dataset
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.perturb import variant_named
from evidencebench_core.runs import RunInfo, RunStore, execute, plan
from evidencebench_core.runs.notes import Note, NoteStore


def run(store: Store, retriever: str, variant: str = "") -> RunInfo:
    wording = variant_named(store, "tiny", variant) if variant else None
    *_, last = execute(plan(store, "tiny", retriever, variant=wording))
    return RunStore(store).run(last.run_id)


def note(store: Store, run_id: str) -> None:
    note = Note(run_id=run_id, task="er@10", instance_id="tiny_0", aspect_id="a", author="Ada", text="why")
    NoteStore(store).add(note)


def n_rows(store: Store) -> list[int]:
    tables = ("runs", "results", "notes", "annotations")
    with store.read() as db:
        return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


def test_a_run_goes_with_its_notes_and_perturbed_runs_and_no_other(store: Store) -> None:
    runs, lead = RunStore(store), run(store, "lead")
    before = n_rows(store)
    bm25, spelt = run(store, "bm25"), run(store, "bm25", "spelling:n=1")
    note(store, bm25.id)
    runs.delete(bm25)
    assert (n_rows(store), runs.runs(variants=True)) == (before, (lead,))
    with pytest.raises(UnknownNameError):
        runs.run(spelt.id)


def test_a_dataset_goes_with_runs_notes_and_markings(store: Store) -> None:
    note(store, run(store, "bm25").id)
    NoteStore(store).add(Note(instance_id="tiny_0", author="Ada", dataset="tiny", sentence=1, flagged=True))
    n_sentences = len(store.get("tiny", "tiny_0").sentences)
    for paper in (instance_key(store.dataset("tiny"), "tiny_0"), "own:1"):
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
    runs, lead = RunStore(store), run(store, "lead")
    assert runs.rename(lead, " the\nfirst ") == replace(lead, label="the first") == run(store, "lead")
    assert runs.rename(lead, " ") == lead
