"""The sentence that was clicked: the aspects that it covers, and its place with each retriever."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.models.calls import outcome_line, reason_line
from components.widgets.markdown import literal
from components.widgets.why_list import why_list, whys_of
from evidencebench_core.data import Instance
from evidencebench_core.retrievers import Retrieval

LETTERS = "ABC"
"""The letters of the retrievers that are read side by side."""


def sentence_note(instance: Instance, index: int | None, answers: Mapping[str, Retrieval]) -> None:
    """Draw the facts about the sentence that was clicked."""
    if index is None or index >= len(instance.sentences):
        return
    with st.container(border=True):
        section = instance.sections[index] or "before the first heading"
        st.markdown(f"**Sentence {index}** · {literal(section, 80)}")
        lines = []
        for aspect in instance.evidence.aspects:
            if index in aspect.sentence_indices:
                text = f": {literal(aspect.text)}" if aspect.text else ""
                lines.append(
                    f"- Covers **{literal(aspect.label)}**{' (result)' if aspect.is_result else ''}{text}"
                )
        if not lines:
            lines.append("- Covers no study aspect")
        for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
            if index in answer.ranking:
                place = answer.ranking.index(index)
                picked = ", picked" if index in answer.selection else ""
                is_model = bool(outcome_line(answer, None))  # which gives an order and no scores
                has_score = place < len(answer.scores) and not is_model
                score = f", score {answer.scores[place]:.3g}" if has_score else ""
                lines.append(
                    f"- {letter} {literal(label)}: rank {place + 1} of {len(answer.ranking)}{picked}{score}"
                )
                if reason := reason_line(answer, index):
                    lines.append(f"  - In its words: {reason}")
        st.markdown("\n".join(lines))
        _why_picked(instance, index, answers)


def _why_picked(instance: Instance, index: int, answers: Mapping[str, Retrieval]) -> None:
    """Draw the reasons for the sentence, for every retriever that explains its picks and picked it."""
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        whys = [why for why in whys_of(answer, instance.sentences) if why["index"] == index]
        if whys:
            who = literal(label) if len(answers) == 1 else f"{letter} ({literal(label)})"
            st.markdown(f"**Why {who} picked it**")
            why_list(whys, key=f"why-note-{letter}", opened=True)
