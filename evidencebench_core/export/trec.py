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

An instance without an answer cannot be in a run, and a comment is no part of the format: `ExportCounts` has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TextIO
from urllib.parse import quote

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.export.answers import Answer, ExportCounts
from evidencebench_core.tasks import Task
from evidencebench_core.tasks.selection import validated_selection

What = Literal["selection", "ranking"]
_UNFINDABLE: Final = "none"
_DEEPEST: Final = 20  # ndeval, and so ir_measures' StRecall, looks no further down
_SAFE: Final = "-._~:/@+,;=()[]{}!$&'*?"


def trec_id(text: str) -> str:
    """A text without blanks, control characters and letters beyond ASCII: percent-encoded where need be.

    Different texts stay different, and ``urllib.parse.unquote`` is the inverse.
    """
    return quote(text, safe=_SAFE)


def write_run(
    answers: Iterable[Answer], task: Task, stream: TextIO, tag: str, what: What = "selection"
) -> ExportCounts:
    """Write a TREC run; its notes name the measure that equals Aspect Recall.

    ``tag`` is the run's name in its last column, made safe like an id; ``what`` says whether the picks in their
    order, at most K of an instance, or the whole ranking. `SelectionError` if one has a sentence that its paper
    does not have.
    """
    if what not in ("selection", "ranking"):
        raise SettingError("what", f"is {shown(what)}", "Choices are: selection, ranking.")
    written, n_encoded, longest = ExportCounts(), 0, 0
    safe_tag = trec_id(tag) or "run"
    for answer in answers:
        picks = written.add(answer, task)
        if picks is None or answer.retrieval is None:
            continue
        qid = trec_id(answer.instance_id)
        n_encoded += qid != answer.instance_id
        ranking = validated_selection(
            answer.retrieval.ranking, answer.evidence.n_sentences, answer.instance_id
        )
        listed = picks[: task.budget_for(answer.evidence)] if what == "selection" else ranking
        longest = max(longest, len(listed))
        for place, index in enumerate(listed):
            stream.write(f"{qid} Q0 {index} {place + 1} {len(listed) - place} {safe_tag}\n")
        written.n_rows += len(listed)
    written.notes = [*_run_notes(written, task, what, longest), *_encoded_note(n_encoded)]
    return written


def write_qrels(gold: Iterable[tuple[str, EvidenceSet]], task: Task, stream: TextIO) -> ExportCounts:
    """Write TREC diversity qrels: every sentence that covers an aspect of the task, aspect by aspect.

    The task says which aspects; its budget makes no difference. Instances that have nothing to cover are in
    ``skipped`` and not in the file.
    """
    written, n_encoded, n_unfindable = ExportCounts(), 0, 0
    for instance_id, evidence in gold:
        if not evidence.focused(task.focus):
            written.skipped[instance_id] = task.skip_reason(has_aspects=False)
            continue
        qid = trec_id(instance_id)
        written.n_instances += 1
        n_encoded += qid != instance_id
        for number, aspect in enumerate(evidence.aspects, start=1):
            if task.focus == "results" and not aspect.is_result:
                continue
            n_unfindable += not aspect.sentence_indices
            for docid in aspect.sentence_indices or (_UNFINDABLE,):
                stream.write(f"{qid} {number} {docid} 1\n")
                written.n_rows += 1
    written.notes = _encoded_note(n_encoded)
    if n_unfindable:
        which = "1 aspect is" if n_unfindable == 1 else f"{n_unfindable:,} aspects are"
        written.notes.append(f"{which} covered by no sentence, and found by no run: docid {_UNFINDABLE}.")
    return written


def _run_notes(written: ExportCounts, task: Task, what: What, longest: int) -> list[str]:
    notes = []
    if written.unanswered:
        notes.append("ir_measures scores instances that have no line 0, as `score --missing zero` does.")
    if what == "selection" and written.over_budget:
        notes.append(
            "A selection beyond the budget is cut to its first K; our score is the mean over all choices of K."
        )
    cutoff = task.budget if isinstance(task.budget, int) else longest
    if what == "ranking" and not isinstance(task.budget, int):
        notes.append("No single StRecall@k is this task's Aspect Recall; that of the selection is.")
    elif cutoff > _DEEPEST:
        notes.append(
            f"Aspect Recall would be StRecall@{cutoff}, but ndeval looks at {_DEEPEST} sentences at most."
        )
    else:
        notes.append(f"Aspect Recall is StRecall@{max(cutoff, 1)} of ir_measures, over the qrels.")
    return notes


def _encoded_note(n_encoded: int) -> list[str]:
    if not n_encoded:
        return []
    which = "1 instance id is" if n_encoded == 1 else f"{n_encoded:,} instance ids are"
    return [f"{which} percent-encoded, as TREC's lines cannot hold blanks; urllib.parse.unquote undoes it."]
