"""The sentence that was clicked: the aspects that it covers, and its place with each system."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.models.calls import outcome_line, reason_line
from components.widgets.markdown import literal
from evidencebench_core.data import Instance
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.ranker.reasons import why_texts

LETTERS = "ABC"
"""The letters of the systems that are read side by side."""


def lettered(answers: Mapping[str, Retrieval], plain: bool = False) -> list[tuple[str, str, str, Retrieval]]:
    """Of each system its letter, its name as Markdown (or ``plain``), its label and its answer.

    The name has the letter only where there are several.
    """
    several = len(answers) > 1
    return [
        (letter, f"{letter} " * several + (label if plain else literal(label)), label, answer)
        for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False)
    ]


def sentence_note(instance: Instance, index: int | None, answers: Mapping[str, Retrieval]) -> None:
    """Draw the facts about the sentence that was clicked."""
    if index is None or index >= len(instance.sentences):
        return
    section = instance.sections[index] or "before the first heading"
    lines = [
        f"- Covers **{literal(aspect.label)}**{' (result)' if aspect.is_result else ''}"
        + (f": {literal(aspect.text)}" if aspect.text else "")
        for aspect in instance.evidence.aspects
        if index in aspect.sentence_indices
    ] or ["- Covers no study aspect"]
    for _, name, _, answer in lettered(answers):
        if index not in answer.ranking:
            continue
        place = answer.ranking.index(index)
        is_model = bool(outcome_line(answer, None))  # which gives an order and no scores
        score = f", score {answer.scores[place]:.3g}" if place < len(answer.scores) and not is_model else ""
        picked = ", picked" if index in answer.selection else ""
        lines.append(f"- {name}: rank {place + 1} of {len(answer.ranking)}{picked}{score}")
        said = reason_line(answer, index)
        why = f"In its words: {said}" if said else literal(why_texts(answer).get(index, ""))
        lines += [f"  - {why}"] if why and picked else []
    with st.container(border=True):
        st.markdown(f"**Sentence {index}** · {literal(section, 80)}\n" + "\n".join(lines))
