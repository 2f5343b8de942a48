"""Study aspects by the sentences of a short answer: which sentence cites an aspect's evidence, or states it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.app.state import PageState
from components.widgets.chips import aspect_chip, go_to, sentence_chip
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.answers.cited import CitedAnswer
from evidencebench_core.data import Instance
from evidencebench_core.data.model import Focus
from evidencebench_core.metrics.cited import Pair, Support

_GROUNDED: Final = "✓ grounded"
_CITED: Final = "● cited"
_STATED: Final = "◐ stated"
_MISSED: Final = "○ missed"


def draw_aspect_matrix(
    state: PageState,
    instance: Instance,
    focus: Focus,
    answer: CitedAnswer,
    labels: Mapping[Pair, Support | None],
) -> None:
    """A row an aspect with its gold sentences, a column a sentence of the answer."""
    every = enumerate(instance.evidence.aspects)
    aspects = {place: one for place, one in every if focus == "all" or one.is_result}
    if not aspects or not answer.sentences:
        return
    rows = []
    for place, aspect in aspects.items():
        covering = sorted(aspect.sentence_indices)
        chips: tuple[Chip, ...] = (
            aspect_chip(aspect, place),
            *(sentence_chip(one, instance.sentences[one]) for one in covering),
        )
        cells = [aspect_cell(answer, labels, u, covering) for u in range(len(answer.sentences))]
        rows.append(Row(aspect.label, (chips, *cells, None if any(cells) else _MISSED)))
    columns = [
        Column("aspect", "Aspect, and its gold sentences", "chips"),
        *(Column(f"u{u}", f"Sentence {u + 1}", "id", one.text) for u, one in enumerate(answer.sentences)),
        Column("missed", "", "id"),
    ]
    with st.expander("Aspect by aspect"):
        table(
            columns,
            rows,
            key="cited-aspects",
            action="none",
            on_event=partial(go_to, state),
            caption="Study aspects by the sentences of the answer",
        )
        st.caption(
            "Cited: the sentence cites a gold sentence of the aspect. Grounded: that supports it, says the judge. "
            "Stated: the judge says so of one that it does not cite."
        )


def aspect_cell(
    answer: CitedAnswer, labels: Mapping[Pair, Support | None], u: int, covering: Sequence[int]
) -> str | None:
    """An answer sentence's part in an aspect with these gold sentences; ``None`` for nothing."""
    cited = [s for s in covering if s in answer.sentences[u].citations]
    supported = [s for s in covering if labels.get((u, s)) == "supports"]
    if set(cited) & set(supported):
        return _GROUNDED
    return _CITED if cited else _STATED if supported else None
