"""EvidenceBench Explorer's core: everything the app and the command can do, for a notebook.

>>> from evidencebench_core import ingest, make_retriever, open_store, query_of, score, task_named
>>> store = open_store("evidence.sqlite")
>>> dataset = ingest(store, "sample_data/sample_data.json").dataset
>>> instance = store.get(dataset.name, store.ids(dataset.name)[0])
>>> task = task_named("er@10")
>>> query = query_of(instance, task.focus, task.budget_for(instance.evidence))
>>> retrieval = make_retriever("bm25", {"k1": 1.2}).retrieve(query)
>>> result = score(task, [(instance.id, instance.evidence)], {instance.id: retrieval.selection})
>>> print(f"{instance.hypothesis} Aspect Recall: {result.aspect_recall:.2f}")

`instance`, `retrieval` and `result` draw themselves where they are the last line of a notebook's cell.
A whole dataset: ``for progress in execute(plan(store, dataset.name, "bm25")): ...``, then
``score_run(store, progress.run_id, "er@10")`` and ``compare(store, [a, b], "er@10")``.

The names below are all there is to keep in mind; each is imported when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evidencebench_core.analyses.comparison import compare
    from evidencebench_core.data.ingestion import ingest
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import open_store
    from evidencebench_core.errors import EvidenceBenchError
    from evidencebench_core.export.reader import show
    from evidencebench_core.retrievers import RETRIEVERS, Query, Retrieval, make_retriever, query_of
    from evidencebench_core.runs import estimate, execute, plan, score_run
    from evidencebench_core.tasks import TASKS, score, task_named

    __version__: str

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # before huggingface-hub is imported anywhere

__all__ = [
    "RETRIEVERS",
    "TASKS",
    "EvidenceBenchError",
    "Instance",
    "Query",
    "Retrieval",
    "__version__",
    "compare",
    "estimate",
    "execute",
    "ingest",
    "make_retriever",
    "open_store",
    "plan",
    "query_of",
    "score",
    "score_run",
    "show",
    "task_named",
]

_HOMES: Final = {
    "RETRIEVERS": "retrievers",
    "TASKS": "tasks",
    "EvidenceBenchError": "errors",
    "Instance": "data.model",
    "Query": "retrievers",
    "Retrieval": "retrievers",
    "compare": "analyses.comparison",
    "estimate": "runs",
    "execute": "runs",
    "ingest": "data.ingestion",
    "make_retriever": "retrievers",
    "open_store": "data.store",
    "plan": "runs",
    "query_of": "retrievers",
    "score": "tasks",
    "score_run": "runs",
    "show": "export.reader",
    "task_named": "tasks",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            value: Any = version("evidencebench-explorer")
        except PackageNotFoundError:  # a checkout that was never installed
            value = "0+unknown"
    elif name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
