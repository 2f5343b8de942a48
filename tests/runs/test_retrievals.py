"""Every answer of a run, in one pass."""

from __future__ import annotations

from evidencebench_core.data.store import Store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunSpec, RunStore
from evidencebench_core.runs.retrievals import retrievals


def test_answers_of_one_task_without_failures_or_details(store: Store) -> None:
    info = store.dataset("tiny")
    runs = RunStore(store)
    run = runs.create(RunSpec(info.sha256, "bm25", {}), info)
    answer = Retrieval((2, 0), (1.5, -1.0), (2,), 0.5, {"prompt": "long"})
    runs.add(run.id, "tiny_1", {"er@10": answer, "er@optimal": answer})
    runs.add(run.id, "tiny_0", {"er@10": Retrieval((), (), ())})
    runs.add(run.id, "tiny_2", {"er@10": "failed"})
    assert list(retrievals(store, run.id, "er@10")) == [
        ("tiny_0", Retrieval((), (), ())),
        ("tiny_1", Retrieval((2, 0), (1.5, -1.0), (2,))),
    ]


def test_more_than_a_batch(store: Store) -> None:
    info = store.dataset("tiny")
    runs = RunStore(store)
    run = runs.create(RunSpec(info.sha256, "bm25", {}), info)
    ids = [f"id_{number:05}" for number in range(1030)]
    with store.write() as db:
        db.executemany(
            "INSERT INTO retrievals VALUES (?, 'er@10', ?, x'', x'', x'', 0, '{}', NULL, '', '')",
            [(run.id, instance_id) for instance_id in ids],
        )
    assert [instance_id for instance_id, _ in retrievals(store, run.id, "er@10")] == ids
