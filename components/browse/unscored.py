"""What an edited hypothesis finds, while nobody has said that the gold still applies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, TableEvent, table
from evidencebench_core.data import Instance
from evidencebench_core.retrievers import Retrieval

__all__ = ["draw_unscored", "without_gold"]


def without_gold(instance: Instance) -> Instance:
    """The paper alone, for a hypothesis that the gold may not apply to."""
    return replace(instance, evidence=replace(instance.evidence, aspects=()))


def draw_unscored(
    instance: Instance, answers: Mapping[str, Retrieval], on_event: Callable[[TableEvent], None]
) -> None:
    """The picks alone, while nothing may be scored."""
    st.info(
        "Not scored: the gold was made for the original hypothesis. The paper shows the picks alone. To see them "
        "against the gold, tick “Score it as if the gold still applied” above."
    )
    for letter, (label, answer) in zip("ABC", answers.items(), strict=False):
        st.markdown(f"#### {letter} {literal(label)}: {len(answer.selection)} picks")
        table(
            (
                Column("rank", "Rank", "number"),
                Column("sentence", "Sentence", "chips"),
                Column("text", "Text"),
            ),
            [
                Row(
                    str(index),
                    (
                        answer.ranking.index(index) + 1 if index in answer.ranking else None,
                        (Chip(f"sentence:{index}", str(index)),),
                        instance.sentences[index][:200],
                    ),
                )
                for index in answer.selection[:60]
            ],
            key=f"picks-{letter}",
            action="none",
            on_event=on_event,
            caption=f"Picks of {label}, not scored",
            empty="Nothing was picked.",
            height=420,
        )
