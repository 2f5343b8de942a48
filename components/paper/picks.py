"""The picks of retrievers as a list, why each was picked, and how far retrievers, or wordings, pick the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import streamlit as st

from components.app.state import PageState
from components.paper.opened import OpenPaper
from components.paper.verdicts import draw_verdicts, picked_verdicts, verdict_question
from components.widgets.answers import system_switch
from components.widgets.chips import go_to, sentence_chip
from components.widgets.component import component, sentence_event
from components.widgets.markdown import literal
from components.widgets.sentence_note import LETTERS
from components.widgets.table import Cell, Column, Row, table
from evidencebench_core.export import explanations
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.words import quantity

_AROUND: Final = 400  # characters of a neighbouring sentence
_WORDS: Final = 4  # that a neighbour has at least
_AGREEMENT: Final = (
    Column("pair", "Retrievers"),
    Column("n", "Both picked", "number"),
    Column("share", "Overlap", "percent", "Sentences both picked, of those that either picked (Jaccard)"),
    Column("which", "Which", "chips"),
)
_CHANGE: Final = (
    Column("who", "Retriever"),
    Column("same", "Found again"),
    Column("new", "New", "chips"),
    Column("gone", "No longer", "chips"),
)


def picks_of(
    paper: Paper,
    retrieval: Retrieval,
    why: Mapping[int, str],
    others: Mapping[str, Retrieval],
    verdicts: Mapping[int, str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """The picks of a retrieval as the browser gets them.

    ``others`` are other retrievers' answers by short name; ``verdicts`` a model's, in words.
    """
    sections, pages = paper.sections, paper.pages

    def neighbour(index: int, step: int) -> str:
        at = index + step
        inside = 0 <= at < len(paper.sentences) and sections[at] == sections[index]
        if not inside or "section_name" in (paper.sentence_types[at], paper.sentence_types[index]):
            return ""
        text = paper.sentences[at]
        if len(text.split()) < _WORDS:  # a label, such as "Methods" in an abstract
            return ""
        return text if len(text) <= _AROUND else text[: _AROUND - 1].rstrip() + "…"

    return [
        {
            "index": index,
            "place": place,
            "section": _section(paper, index),
            "page": pages.get(index),
            "text": paper.sentences[index],
            "before": neighbour(index, -1),
            "after": neighbour(index, 1),
            "why": why.get(index, ""),
            "others": ", ".join(name for name, other in others.items() if index in other.selection),
            "verdict": verdicts.get(index, ""),
        }
        for place, index in enumerate(dict.fromkeys(retrieval.selection), start=1)
    ]


def _section(paper: Paper, index: int) -> str:
    """The section of a sentence; of a heading that it is one."""
    if paper.sentence_types[index] == "section_name":
        return "Title" if index == 0 and paper.title else "Heading"
    return paper.sections[index] or "Before the first heading"


_component = component("picks_list", Path(__file__).parent, '<ol class="picks"></ol>', palette=".picks")


def picks_list(
    picks: Sequence[dict[str, Any]],
    *,
    key: str,
    on_pick: Callable[[int], None],
    selected: int | None = None,
    plain: bool = False,
    empty: str = "Nothing was picked.",
) -> None:
    """Draw the list; ``on_pick`` hears the index of a sentence that was clicked. A ``plain`` one has no indices."""
    on_change = sentence_event(key, {pick["index"] for pick in picks}, on_pick)
    data = {"picks": picks, "selected": selected, "plain": plain, "empty": empty}
    _component(key=key, data=data, on_event_change=on_change)


def draw_picks(
    state: PageState,
    opened: OpenPaper,
    hypothesis: str,
    answers: Mapping[str, Retrieval],
    active: int,
    budget: int,
) -> None:
    """The picks of the active retriever, in order, with what a model thinks of each where it was asked."""
    system_switch(state, answers, active)
    label, retrieval = list(answers.items())[active]
    n_picks = len(retrieval.selection)
    st.markdown(f"## {quantity(n_picks, 'sentence')} picked by {literal(label)}")
    if n_picks < budget:
        st.caption(f"You asked for {budget:,}; it gave what it found.")
    letters = zip(LETTERS, answers.items(), strict=False)
    others = {letter: answer for letter, (other, answer) in letters if other != label}
    draw_verdicts(verdict_question(opened, hypothesis, retrieval.selection))
    verdicts = picked_verdicts(opened, hypothesis, retrieval.selection)
    picks_list(
        picks_of(opened.paper, retrieval, explanations(retrieval), others, verdicts),
        key="picks",
        on_pick=lambda index: state.put(sentence=index),
        selected=state.number("sentence"),
    )
    st.caption(
        "In the order in which they were picked, with the sentences around them. A click shows one in the paper. "
        "There is no gold for this paper, so nothing is scored."
    )


def draw_agreement(state: PageState, opened: OpenPaper, answers: Mapping[str, Retrieval]) -> None:
    """How far two or three retrievers picked the same; nothing for one."""
    if len(answers) < 2:
        return
    names = [f"{letter} {label}" for letter, label in zip(LETTERS, answers, strict=False)]
    picks = [set(answer.selection) for answer in answers.values()]
    rows = []
    for a, b in combinations(range(len(names)), 2):
        both, either = picks[a] & picks[b], picks[a] | picks[b]
        share = len(both) / len(either) if either else None
        cells = (f"{names[a]} and {names[b]}", len(both), share, _chips(opened, both))
        rows.append(Row(f"{a}-{b}", cells, muted=True))
    st.markdown("## How far they agree")
    table(
        _AGREEMENT,
        rows,
        key="agreement",
        action="none",
        on_event=partial(go_to, state),
        caption="How many sentences the retrievers share",
    )
    if len(picks) == 3:
        by_all = set.intersection(*picks)
        st.caption(f"All three picked {len(by_all):,} of {len(set.union(*picks)):,} sentences.")


def draw_wording_change(
    state: PageState, opened: OpenPaper, now: Mapping[str, Retrieval], then: Mapping[str, Retrieval]
) -> None:
    """Which sentences another wording finds again; nothing where no retriever answered both."""
    rows = []
    for letter, (label, answer) in zip(LETTERS, now.items(), strict=False):
        if label in then:
            old, new = set(then[label].selection), set(answer.selection)
            same = f"{len(old & new)} of {len(new)}"
            cells = (f"{letter} {label}", same, _chips(opened, new - old), _chips(opened, old - new))
            rows.append(Row(label, cells, muted=True))
    if not rows:
        return
    st.markdown("## What the other wording changed")
    st.caption(f"Before: {literal(state['h0'], 400)}")
    table(
        _CHANGE,
        rows,
        key="wording-change",
        action="none",
        on_event=partial(go_to, state),
        caption="Sentences found with this wording and with the one before",
    )


def _chips(opened: OpenPaper, indices: Collection[int]) -> Cell:
    return tuple(sentence_chip(index, opened.paper.sentences[index]) for index in sorted(indices)) or None
