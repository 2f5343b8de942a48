"""Why a run missed the pinned aspect: what covers it, the suggested cause, the other runs, a note, the next miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.browse.answers import Answer
from components.browse.note_form import draw_note_form
from components.carried import InstanceSet
from components.controls import chip_table, sentence_chip
from components.draws import drawn_link, miss_place, named_draw
from components.markdown import literal
from components.page import Context, missed_report, percent
from components.run_links import run_name
from components.state import PageState, open_later, session_text
from components.table import Column, Row
from evidencebench_core.analyses.causes import CAUSES, suggestions
from evidencebench_core.analyses.miss import Miss, miss
from evidencebench_core.analyses.notes import Note
from evidencebench_core.analyses.verdicts import Draw
from evidencebench_core.data import Aspect, Instance
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import clipped_text

_PASSAGES: Final = (
    Column("sentence", "Sentence", "chips", "A click shows it in the paper"),
    Column("text", "Where, and what it says", lines=3),
    Column("rank", "Rank", "number", "In the run's ranking, from 1"),
    Column("words", "Shared words", "text", "Content words of the hypothesis, too; without stemming"),
)
_OTHERS: Final = (
    Column("run", "Run"),
    Column("outcome", "Outcome"),
    Column("rank", "Best rank", "number"),
    Column("sentence", "Sentence", "chips"),
)
_OUTCOMES: Final = {True: "found it", False: "missed it", None: "has no answer"}


def run_that_missed(answers: Sequence[Answer], active: Answer | None, aspect: Aspect) -> RunInfo | None:
    """The run marked in the paper if it missed an aspect, else the first shown one that did."""
    ordered = sorted(answers, key=lambda answer: answer is not active)
    for answer in ordered:
        if answer.system.run and set(answer.retrieval.selection).isdisjoint(aspect.sentence_indices):
            return answer.system.run
    return None


def draw_why_missed(
    state: PageState,
    context: Context,
    run: RunInfo,
    miss_of: tuple[Instance, Aspect],
    among: InstanceSet | None,
) -> None:
    """The panel on a missed aspect of an instance; the next one is of the instances ``among`` which one reads."""
    instance, aspect = miss_of
    misses = missed_report(context, run).tables["missed"]
    is_it = (misses["instance"] == instance.id) & (misses["aspect"] == aspect.id)
    if not is_it.any():  # no sentence covers it, or the task does not ask for it
        return
    row = misses[is_it].iloc[0].to_dict()
    details = miss(resources.store(), run, context.task, instance, aspect)
    drawn = named_draw(context.dataset, context.task, state["draw"])
    of_draw = _next_of_draw(drawn, state["draw"], row | {"run": run.id}) if drawn else None
    left, following = of_draw or _next_of_run(misses, is_it, among)
    go_on = partial(_read, state, following) if following else None
    place = Note(
        instance_id=instance.id, author="", run_id=run.id, task=context.task.name, aspect_id=aspect.id
    )
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"## Why {literal(run.label)} missed {literal(aspect.label)}", width="stretch")
            st.button("Next miss", disabled=go_on is None, on_click=go_on, help=literal(left))
            st.button("The draw" if of_draw else "All misses", on_click=open_later, args=("analyse", {}))
        if aspect.text:
            st.markdown(literal(aspect.text))
        st.caption(_facts(row))
        _draw_passages(state, details)
        if of_draw:  # read without a suggestion
            st.caption(literal(left))
        else:
            _draw_causes(row)
        draw_note_form(context.dataset, place, "" if of_draw else row["cause"], go_on)
        _draw_others(state, context, details)


def _next_of_run(
    misses: pd.DataFrame, is_it: pd.Series[bool], among: InstanceSet | None
) -> tuple[str, dict[str, str]]:
    """How many misses follow, and the link to the first of them; empty where none does."""
    rest = misses[is_it.cumsum() > 0].iloc[1:]
    if among is not None:
        rest = rest[rest["instance"].isin(among.ids)]
    link = {} if rest.empty else miss_place(rest.iloc[0].to_dict())
    return f"{len(rest):,} more of this run{' in the set' if among else ''}, nearest miss first", link


def _next_of_draw(drawn: Draw, text: str, row: Mapping[Any, Any]) -> tuple[str, dict[str, str]] | None:
    """The same of a draw, whose items wait for this reader's verdict; ``None`` for an aspect that was not drawn."""
    items = drawn.frame
    names = ["run", "instance", "aspect"]
    places = items.index[(items[names] == [row[name] for name in names]).all(axis=1)]
    if places.empty:
        return None
    waiting = drawn.waiting(session_text("author")).drop(index=places, errors="ignore")
    rest = pd.concat([waiting[waiting.index > places[0]], waiting[waiting.index < places[0]]])
    link = {} if rest.empty else drawn_link(drawn, text, rest.iloc[0].to_dict())
    return f"{places[0] + 1:,} of {drawn.name}; {len(rest):,} more wait for your verdict", link


def _read(state: PageState, link: Mapping[str, str]) -> None:
    state.put(**link, h=None, asif=None)


def _facts(row: Mapping[Any, Any]) -> str:
    n, overlap = row["n_covering"], row["overlap"]
    facts = [f"{n} of {row['n_sentences']} sentences cover{'s' if n == 1 else ''} it"]
    if pd.notna(overlap):
        facts.append(f"word overlap {percent(overlap, 0)}")
    return " · ".join([*facts, f"nearest at {percent(row['position'], 0)} of the paper"])


def _draw_causes(row: Mapping[Any, Any]) -> None:
    (name, measured), *others = suggestions(row).items()
    st.markdown(f"**{CAUSES[name].title}.** {literal(measured)}", help=CAUSES[name].rule)
    for other, quantity_text in others:
        if quantity_text != measured:
            st.caption(f"Also: **{CAUSES[other].title}.** {literal(quantity_text)}")


def _draw_passages(state: PageState, details: Miss) -> None:
    sentences, types = details.instance.sentences, details.instance.sentence_types
    rows = []
    for passage in details.passages:
        index = passage.sentence
        part = passage.section.capitalize() + ", heading" * (types[index] == "section_name")
        cells = (
            (sentence_chip(index, sentences[index]),),
            f"{part}: {clipped_text(sentences[index], 300)}",
            passage.rank,
            ", ".join(sorted(passage.shared)) or "no word",
        )
        rows.append(Row(str(index), cells))
    caption = "Sentences that cover it, best ranked first"
    st.caption(caption)
    chip_table(state, _PASSAGES, rows, key="missed-passages", caption=caption)


def _draw_others(state: PageState, context: Context, details: Miss) -> None:
    if not details.others:
        return
    names = {run.id: run_name(run) for run in context.all_runs}
    sentences = details.instance.sentences
    others = sorted(details.others, key=lambda other: (not other.found, other.rank or 10**9))
    rows = []
    for other in others:
        index = other.sentence
        chip = None if index is None else (sentence_chip(index, sentences[index]),)
        name = names.get(other.run.id, other.run.label)
        rows.append(Row(other.run.id, (name, _OUTCOMES[other.found], other.rank, chip)))
    st.caption("Other runs")
    chip_table(state, _OTHERS, rows, key="missed-others", caption="What other runs made of the aspect")
