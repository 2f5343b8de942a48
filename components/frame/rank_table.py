"""How up to three systems rank the sentences of a paper, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import shorten
from typing import Final

from components.widgets.chips import aspect_chip, sentence_chip
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.data import Instance
from evidencebench_core.retrievers import Retrieval

_MOST: Final = 60


def rank_table(
    instance: Instance, answers: Mapping[str, Retrieval], on_event: Callable[[TableEvent], None], key: str
) -> None:
    """One row for each sentence that a system picked, with its rank in every one; a pick's rank has a mark.

    Parameters
    ----------
    instance : Instance
    answers : mapping of str to Retrieval
        By the name of the system.
    on_event : callable
        Takes the click on a sentence or aspect (see `components.widgets.chips.go_to`).
    key : str
    """
    ranks = {
        name: {index: rank for rank, index in enumerate(answer.ranking, start=1)}
        for name, answer in answers.items()
    }
    picks = {index for answer in answers.values() for index in answer.selection}
    n = len(instance.sentences)

    def best_rank(index: int) -> tuple[int, int]:
        return min(of_system.get(index, n + 1) for of_system in ranks.values()), index

    def rank(name: str, index: int) -> str | None:
        place = ranks[name].get(index)
        picked = index in answers[name].selection
        return ("✓ " if picked else "") + (str(place) if place else "") or None

    aspects = list(enumerate(instance.evidence.aspects))
    rows = [
        Row(
            str(index),
            (
                (sentence_chip(index, instance.sentences[index]),),
                *(rank(name, index) for name in answers),
                tuple(aspect_chip(aspect, n) for n, aspect in aspects if index in aspect.sentence_indices)
                or None,
                shorten(instance.sentences[index], 160, placeholder=" …"),
            ),
        )
        for index in sorted(picks, key=best_rank)[:_MOST]
    ]
    table(
        (
            Column("sentence", "Sentence", "chips"),
            *(Column(f"rank-{place}", name, "id", "Rank; ✓ picked") for place, name in enumerate(answers)),
            Column("covers", "Covers", "chips"),
            Column("text", "Text"),
        ),
        rows,
        key=key,
        action="none",
        on_event=on_event,
        caption=f"Ranks of the picked sentences: {', '.join(answers)}",
        empty="Nothing was picked.",
        height=None if len(rows) <= 12 else 480,
    )
