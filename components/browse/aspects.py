"""The aspects of a task: what each says, which sentences cover it, and which pick of each system found it."""

from __future__ import annotations

from collections.abc import Sequence

from components.controls import aspect_chip, sentence_chip
from components.table import Cell, Column, Row
from evidencebench_core.data import Aspect, Instance
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task


def aspect_columns(names: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("aspect", "Aspect", "chips"),
        Column(
            "text",
            "What it says",
            help="Without a text in the data: the first sentence that covers it",
            lines=4,
        ),
        Column("sentences", "Covered by", "chips", "Every sentence that is a source of information for it"),
        *(
            Column(f"system{n}", name, "number", "The pick that covered it first; – where none did")
            for n, name in enumerate(names)
        ),
    )


def aspect_rows(
    instance: Instance, task: Task, answers: Sequence[Retrieval], only: str = ""
) -> tuple[Row, ...]:
    """One row an aspect of the task (``only``: of the one with that label): text, sentences, first picks.

    An aspect with the text of an earlier one refers to that.
    """
    rows, label_of = [], dict[str, str]()
    for number, aspect in enumerate(instance.evidence.aspects):
        if (task.focus == "results" and not aspect.is_result) or (only and aspect.label != only):
            continue
        firsts = [
            next((k for k, s in enumerate(answer.selection, 1) if s in aspect.sentence_indices), None)
            for answer in answers
        ]
        text = _aspect_text(instance, aspect)
        same = label_of.setdefault(text, aspect.label)
        cells: list[Cell] = [
            (aspect_chip(aspect, number),),
            text if same == aspect.label else f"As {same}",
            tuple(sentence_chip(i, instance.sentences[i]) for i in aspect.sentence_indices) or None,
        ]
        rows.append(Row(aspect.id, (*cells, *firsts), muted=True))
    return tuple(rows)


def _aspect_text(instance: Instance, aspect: Aspect) -> str:
    kind = "Result. " if aspect.is_result else ""
    if aspect.text:
        return kind + aspect.text
    if not aspect.sentence_indices:
        return f"{kind}No sentence covers it."
    text = instance.sentences[aspect.sentence_indices[0]]
    return f"{kind}“{text if len(text) <= 160 else text[:159] + '…'}”"
