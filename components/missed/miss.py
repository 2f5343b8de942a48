"""One miss: what covers the aspect, what was picked instead, who else found it, and what is noted of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.session import flash, session_text, set_session_text, widget_value
from components.app.state import PageState
from components.missed.queue import Key, Queue
from components.widgets.chips import aspect_chip, go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from components.widgets.runs import reader_link
from components.widgets.table import Cell, Chip, Column, Row, table
from evidencebench_core.analyses.causes import CAUSES, cause_title, suggestions
from evidencebench_core.analyses.missed_context import MissContext, Passage, Pick, missed_context
from evidencebench_core.analyses.missed_text import with_text
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.runs import RunInfo
from evidencebench_core.runs.notes import Note, NoteStore
from evidencebench_core.words import clipped_text, quantity

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


def draw_miss(state: PageState, dataset: DatasetInfo, queue: Queue, next_key: Key | None) -> None:
    """The chosen aspect, with the form to note a cause."""
    context = missed_context(resources.store(), queue.run.id, queue.task, state["instance"], state["aspect"])
    row = _row_of(queue, (state["instance"], state["aspect"]))
    missed = row is None or bool(row["missed"])
    st.markdown(f"# {literal(context.instance.hypothesis)}")
    st.markdown(_headline(context, row))
    runs = {run.id: run for run in resources.runs(dataset)}
    paper, side = st.columns([56, 44], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_paper(state, queue, context, runs)
    with side:
        if row is not None and missed:
            _draw_verdict(state, queue, row, next_key)
        elif row is not None:
            st.info("This run found the aspect: one of its picks covers it.")
        _draw_tables(state, context, runs, missed)
        if st.button("Read in the paper", help="Opens Browse on this instance, with this run's retriever"):
            first = context.passages[0].sentence if context.passages else 0
            link = reader_link(
                dataset,
                queue.task,
                context.instance.id,
                [queue.run],
                aspect=context.aspect.label,
                sentence=state["sentence"] or str(first),
            )
            st.switch_page("pages/browse.py", query_params=link)


def _row_of(queue: Queue, key: Key) -> dict[Any, Any] | None:
    """The aspect's row with its text columns; ``None`` where the page is about other aspects."""
    places = queue.rows_of(key)
    rows = queue.outcomes.iloc[places[queue.asked[places]]]
    if not queue.with_words and len(rows):
        rows = with_text(resources.store(), rows)
    return next(iter(rows.to_dict("records")), None)


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


def _draw_paper(state: PageState, queue: Queue, context: MissContext, runs: Mapping[str, RunInfo]) -> None:
    """The paper with the picks of the run, and of up to two others that found the aspect without having seen it."""
    systems = [System(queue.run.label, tuple(pick.sentence for pick in context.picks))]
    found = [other for other in context.others if other.found and not runs[other.run_id].n_trained_on]
    systems += [System(runs[other.run_id].label, other.picks) for other in found[:2]]
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


def _draw_tables(state: PageState, context: MissContext, runs: Mapping[str, RunInfo], missed: bool) -> None:
    """Covering sentences, picks, other runs; a click on a sentence shows it in the paper."""
    instance, picks = context.instance, context.picks
    aspects = {aspect.label: (aspect, number) for number, aspect in enumerate(instance.evidence.aspects)}
    last = picks[-1].score if picks else None

    def sentence(index: int) -> tuple[Chip, ...]:
        return (sentence_chip(index, instance.sentences[index]),)

    def part(of: Passage | Pick) -> str:
        heading = instance.sentence_types[of.sentence] == "section_name"
        return f"{of.section}, heading" if heading else of.section

    def chips(labels: Sequence[str], filled: bool) -> tuple[Chip, ...] | None:
        return tuple(aspect_chip(*aspects[label], filled) for label in labels) or None

    def draw(
        key: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], caption: str, height: int | None
    ) -> None:
        table(
            columns,
            [Row(str(place), tuple(cells)) for place, cells in enumerate(rows)],
            key=key,
            action="none",
            on_event=lambda event: go_to(state, event),
            caption=caption,
            empty="The run picked nothing.",
            height=height,
        )

    st.markdown("## What covers it")
    covering = [
        (
            sentence(one.sentence),
            one.rank,
            None if last is None or one.score is None else last - one.score,
            part(one),
            ", ".join(sorted(one.shared)) or "no word",
        )
        for one in context.passages
    ]
    draw("missed-passages", _PASSAGES, covering, "Sentences that cover the aspect, best ranked first", 260)
    st.markdown("## What took its place" if missed else "## The picks")
    picked = [
        (
            sentence(pick.sentence),
            chips(pick.new, True),
            chips(pick.repeated, False),
            part(pick),
            clipped_text(instance.sentences[pick.sentence], 110),
        )
        for pick in picks[:60]
    ]
    draw("missed-picks", _PICKS, picked, "The run's picks", None if len(picks) <= 12 else 560)
    if picks:
        idle = sum(not pick.new for pick in picks)
        st.caption(f"{idle} of {len(picks)} picks add no aspect.")
    if context.others:
        st.markdown("## Other runs")
        others = sorted(context.others, key=lambda other: (not other.found, other.rank or 10**9))
        outcomes = [
            (
                runs[one.run_id].label,
                _OUTCOMES[one.found],
                one.rank,
                None if one.sentence is None else sentence(one.sentence),
            )
            for one in others
        ]
        draw("missed-others", _OTHERS, outcomes, "What other runs made of the aspect", 240)


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
    parts = [f"**{literal(title)}**" if title else "", *(literal(f"#{tag}") for tag in note.tags)]
    parts = [*filter(None, parts), *([literal(note.text)] if note.text else [])]
    when = literal(note.created_at[:16].replace("T", " "))
    return f"{literal(note.author)}, {when} UTC: {' · '.join(parts)}"


def _draw_form(
    state: PageState, queue: Queue, key: Key, own: Note | None, suggested: str, next_key: Key | None
) -> None:
    known = {tag for notes in queue.notes.values() for note in notes for tag in note.tags}
    ident = f"{queue.run.id}-{queue.task.name}-{key[1]}-{own.created_at if own else ''}"

    def save(then: Callable[[], object] = lambda: None) -> None:
        cause, tags, author, text = (
            widget_value(f"{name}-{ident}") for name in ("cause", "tags", "author", "text")
        )
        seen = None
        if author.strip() == session_text("author"):
            seen = own.created_at if own else ""
        set_session_text("author", author.strip())
        note = Note(
            run_id=queue.run.id,
            task=queue.task.name,
            instance_id=key[0],
            aspect_id=key[1],
            author=author,
            cause=cause,
            tags=tuple(tags),
            text=text,
        )
        try:
            NoteStore(resources.store()).add(note, seen)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        flash("Noted.")
        then()

    def go_on() -> None:
        instance_id, aspect_id = next_key or ("", "")
        state.put(instance=instance_id, aspect=aspect_id, sentence=None, system=None)

    with st.form(f"note-{ident}", border=True):
        st.pills(
            "Cause",
            list(CAUSES),
            format_func=lambda name: CAUSES[name].title,
            default=own.cause if own and own.cause in CAUSES else suggested,
            key=f"cause-{ident}",
        )
        left, right = st.columns([2, 1])
        left.multiselect(
            "Tags",
            sorted({*known, *(own.tags if own else ())}),
            default=list(own.tags) if own else [],
            accept_new_options=True,
            placeholder="Choose or type",
            key=f"tags-{ident}",
        )
        right.text_input("Author", session_text("author"), placeholder="Initials", key=f"author-{ident}")
        st.text_area("Note", own.text if own else "", height=68, key=f"text-{ident}")
        with st.container(horizontal=True):
            label = "Save and next" if next_key else "Save and back to the queue"
            st.form_submit_button(label, type="primary", on_click=save, args=(go_on,))
            st.form_submit_button("Save", on_click=save)
