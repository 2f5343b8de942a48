"""The sample papers come with runs."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.analyses.sample import SAMPLE_RUNS, ingest_sample
from evidencebench_core.analyses.wording import QUESTIONS, variants_for
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import TASKS

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"


def test_every_task_and_wording_is_run_and_only_once(tmp_path: Path) -> None:
    store = open_store(tmp_path / "s.sqlite")
    assert ingest_sample(store, SAMPLE).added
    runs = RunStore(store)
    assert tuple(run.label for run in runs.runs("sample_data")) == SAMPLE_RUNS
    all_runs = runs.runs("sample_data", variants=True)
    assert all(set(run.tasks) == set(TASKS) and not run.n_failed for run in all_runs)
    asked = {run.variant for run in all_runs if run.retriever == SAMPLE_RUNS[0]}
    wordings = (v.name for question in QUESTIONS for v in variants_for(store, "sample_data", question))
    assert asked == {"", *wordings}
    assert not ingest_sample(store, SAMPLE).added
    assert runs.runs("sample_data", variants=True) == all_runs
