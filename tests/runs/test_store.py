import math
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import psutil
import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import ingest
from evidencebench_core.data.store import Store
from evidencebench_core.data.upkeep import delete_dataset
from evidencebench_core.errors import StoreError, UnknownNameError
from evidencebench_core.perturb import variant_named
from evidencebench_core.retrievers import Retrieval, read_settings
from evidencebench_core.retrievers.encoding import TrainedOn
from evidencebench_core.runs import (
    RunInfo,
    RunSpec,
    RunStore,
    Sample,
    execute,
    plan,
    retrieval_spec,
    trained_on_ids,
)
from tests.factories import tiny_dataset, written

ANSWER = Retrieval((3, 0, 7), (2.5, math.pi, -0.0), 2, 0.25, MappingProxyType({"prompt": "é\x1b<b>"}))


@pytest.fixture
def runs(store: Store) -> RunStore:
    return RunStore(store)


def made(runs: RunStore, retriever: str = "bm25", **settings: object) -> RunInfo:
    dataset = runs.store.dataset("tiny")
    spec = retrieval_spec(dataset.sha256, retriever, read_settings(retriever, settings).values(), {})
    runs.create(spec)
    return runs.run(spec.id)


def test_the_same_spec_is_the_same_run_found_by_the_beginning_of_its_id(runs: RunStore) -> None:
    first = made(runs)
    assert made(runs, k1="1.50") == first
    assert runs.runs() == (first,)
    assert runs.run(first.id[:5]) == runs.run(f" {first.id.upper()} ") == first


def test_no_such_run_and_a_beginning_that_fits_two(runs: RunStore) -> None:
    # 17 runs, 16 first digits: two of them share theirs.
    firsts = [made(runs, "random", seed=seed).id[0] for seed in range(17)]
    (shared, _), *_ = Counter(firsts).most_common()
    for name in ("", "  ", "nope", "%", "_" * 12, "\ud800", shared):
        with pytest.raises(UnknownNameError, match="or more of it" if name == shared else "list runs"):
            runs.run(name)


def test_an_answer_comes_back_as_it_was(runs: RunStore) -> None:
    run = made(runs)
    runs.add(run.id, {"tiny_0": {"er@10": ANSWER, "er@optimal": "no luck"}})
    runs.add(run.id, {"tiny_1": {"er@10": Retrieval((), (), 0)}})  # an empty selection is an answer
    assert runs.retrieval(run.id, "er@10", "tiny_0") == ANSWER
    assert runs.selections(run.id, "er@10") == {"tiny_0": (3, 0), "tiny_1": ()}
    assert runs.retrievals(run.id, "er@10") == {"tiny_0": ANSWER, "tiny_1": Retrieval((), (), 0)}
    assert runs.done(run.id, "er@10") == {"tiny_0", "tiny_1"}
    assert runs.retrieval(run.id, "er@10", "tiny_2") is None


def test_a_failure_is_no_answer_and_gives_way_to_one(runs: RunStore) -> None:
    run = made(runs)
    runs.add(run.id, {"tiny_0": {"er@10": "no luck"}})
    assert runs.failures(run.id, "er@10") == {"tiny_0": "no luck"}
    assert runs.retrieval(run.id, "er@10", "tiny_0") is None
    assert (runs.selections(run.id, "er@10"), runs.done(run.id, "er@10")) == ({}, set())
    again = runs.run(run.id)
    assert (dict(again.tasks), again.n_failed) == ({}, 1)
    for outcome in (ANSWER, "late failure", Retrieval((1,), (1.0,))):
        runs.add(run.id, {"tiny_0": {"er@10": outcome}})
    assert runs.retrieval(run.id, "er@10", "tiny_0") == ANSWER  # the first answer stays
    assert runs.failures(run.id, "er@10") == {}


def test_rankings_are_cut_at_the_k_of_a_task(runs: RunStore) -> None:
    run = made(runs)
    ranking = Retrieval(tuple(range(12)), (0.0,) * 12)
    runs.add(run.id, {"tiny_0": {"": ranking}, "tiny_4": {"": ranking}})  # tiny_4 has no result aspects
    # optimal K of tiny_0: two for all aspects, one for the result aspects
    sizes = {"er@optimal": 2, "er@10": 10, "er@3": 3, "er@99": 12, "result-er@optimal": 1, "result-er@5": 5}
    for task, n in sizes.items():
        assert runs.selections(run.id, task)["tiny_0"] == tuple(range(n))
        answer = runs.retrieval(run.id, task, "tiny_0")
        assert answer
        assert (answer.ranking, answer.selection) == (ranking.ranking, tuple(range(n)))
        assert runs.selections(run.id, task).keys() == runs.retrievals(run.id, task).keys()
    assert runs.selections(run.id, "result-er@unconstrained") == {"tiny_0": ranking.ranking}
    counts = {"er@optimal": 2, "er@10": 2, "result-er@optimal": 1, "result-er@5": 1}
    assert (runs.run(run.id).tasks, runs.run(run.id).answered) == (counts, {"": 2})


def test_the_stamp_is_of_the_results(runs: RunStore) -> None:
    run = made(runs)
    stamps = [run.stamp]
    runs.rename(run, "another name")
    assert runs.run(run.id).stamp == run.stamp
    for change in (
        lambda: runs.add(run.id, {"tiny_0": {"": ANSWER}}),
        lambda: runs.add(run.id, {"tiny_0": {"": Retrieval((1,), (1.0,))}}, replace=True),
        lambda: runs.add(run.id, {"tiny_1": {"": "no luck"}}),
        lambda: runs.clear(run.id),
    ):
        change()
        stamps.append(runs.run(run.id).stamp)
    assert len(set(stamps)) == 5
    assert runs.run(run.id).n_answered == 0
    assert {"evidencebench-explorer", "torch", "sentence-transformers"} <= run.versions.keys()


def test_a_run_and_its_first_results_come_together_or_not_at_all(runs: RunStore) -> None:
    spec = retrieval_spec(runs.store.dataset("tiny").sha256, "imported", {"name": "mine"}, {})
    with pytest.raises(struct.error):
        runs.create(spec, results={"tiny_0": {"": Retrieval((1 << 16,), (1.0,))}})
    assert runs.runs() == ()


def test_papers_that_a_model_has_learnt_from_are_known_whatever_their_ids(
    store: Store, tmp_path: Path
) -> None:
    learnt = TrainedOn("tiny", 2, tuple(store.paper_keys("tiny")[name] for name in ("tiny_1", "tiny_2")))
    renamed = {f"other {name}": raw | {"paper_id": f"p {name}"} for name, raw in tiny_dataset().items()}
    other = ingest(store, written(renamed, tmp_path / "other.json"), "other").dataset
    spec = retrieval_spec(other.sha256, "dense", {}, {})
    RunStore(store).create(spec, learnt)
    run = RunStore(store).run(spec.id)
    assert trained_on_ids(store, run) == {"other tiny_1", "other tiny_2"}
    assert run.n_trained_on == 2


def test_results_of_questions_to_a_model(runs: RunStore) -> None:
    spec = RunSpec("reliability", "a" * 64, {"task": "baseline", "model": "m", "labels": ("yes", "no")})
    runs.create(spec)
    run = runs.run(spec.id)
    assert run.id == RunSpec(spec.kind, spec.subject, {**spec.settings, "labels": ["yes", "no"]}).id
    runs.add(run.id, {"a": {"": {"text": "yes é"}}, "b": {"": "no answer"}, "c": {"": {"text": ""}}})
    assert runs.results(run.id) == {"a": {"text": "yes é"}, "b": "no answer", "c": {"text": ""}}
    assert runs.results(run.id, between=("b", "c")) == {"b": "no answer", "c": {"text": ""}}
    assert (runs.done(run.id), runs.failures(run.id)) == ({"a", "c"}, {"b": "no answer"})
    judge = RunSpec("reliability", run.id, {"task": "judge"})
    runs.create(judge)
    info = runs.run(run.id)
    assert (info.n_answered, info.n_failed, info.kind) == (2, 1, "reliability")
    assert [info.id for info in runs.runs_of("reliability", run.id)] == [judge.id]
    assert runs.runs() == ()
    runs.delete(info)
    assert runs.runs_of() == ()


def test_a_run_under_way_in_another_process_is_refused_unless_that_is_gone(runs: RunStore) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        began = psutil.Process(other.pid).create_time()
        with runs.store.write() as db:
            db.execute("INSERT INTO runs_under_way VALUES ('a', ?)", (f"{other.pid} {began:.0f}",))
            db.execute("INSERT INTO runs_under_way VALUES ('b', ?)", (f"{other.pid} 1",))  # an earlier one
        with pytest.raises(StoreError, match=str(other.pid)), runs.under_way("a"):
            pass
        other.kill()
        other.wait()
    for run_id in "ab":
        with runs.under_way(run_id), pytest.raises(StoreError), runs.under_way(run_id):
            pass  # nor twice in one process
    with runs.store.read() as db:
        assert db.execute("SELECT * FROM runs_under_way").fetchall() == []


def test_the_id_is_of_all_that_decides_the_results() -> None:
    specs = [
        *(retrieval_spec(subject, name, {"x": 1, "y": 2}, {}) for subject in ("ab", "ac") for name in "rq"),
        *(retrieval_spec("ab", "r", settings, {}) for settings in ({"x": 2, "y": 2}, {"x": 1})),
        *(retrieval_spec("ab", "r", {"x": 1}, {}, variant=("negation", digest)) for digest in ("12", "34")),
        *(retrieval_spec("ab", "r", {"x": 1}, {"model": digest}) for digest in ("12", "34")),
        *(retrieval_spec("ab", "r", {"x": 1}, {}, sample=Sample(3, seed)) for seed in (0, 1)),
        *(RunSpec(kind, "ab", {}) for kind in ("answers", "reliability")),
    ]
    assert len({spec.id for spec in specs}) == len(specs) == 14
    assert specs[0].id == retrieval_spec("ab", "r", {"y": 2, "x": 1}, {}).id


# -- deleting and renaming ------------------------------------------------------------------------------


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
    assert runs.run("the first").id == lead.id
    assert runs.rename(lead, " ") == lead
