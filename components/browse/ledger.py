"""The ledger of a selection, pick by pick, beside the best that as many sentences can do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from components.controls import aspect_chip, sentence_chip
from components.table import Cell, Chip, Column, Row
from evidencebench_core.data import EvidenceSet, Instance
from evidencebench_core.metrics import Gain, best_cover, marginal_gains, optimal_cover
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task

MOST_PICKS = 60  # that are listed one by one


def best_selection(evidence: EvidenceSet, task: Task) -> tuple[int, ...]:
    """What covers most within the task's budget (all, where there is none), what covers most first."""
    covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
    best = optimal_cover(covers) if budget is None else best_cover(covers, budget)
    gains = {index: sum(index in cover for cover in covers) for index in best}
    return tuple(sorted(best, key=lambda index: (-gains[index], index)))


LEDGER: Final = (
    Column("pick", "Pick", "chips", "Sentence index, in the order of the picks"),
    Column("new", "Newly covers", "chips", "Aspects that no earlier pick covered"),
    Column("repeats", "Repeats", "chips", "Aspects that an earlier pick covered already"),
    Column("recall", "Recall so far", "percent", "Aspect Recall of the picks up to here"),
    Column("best", "Optimal", "chips", "With the gold known: the most that so many sentences can cover"),
)


def ledger_rows(
    instance: Instance, task: Task, answer: Retrieval, best: Sequence[int], limit: int = MOST_PICKS
) -> list[Row]:
    """One row a pick; longer selections are cut after ``limit`` picks."""
    aspects = instance.evidence.focused(task.focus)
    numbers = {aspect.id: number for number, aspect in enumerate(instance.evidence.aspects)}
    covers = instance.evidence.covers(task.focus)

    def chips(positions: Sequence[int], filled: bool = True) -> tuple[Chip, ...]:
        return tuple(aspect_chip(aspects[p], numbers[aspects[p].id], filled) for p in positions)

    def sentence(gain: Gain) -> Chip:
        return sentence_chip(gain.sentence, instance.sentences[gain.sentence])

    gains = marginal_gains(answer.selection[:limit], covers)
    best_gains = marginal_gains(best[:limit], covers)
    rows = []
    for place, (pick, other) in enumerate(zip_longest(gains, best_gains)):
        cells: list[Cell] = [None] * 4
        if pick:
            repeated = chips(pick.repeated, filled=False)
            cells = [(sentence(pick),), chips(pick.new) or None, repeated or None, pick.recall_so_far]
        reference = (sentence(other), *chips(other.new)) if other else None
        rows.append(Row(str(place), (*cells, reference)))
    return rows
