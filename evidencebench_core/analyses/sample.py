"""The sample papers with runs over them, so that the first look at any page has something to show."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evidencebench_core.analyses.wording import QUESTIONS, variants_for
from evidencebench_core.data.ingestion import IngestResult, ingest
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunStore, execute, plan
from evidencebench_core.tasks import TASKS

SAMPLE_RUNS: Final = ("bm25", "abstract-tail", "lead")
"""Retrievers that answer all sample papers in milliseconds, without a model to load."""


def ingest_sample(store: Store, path: Path) -> IngestResult:
    """Ingest the sample papers and run `SAMPLE_RUNS` over them, once: a sample with a run is left as it is.

    Each is run over the original hypotheses, the first over all other wordings too.
    """
    result = ingest(store, path, "sample_data")
    name = result.dataset.name
    if RunStore(store).runs(name):
        return result
    plans = [plan(store, name, retriever, tasks=tuple(TASKS)) for retriever in SAMPLE_RUNS]
    for question in QUESTIONS:
        wordings = variants_for(store, name, question)
        plans += [
            plan(store, name, SAMPLE_RUNS[0], tasks=tuple(TASKS), variant=wording) for wording in wordings
        ]
    for planned in plans:
        list(execute(planned))
    return result
