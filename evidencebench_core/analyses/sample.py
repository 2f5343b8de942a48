"""The sample papers with runs over them, so that the first look at any page has something to show."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evidencebench_core.analyses.wording import QUESTIONS, variants_for
from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.store import DatasetInfo, Store, open_store
from evidencebench_core.runs import RunStore, execute, plan
from evidencebench_core.tasks import TASKS

SAMPLE_RUNS: Final = ("bm25", "abstract-tail", "lead")
"""Retrievers that answer all sample papers in milliseconds, without a model to load."""
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_INSTALLED: Final = _PACKAGE / "_app"
APP_FOLDER: Final = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""Where ``app.py`` and the sample papers are: inside an installed package, else at the root of the repository."""
SAMPLE: Final = APP_FOLDER / "sample_data" / "sample_data.json"


def sample(store: Store | None = None) -> DatasetInfo:
    """The six sample papers, in a store (the one in force), with `SAMPLE_RUNS` over them where no run was yet.

    Each is run over the original hypotheses, the first over all other wordings too.
    """
    store = store or open_store()
    dataset = ingest(store, SAMPLE, "sample_data").dataset
    if RunStore(store).runs(dataset.name):
        return dataset
    plans = [plan(store, dataset.name, retriever, tasks=tuple(TASKS)) for retriever in SAMPLE_RUNS]
    for question in QUESTIONS:
        wordings = variants_for(store, dataset.name, question)
        plans += [
            plan(store, dataset.name, SAMPLE_RUNS[0], tasks=tuple(TASKS), variant=wording)
            for wording in wordings
        ]
    for planned in plans:
        list(execute(planned))
    return dataset
