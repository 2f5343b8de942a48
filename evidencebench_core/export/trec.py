"""TREC runs, and TREC diversity qrels with study aspects as subtopics.

A run line is ``qid Q0 docid rank score tag``, a line of the qrels ``qid subtopic docid rel``; that is what
trec_eval, ndeval and `ir_measures` read. The qid is the instance id, the docid the sentence index, the
subtopic the number in the aspect's label (``A3`` is 3), as ndeval wants whole numbers there.

Subtopic recall at k, ``StRecall@k`` of ir_measures, is Aspect Recall at k. What keeps the two equal:

- TREC's tools order a run by its score column and break ties by docid. Here scores are the places from the
  end, ``n, n - 1, ..., 1``, so that the order of the run is the order read; the retriever's own scores are
  in the CSV and JSON exports.
- Their denominator is the subtopics that have a relevant document. An aspect that no sentence covers has
  the docid ``none``, which no run finds, so that all aspects count, as they do in ours.
- Their k is one number, and an optimal K is not: a selection is cut to its instance's own K (to the first
  K where it has more), and then any k that is at least the largest K will do.
- An id with a blank or another character that a line cannot hold is percent-encoded as in an address;
  ``urllib.parse.unquote`` gives it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TextIO
from urllib.parse import quote

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.export.run_rows import Row
from evidencebench_core.tasks import Task

_UNFINDABLE: Final = "none"
_DEEPEST: Final = 20  # ndeval, and so ir_measures' StRecall, looks no further down
_SAFE: Final = "-._~:/@+,;=()[]{}!$&'*?"


def trec_id(text: str) -> str:
    """A text without blanks, control characters and letters beyond ASCII: percent-encoded where need be.

    Different texts stay different, and ``urllib.parse.unquote`` is the inverse.
    """
    return quote(text, safe=_SAFE)


def write_run(rows: Iterable[Row], task: Task, stream: TextIO, tag: str) -> str:
    """Write the picks as a TREC run, in their order, at most K of an instance; which measure is Aspect Recall.

    ``tag`` is the run's name in its last column, made safe like an id.
    """
    deepest, tag = 1, trec_id(tag) or "run"
    for row in rows:
        order = row.picks[: task.budget_for(row.evidence)]
        for place, index in enumerate(order):
            stream.write(f"{trec_id(row.instance_id)} Q0 {index} {place + 1} {len(order) - place} {tag}\n")
        deepest = max(deepest, len(order))
    k = task.budget if isinstance(task.budget, int) else deepest
    if k > _DEEPEST:
        return f"Aspect Recall would be StRecall@{k}, but ndeval looks at {_DEEPEST} at most."
    return f"Aspect Recall is StRecall@{k} of ir_measures, over the qrels."


def write_qrels(gold: Iterable[tuple[str, EvidenceSet]], task: Task, stream: TextIO) -> None:
    """Write TREC diversity qrels: every sentence that covers an aspect of the task, aspect by aspect.

    The task says which aspects; its budget makes no difference.
    """
    for instance_id, evidence in gold:
        for number, aspect in enumerate(evidence.aspects, start=1):
            if aspect.is_result or task.focus == "all":
                for docid in aspect.sentence_indices or (_UNFINDABLE,):
                    stream.write(f"{trec_id(instance_id)} {number} {docid} 1\n")
