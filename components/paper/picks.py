"""The picks of a retriever, and how far retrievers, or wordings, pick the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import streamlit as st

from components.app.state import PageState
from components.paper.opened import OpenPaper
from components.paper.picks_list import explanations, picks_list, picks_of
from components.widgets.answers import system_switch
from components.widgets.markdown import literal
from components.widgets.sentence_note import LETTERS
from components.widgets.table import Chip, Column, Row, TableEvent, table
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.words import quantity


def draw_picks(
    state: PageState, opened: OpenPaper, answers: Mapping[str, Retrieval], active: int, budget: int
) -> None:
    """The picks of the active retriever, in order."""
    labels = list(answers)
    label = labels[active]
    system_switch(state, answers, active)
    retrieval = answers[label]
    n_picks = len(retrieval.selection)
    st.markdown(f"#### {quantity(n_picks, 'sentence')} picked by {literal(label)}")
    if n_picks < budget:
        st.caption(f"You asked for {budget:,}; it gave what it found.")
    others = {LETTERS[n]: answers[other] for n, other in enumerate(labels) if n != active}
    picks_list(
        picks_of(opened.paper, retrieval, explanations(retrieval), others),
        key="picks",
        on_pick=lambda index: state.put(sentence=index),
        selected=state.number("sentence"),
    )
    st.caption(
        "In the order in which they were picked, with the sentences around them. A click shows one in the paper. "
        "There is no gold for this paper, so nothing is scored."
    )


def draw_agreement(
    opened: OpenPaper, answers: Mapping[str, Retrieval], on_sentence: Callable[[TableEvent], None]
) -> None:
    """How far two or three retrievers picked the same; nothing for one."""
    if len(answers) < 2:
        return
    labels = list(answers)
    names = [f"{LETTERS[n]} {label}" for n, label in enumerate(labels)]
    picks = [set(answer.selection) for answer in answers.values()]
    st.markdown("#### How far they agree")
    rows = []
    for a, b in combinations(range(len(labels)), 2):
        both, either = picks[a] & picks[b], picks[a] | picks[b]
        share = len(both) / len(either) if either else None
        rows.append(
            Row(
                f"{a}-{b}",
                (f"{names[a]} and {names[b]}", len(both), share, _chips(opened, sorted(both))),
                muted=True,
            )
        )
    table(
        (
            Column("pair", "Retrievers"),
            Column("n", "Both picked", "number"),
            Column(
                "share", "Overlap", "percent", "Sentences both picked, of those that either picked (Jaccard)"
            ),
            Column("which", "Which", "chips"),
        ),
        rows,
        key="agreement",
        action="none",
        on_event=on_sentence,
        caption="How many sentences the retrievers share",
    )
    if len(labels) == 3:
        by_all = set.intersection(*picks)
        st.caption(f"All three picked {len(by_all):,} of {len(set.union(*picks)):,} sentences.")


def draw_wording_change(
    opened: OpenPaper,
    before: str,
    now: Mapping[str, Retrieval],
    then: Mapping[str, Retrieval],
    on_sentence: Callable[[TableEvent], None],
) -> None:
    """Which sentences another wording finds again; nothing where no retriever answered both."""
    rows = []
    for letter, (label, answer) in zip(LETTERS, now.items(), strict=False):
        if label not in then:
            continue
        old, new = set(then[label].selection), set(answer.selection)
        rows.append(
            Row(
                label,
                (
                    f"{letter} {label}",
                    f"{len(old & new)} of {len(new)}",
                    _chips(opened, sorted(new - old)),
                    _chips(opened, sorted(old - new)),
                ),
                muted=True,
            )
        )
    if not rows:
        return
    st.markdown("#### What the other wording changed")
    st.caption(f"Before: {literal(before, 400)}")
    table(
        (
            Column("who", "Retriever"),
            Column("same", "Found again"),
            Column("new", "New", "chips"),
            Column("gone", "No longer", "chips"),
        ),
        rows,
        key="wording-change",
        action="none",
        on_event=on_sentence,
        caption="Sentences found with this wording and with the one before",
    )


def _chips(opened: OpenPaper, indices: Sequence[int]) -> tuple[Chip, ...] | None:
    return (
        tuple(Chip(f"sentence:{index}", str(index), None, opened.paper.sentences[index]) for index in indices)
        or None
    )
