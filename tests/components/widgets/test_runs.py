"""Runs on a page: the link to the reader, their colours, what a report depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from components.app.choices import choices_from
from components.widgets.runs import answer_key, reader_link, run_colours
from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.runs import RunInfo, RunStore, execute, plan
from evidencebench_core.tasks import task_named

TASK = task_named("er@10")
SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "sample_data.json"


@pytest.fixture
def sample_store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, SAMPLE, "sample_data")
    return store


@pytest.fixture
def runs(sample_store: Store) -> tuple[RunInfo, ...]:
    for retriever, settings in (("bm25", {"k1": 1.2}), ("lead", {}), ("oracle", {}), ("random", {})):
        for _ in execute(plan(sample_store, "sample_data", retriever, settings, [TASK])):
            pass
    return RunStore(sample_store).runs("sample_data")


def test_the_reader_opens_with_as_many_retrievers_as_it_can_show(
    sample_store: Store, runs: tuple[RunInfo, ...]
) -> None:
    dataset = sample_store.dataset("sample_data")
    link = reader_link(dataset, TASK, "sample_trial", runs, aspect="A2")
    assert {name: link[name] for name in ("dataset", "instance", "task", "aspect")} == {
        "dataset": "sample_data",
        "instance": "sample_trial",
        "task": "er@10",
        "aspect": "A2",
    }
    assert [choice.name for choice in choices_from(link["r"])] == [run.retriever for run in runs[:3]]
    bm25 = next(run for run in runs if run.retriever == "bm25")
    assert reader_link(dataset, TASK, "sample_trial", [bm25])["r"] == "bm25;k1=1.2"


def test_a_retriever_that_is_not_installed_here_is_left_out(
    sample_store: Store, runs: tuple[RunInfo, ...]
) -> None:
    gone = replace(runs[0], retriever="somebody-elses")
    assert "r" not in reader_link(sample_store.dataset("sample_data"), TASK, "sample_trial", [gone])


def test_no_two_runs_have_one_colour(runs: tuple[RunInfo, ...]) -> None:
    same = [replace(runs[0], id=str(number)) for number in range(4)]
    assert len(set(run_colours(same).values())) == 4


def test_a_report_is_made_again_when_answers_come_or_fail(runs: tuple[RunInfo, ...]) -> None:
    key = answer_key(runs[:1], TASK)
    assert key == answer_key([replace(runs[0])], TASK)
    assert key != answer_key([replace(runs[0], tasks={"er@10": 5})], TASK)
    assert key != answer_key([replace(runs[0], n_failed=1)], TASK)
