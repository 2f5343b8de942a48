"""One miss: what covers the aspect, what was picked instead, who else found it, and what is noted of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState, flash, session_text, set_session_text
from components.missed.misses import cause_title
from components.missed.queue import Key, Queue
from components.widgets.chips import aspect_chip, go_to_sentence, sentence_chip
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, System, paper_view, view_of
from components.widgets.runs import reader_link
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.analyses.causes import CAUSES, suggestions
from evidencebench_core.analyses.missed import with_text
from evidencebench_core.analyses.missed_context import MissContext, missed_context
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs.notes import Note, NoteStore
from evidencebench_core.words import clipped, quantity

_PASSAGES: Final = (
    Column("sentence", "Sentence", "chips", "A click shows it in the paper"),
    Column("rank", "Rank", "number", "In the run's ranking, from 1"),
    Column("gap", "Score gap", "number", "Score of the last pick minus its own, in the run's unit", digits=2),
    Column("part", "Part", "id"),
    Column("words", "Shares with the hypothesis", "text", "Content words; without stemming"),
)
_PICKS: Final = (
    Column("pick", "Pick", "chips", "In the order of the picks"),
    Column("new", "Adds", "chips", "Aspects that no earlier pick covers"),
    Column("repeats", "Repeats", "chips", "Aspects that an earlier pick covers already"),
    Column("part", "Part", "id"),
    Column("text", "What it says"),
)
_OTHERS: Final = (
    Column("run", "Run"),
    Column("found", "Outcome"),
    Column("rank", "Best rank", "number"),
    Column("sentence", "Sentence", "chips"),
)
_OUTCOMES: Final = {True: "found it", False: "missed it", None: "has no answer"}

_mount_top = st.components.v2.component(
    "evidencebench_to_top", js=Path(__file__).with_name("top.js").read_text(encoding="utf-8")
)


def scroll_to_top(place: str) -> None:
    """Scroll up if ``place``, which names what the page shows, is another than the last time."""
    _mount_top(key="missed-top", data={"place": place}, height=1)


def draw_miss(state: PageState, dataset: DatasetInfo, queue: Queue, next_key: Key | None) -> None:
    """The chosen aspect, with the form to note a cause."""
    context = missed_context(resources.store(), queue.run.id, queue.task, state["instance"], state["aspect"])
    row = _row_of(queue, (state["instance"], state["aspect"]))
    st.markdown(f"### {literal(context.instance.hypothesis)}")
    st.markdown(_headline(context, row))
    paper, side = st.columns([56, 44], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_paper(state, queue, context)
    with side:
        missed = row is None or bool(row["missed"])
        if row is not None and missed:
            _draw_verdict(state, queue, row, next_key)
        elif row is not None:
            st.info("This run found the aspect: one of its picks covers it.")
        st.markdown("#### What covers it")
        _draw_table(state, "missed-passages", _PASSAGES, _passage_rows(context), "Sentences that cover the aspect, "
                    "best ranked first", 260)  # fmt: skip
        st.markdown("#### What took its place" if missed else "#### The picks")
        height = None if len(context.picks) <= 12 else 560
        _draw_table(state, "missed-picks", _PICKS, _pick_rows(context), "The run's picks", height)
        if context.picks:
            idle = sum(not pick.new for pick in context.picks)
            st.caption(f"{idle} of {len(context.picks)} picks add no aspect.")
        if context.others:
            st.markdown("#### Other runs")
            _draw_table(
                state,
                "missed-others",
                _OTHERS,
                _other_rows(context),
                "What other runs made of the aspect",
                240,
            )
        if st.button("Read in the paper", help="Opens Browse on this instance, with this run's retriever"):
            sentence = state["sentence"] or str(context.passages[0].sentence if context.passages else 0)
            link = reader_link(
                dataset,
                queue.task,
                context.instance.id,
                [queue.run],
                aspect=context.aspect.label,
                sentence=sentence,
            )
            st.switch_page("pages/browse.py", query_params=link)


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
    """The missed aspect, and by how much, in a line."""
    aspect = context.aspect
    said = f"**{'Result aspect' if aspect.is_result else 'Aspect'} {literal(aspect.label)}**"
    if aspect.text:
        said += f" {literal(aspect.text)}"
    if row is None:
        return said
    n = row["n_covering"]
    parts = [f"{n} of {row['n_sentences']} sentences cover{'s' if n == 1 else ''} it"]
    if pd.isna(row["best_rank"]):
        parts.append("the ranking reaches none of them")
    else:
        rank = f"best rank {int(row['best_rank'])}"
        if pd.notna(row["distance"]):
            places = int(row["distance"])
            edge = "the picks" if context.budget is None else f"K = {context.budget}"
            below = "within" if places <= 0 else f"{quantity(places, 'place')} below"
            rank += f", {below} {edge}"
        parts.append(rank)
    if row["gap"] > 0:  # neither unknown nor that of a pick
        parts.append(f"score {row['gap']:.3g} under the last pick")
    if pd.notna(row["overlap"]):
        parts.append(f"word overlap {percent(row['overlap'], 0)}")
    parts.append(f"nearest at {percent(row['position'], 0)} of the paper")
    return f"{said} · {' · '.join(parts)}"


def _draw_paper(state: PageState, queue: Queue, context: MissContext) -> None:
    systems = [System(queue.run.label, tuple(pick.sentence for pick in context.picks))]
    systems += [System(other.label, other.picks) for other in context.others if other.found][:2]
    selected = state.number("sentence")
    if selected is None and context.passages:
        selected = context.passages[0].sentence

    def act(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, system=event.system or None)

    view = view_of(
        context.instance,
        focus=queue.task.focus,
        systems=systems,
        active=min(state.number("system") or 0, len(systems) - 1),
        selected=selected,
        aspect=context.number,
    )
    paper_view(view, key="missed-reader", height=700, on_event=act)


def _draw_table(
    state: PageState,
    key: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    caption: str,
    height: int | None,
) -> None:
    """A table of sentences; a click on one shows it in the paper."""
    table(
        columns,
        rows,
        key=key,
        action="none",
        on_event=lambda event: go_to_sentence(state, event),
        caption=caption,
        empty="The run picked nothing.",
        height=height,
    )


def _chip(context: MissContext, sentence: int) -> tuple[Chip, ...]:
    return (sentence_chip(sentence, context.instance.sentences[sentence]),)


def _part(context: MissContext, sentence: int, section: str) -> str:
    kind = context.instance.sentence_types[sentence]
    return f"{section}, heading" if kind == "section_name" else section


def _passage_rows(context: MissContext) -> list[Row]:
    last = context.picks[-1].score if context.picks else None
    return [
        Row(
            str(passage.sentence),
            (
                _chip(context, passage.sentence),
                passage.rank,
                None if last is None or passage.score is None else last - passage.score,
                _part(context, passage.sentence, passage.section),
                ", ".join(sorted(passage.shared)) or "no word",
            ),
        )
        for passage in context.passages
    ]


def _pick_rows(context: MissContext) -> list[Row]:
    aspects = {
        aspect.label: (aspect, number) for number, aspect in enumerate(context.instance.evidence.aspects)
    }

    def chips(labels: Sequence[str], filled: bool) -> tuple[Chip, ...] | None:
        return tuple(aspect_chip(*aspects[label], filled) for label in labels) or None

    return [
        Row(
            str(place),
            (
                _chip(context, pick.sentence),
                chips(pick.new, True),
                chips(pick.repeated, False),
                _part(context, pick.sentence, pick.section),
                clipped(context.instance.sentences[pick.sentence], 110),
            ),
        )
        for place, pick in enumerate(context.picks[:60])
    ]


def _other_rows(context: MissContext) -> list[Row]:
    return [
        Row(
            other.run_id,
            (
                other.label,
                _OUTCOMES[other.found],
                other.rank,
                None if other.sentence is None else _chip(context, other.sentence),
            ),
        )
        for other in sorted(context.others, key=lambda other: (not other.found, other.rank or 10**9))
    ]


def _draw_verdict(state: PageState, queue: Queue, row: Mapping[Any, Any], next_key: Key | None) -> None:
    """The suggested cause with its rule, what others noted, and the form."""
    first, *others = suggestions(row, queue.limits)
    st.markdown(
        f"**Suggested cause: {first.cause.title}.** {literal(first.why)}",
        help="A suggestion by the rule below, never a verdict. The queue has all rules and their thresholds.",
    )
    st.caption(f"Rule: {literal(first.cause.rule_text(queue.limits))}")
    more = [one for one in others if one.cause.name not in {"near", "far"}]  # the headline has the rank
    if more:
        said = " ".join(f"**{one.cause.title}**: {literal(one.why)}" for one in more)
        st.caption(f"Other rules apply as well. {said}")
    key = (row["instance"], row["aspect"])
    notes = queue.notes.get(key, ())
    for note in notes:
        st.caption(_note_text(note))
    own = next((note for note in notes if note.author == session_text("author")), None)
    _draw_form(state, queue, key, own, first.cause.name, next_key)


def _note_text(note: Note) -> str:
    title = cause_title(note.cause)
    parts = [f"**{literal(title)}**"] if title else []
    parts += [literal(f"#{tag}") for tag in note.tags]
    parts += [literal(note.text)] if note.text else []
    when = literal(note.created_at[:16].replace("T", " "))
    return f"{literal(note.author)}, {when} UTC: {' · '.join(parts)}"


def _draw_form(
    state: PageState, queue: Queue, key: Key, own: Note | None, suggested: str, next_key: Key | None
) -> None:
    known = {tag for notes in queue.notes.values() for note in notes for tag in note.tags}
    ident = f"{queue.run.id}-{queue.task.name}-{key[1]}-{own.created_at if own else ''}"
    with st.form(f"note-{ident}", border=True):
        cause = st.pills(
            "Cause",
            list(CAUSES),
            format_func=lambda name: CAUSES[name].title,
            default=own.cause if own and own.cause in CAUSES else suggested,
            key=f"cause-{ident}",
        )
        left, right = st.columns([2, 1])
        tags = left.multiselect(
            "Tags",
            sorted({*known, *(own.tags if own else ())}),
            default=list(own.tags) if own else [],
            accept_new_options=True,
            placeholder="Choose or type",
            key=f"tags-{ident}",
        )
        author = right.text_input(
            "Author", session_text("author"), placeholder="Initials", key=f"author-{ident}"
        )
        text = st.text_area("Note", own.text if own else "", height=68, key=f"text-{ident}")
        with st.container(horizontal=True):
            onward = st.form_submit_button(
                "Save and next" if next_key else "Save and back to the queue", type="primary"
            )
            stay = st.form_submit_button("Save")
    if onward or stay:
        set_session_text("author", author.strip())
        note = Note(queue.run.id, queue.task.name, *key, author, cause, tuple(tags), text)
        NoteStore(resources.store()).add(note)
        flash("Noted.")
        if onward:
            instance_id, aspect_id = next_key or ("", "")
            state.put(instance=instance_id, aspect=aspect_id, sentence=None, system=None)
        st.rerun()
