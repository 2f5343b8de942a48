"""EvidenceBench Explorer's core: everything the app and the command can do, for a notebook.

>>> from evidencebench_core import compare, evaluate, make_retriever, open_store, query_of, sample
>>> store = open_store("evidence.sqlite")
>>> dataset = sample(store).name
>>> longest = evaluate(lambda query: [len(text) for text in query.sentences], dataset, name="longest", store=store)
>>> report = compare(store, [longest, evaluate("bm25", dataset, store=store)], "er@10")
>>> instance = store.get(dataset, store.ids(dataset)[0])
>>> retrieval = make_retriever("bm25", {"k1": 1.2}).retrieve(query_of(instance, "er@10"))
>>> print(f"{instance.hypothesis} Aspect Recall: {longest.scores[1].aspect_recall:.2f}")

`evaluate` runs a system over a dataset, keeps that as a run and scores it. `run` runs a retriever alone (`plan`,
`estimate` and `execute` in steps), and `score_run` scores it on any task. Evaluations, scores and reports draw
themselves as the last line of a notebook's cell; ``show(instance, {"bm25": retrieval})`` draws a paper. Wherever the id
of a run is asked for, the run or its evaluation will do.

The names below are all there is to keep in mind; each is imported when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evidencebench_core.analyses.comparison import compare
    from evidencebench_core.analyses.sample import sample
    from evidencebench_core.data.ingestion import ingest
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import open_store
    from evidencebench_core.errors import EvidenceBenchError
    from evidencebench_core.export.predictions import import_run
    from evidencebench_core.export.reader import show
    from evidencebench_core.retrievers import (
        RETRIEVERS,
        Query,
        Retrieval,
        Retriever,
        make_retriever,
        query_of,
    )
    from evidencebench_core.runs import (
        RunStore,
        estimate,
        evaluate,
        execute,
        plan,
        run,
        score_predictions,
        score_run,
    )
    from evidencebench_core.tasks import TASKS, score, task_named

    __version__: str

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # before huggingface-hub is imported anywhere

__all__ = [
    "RETRIEVERS", "TASKS", "EvidenceBenchError", "Instance", "Query", "Retrieval", "Retriever", "RunStore",
    "__version__", "compare", "estimate", "evaluate", "execute", "import_run", "ingest", "make_retriever",
    "open_store", "plan", "query_of", "run", "sample", "score", "score_predictions", "score_run", "show", "task_named",
]  # fmt: skip

_HOMES: Final = {
    "compare": "analyses.comparison", "sample": "analyses.sample", "ingest": "data.ingestion",
    "Instance": "data.model", "open_store": "data.store", "EvidenceBenchError": "errors",
    "show": "export.reader", "import_run": "export.predictions",
    **dict.fromkeys(("RETRIEVERS", "Query", "Retrieval", "Retriever", "make_retriever", "query_of"), "retrievers"),
    **dict.fromkeys(("TASKS", "score", "task_named"), "tasks"),
}  # fmt: skip
"""The modules of the names; those that are not here come from ``runs``."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("evidencebench-explorer")
    elif name in __all__:
        value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'runs')}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
