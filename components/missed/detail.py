"""One miss: the paper with what covers the aspect, what was picked instead, who else found it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.browse.ledger import aspect_chip, sentence_chip
from components.missed.queue import Key, Queue
from components.missed.table import whole
from components.missed.verdict import draw_verdict
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, System, paper_view, view_of
from components.widgets.retriever_picker import Choice, changed_settings, choices_text
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.analyses.missed import with_text
from evidencebench_core.analyses.missed_context import MissContext, missed_context
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError

__all__ = ["draw_miss"]

_PASSAGES = (
    Column("sentence", "Sentence", "chips", "A click shows it in the paper"),
    Column("rank", "Rank", "number", "In the run's ranking, from 1"),
    Column("gap", "Score gap", "number", "Score of the last pick minus its own, in the run's unit", digits=2),
    Column("part", "Part", "id"),
    Column("words", "Shares with the hypothesis", "text", "Content words; without stemming"),
)
_PICKS = (
    Column("pick", "Pick", "chips", "In the order of the picks"),
    Column("new", "Adds", "chips", "Aspects that no earlier pick covers"),
    Column("repeats", "Repeats", "chips", "Aspects that an earlier pick covers already"),
    Column("part", "Part", "id"),
    Column("text", "What it says"),
)


def draw_miss(state: PageState, dataset: DatasetInfo, queue: Queue, next_key: Key | None) -> None:
    """The chosen aspect, with the form to say what one thinks of it."""
    context = missed_context(resources.store(), queue.run.id, queue.task, state["instance"], state["aspect"])
    row = _row_of(queue, (state["instance"], state["aspect"]))
    st.markdown(f"### {literal(context.instance.hypothesis)}")
    st.markdown(_headline(context, row))
    paper, side = st.columns([56, 44], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _paper(state, queue, context)
    with side:
        if row is not None:
            if row["missed"]:
                draw_verdict(state, queue, row, next_key)
            else:
                st.info("This run found the aspect: one of its picks covers it.")
        _passages(state, context)
        _picks(state, context, missed=row is None or bool(row["missed"]))
        _others(state, context)
        if st.button("Read in the paper", help="Opens Browse on this instance, with this run's retriever"):
            st.switch_page("pages/browse.py", query_params=_browse_link(state, dataset, queue, context))


def _row_of(queue: Queue, key: Key) -> dict[Any, Any] | None:
    """The aspect's row with its text columns; ``None`` where the page is about other aspects."""
    asked = queue.asked
    found = asked[(asked["instance"] == key[0]) & (asked["aspect"] == key[1])]
    if found.empty:
        return None
    found = found if queue.with_words else with_text(resources.store(), found)
    record: dict[Any, Any] = found.to_dict("records")[0]
    return record


def _headline(context: MissContext, row: Mapping[Any, Any] | None) -> str:
    """What is missed, and by how much, in a line."""
    aspect = context.aspect
    kind = "Result aspect" if aspect.is_result else "Aspect"
    said = f"**{kind} {literal(aspect.label)}**"
    if aspect.text:
        said += f" {literal(aspect.text)}"
    if row is None:
        return said
    rank, distance = whole(row["best_rank"]), whole(row["distance"])
    parts = [
        f"{row['n_covering']} of {row['n_sentences']} sentences cover{'s' if row['n_covering'] == 1 else ''} it"
    ]
    if rank is None:
        parts.append("the ranking reaches none of them")
    else:
        edge = "the picks" if context.budget is None else f"K = {context.budget}"
        parts.append(f"best rank {rank}" + ("" if distance is None else f", {_below(distance)} {edge}"))
    if row["gap"] > 0:  # neither unknown nor that of a pick
        parts.append(f"score {row['gap']:.3g} under the last pick")
    if row["overlap"] == row["overlap"]:
        parts.append(f"word overlap {percent(row['overlap'], 0)}")
    parts.append(f"nearest at {percent(row['position'], 0)} of the paper")
    return f"{said} · {' · '.join(parts)}"


def _below(distance: int) -> str:
    if distance <= 0:
        return "within"
    return f"{distance} place{'' if distance == 1 else 's'} below"


def _paper(state: PageState, queue: Queue, context: MissContext) -> None:
    run = queue.run
    systems = [System(run.label, tuple(pick.sentence for pick in context.picks))]
    systems += [System(other.label, other.picks) for other in context.others if other.found][:2]
    selected = state.number("sentence")
    if selected is None and context.passages:
        selected = context.passages[0].sentence

    def heard(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, system=event.system or None)

    paper_view(
        view_of(
            context.instance,
            focus=queue.task.focus,
            systems=systems,
            active=min(state.number("system") or 0, len(systems) - 1),
            selected=selected,
            aspect=context.number,
        ),
        key="missed-reader",
        height=700,
        on_event=heard,
    )


def _goes_to(state: PageState, event: TableEvent) -> None:
    kind, _, value = event.value.partition(":")
    if event.kind == "chip" and kind == "sentence":
        state.put(sentence=value)


def _passages(state: PageState, context: MissContext) -> None:
    last = context.picks[-1].score if context.picks else None
    st.markdown("#### What covers it")
    table(
        _PASSAGES,
        [
            Row(
                str(passage.sentence),
                (
                    (sentence_chip(passage.sentence, context.instance.sentences[passage.sentence]),),
                    passage.rank,
                    None if last is None or passage.score is None else last - passage.score,
                    _part(context, passage.sentence, passage.section),
                    ", ".join(sorted(passage.shared)) or "no word",
                ),
            )
            for passage in context.passages
        ],
        key="missed-passages",
        action="none",
        on_event=lambda event: _goes_to(state, event),
        caption="Sentences that cover the aspect, best ranked first",
        height=260,
    )


def _part(context: MissContext, sentence: int, section: str) -> str:
    kind = context.instance.sentence_types[sentence]
    return f"{section}, heading" if kind == "section_name" else section


def _picks(state: PageState, context: MissContext, missed: bool) -> None:
    aspects = {
        aspect.label: (number, aspect) for number, aspect in enumerate(context.instance.evidence.aspects)
    }

    def chips(labels: tuple[str, ...], filled: bool) -> tuple[Any, ...] | None:
        return tuple(aspect_chip(aspects[label][1], aspects[label][0], filled) for label in labels) or None

    idle = sum(not pick.new for pick in context.picks)
    st.markdown("#### What took its place" if missed else "#### The picks")
    table(
        _PICKS,
        [
            Row(
                str(place),
                (
                    (sentence_chip(pick.sentence, context.instance.sentences[pick.sentence]),),
                    chips(pick.new, True),
                    chips(pick.repeated, False),
                    _part(context, pick.sentence, pick.section),
                    _cut(context.instance.sentences[pick.sentence]),
                ),
            )
            for place, pick in enumerate(context.picks[:60])
        ],
        key="missed-picks",
        action="none",
        on_event=lambda event: _goes_to(state, event),
        caption="The run's picks",
        empty="The run picked nothing.",
        height=None if len(context.picks) <= 12 else 560,
    )
    if context.picks:
        st.caption(f"{idle} of {len(context.picks)} picks add no aspect.")


def _cut(text: str, limit: int = 110) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _others(state: PageState, context: MissContext) -> None:
    if not context.others:
        return
    st.markdown("#### Other runs")
    verdicts = {True: "found it", False: "missed it", None: "has no answer"}
    table(
        (
            Column("run", "Run"),
            Column("found", "Outcome"),
            Column("rank", "Best rank", "number"),
            Column("sentence", "Sentence", "chips"),
        ),
        [
            Row(
                other.run_id,
                (
                    other.label,
                    verdicts[other.found],
                    other.rank,
                    None
                    if other.sentence is None
                    else (sentence_chip(other.sentence, context.instance.sentences[other.sentence]),),
                ),
            )
            for other in sorted(context.others, key=lambda other: (not other.found, other.rank or 10**9))
        ],
        key="missed-others",
        action="none",
        on_event=lambda event: _goes_to(state, event),
        caption="What other runs made of the aspect",
        height=240,
    )


def _browse_link(
    state: PageState, dataset: DatasetInfo, queue: Queue, context: MissContext
) -> dict[str, str]:
    link = {
        "dataset": dataset.name,
        "instance": context.instance.id,
        "task": queue.task.name,
        "aspect": context.aspect.label,
        "sentence": state["sentence"] or str(context.passages[0].sentence if context.passages else 0),
    }
    try:
        choice = Choice(queue.run.retriever, changed_settings(queue.run.retriever, queue.run.settings))
    except EvidenceBenchError:  # a retriever that is not installed here: the reader opens with its default
        return link
    return link | {"r": choices_text([choice])}
