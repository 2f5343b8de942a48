"""One miss: what covers the aspect, what was picked instead, who else found it, and what is noted of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analyse.missed import chosen_run, missed_report, notes_by_aspect
from components.app import resources
from components.app.session import flash, session_text, set_session_text, widget_value
from components.app.state import PageState
from components.frame.page import Context, percent
from components.widgets.chips import aspect_chip, go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from components.widgets.runs import reader_link
from components.widgets.table import Cell, Chip, Column, Row, table
from evidencebench_core.analyses.causes import CAUSES, cause_title, suggestions
from evidencebench_core.analyses.miss import Miss, Passage, Pick, miss
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import clipped_text, quantity

_PASSAGES: Final = (
    Column("sentence", "Sentence", "chips", "A click shows it in the paper"),
    Column("text", "What it says", lines=3),
    Column("rank", "Rank", "number", "In the run's ranking, from 1"),
    Column("words", "Shares with the hypothesis", "text", "Content words; without stemming"),
    Column("part", "Part", "id"),
)
_PICKS: Final = (
    Column("pick", "Pick", "chips", "In the order of the picks"),
    Column("new", "Adds", "chips", "Aspects that no earlier pick covers"),
    Column("repeats", "Repeats", "chips", "Aspects that an earlier pick covers already"),
    Column("text", "What it says", lines=3),
    Column("part", "Part", "id"),
)
_OTHERS: Final = (
    Column("run", "Run"),
    Column("found", "Outcome"),
    Column("rank", "Best rank", "number"),
    Column("sentence", "Sentence", "chips"),
)
_OUTCOMES: Final = {True: "found it", False: "missed it", None: "has no answer"}


def draw_miss(state: PageState, context: Context, switches: DeltaGenerator) -> None:
    """The chosen aspect: the facts, then the form to note a cause."""
    with switches:
        run = chosen_run(state, context)
        st.button(
            "All misses",
            icon=":material/arrow_back:",
            on_click=state.put,
            kwargs={"instance": None, "aspect": None, "sentence": None, "mark": None},
        )
    misses = missed_report(context, run).tables["missed"]
    of_instance = misses[misses["instance"] == state["instance"]].sort_values("number")
    aspect_id = state["aspect"] or next(iter(of_instance["aspect"]), "")
    details = miss(resources.store(), run.id, context.task, state["instance"], aspect_id)
    row = next(iter(of_instance[of_instance["aspect"] == aspect_id].to_dict("records")), None)
    st.markdown(f"## {literal(details.instance.hypothesis)}")
    _draw_aspect_picker(state, of_instance, aspect_id)
    st.markdown(_headline(details, row))
    runs = {other.id: other for other in resources.runs(context.dataset)}
    paper, side = st.columns([56, 44], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_paper(state, run, context, details, runs)
    with side:
        _draw_tables(state, details, runs, row is not None)
        if row is not None:
            _draw_causes(row)
            order = list(zip(misses["instance"], misses["aspect"], strict=True))
            following = order[order.index((state["instance"], aspect_id)) + 1 :]
            _draw_notes(state, context, run, row, following[0] if following else None)
        else:
            st.info("This run found the aspect: one of its picks covers it.")
    sentence = state["sentence"] or str(details.passages[0].sentence if details.passages else 0)
    help_text = "Opens Browse on this instance, with the same runs"
    if switches.button("Read in the paper", icon=":material/menu_book:", help=help_text):
        shown = (run, *(other for other in context.runs if other.id != run.id))
        more = {"aspect": details.aspect.label, "sentence": sentence}
        link = reader_link(context.dataset, context.task, details.instance.id, shown, **more)
        st.switch_page("pages/browse.py", query_params=link)


def _draw_aspect_picker(state: PageState, misses: pd.DataFrame, aspect_id: str) -> None:
    """The missed aspects of the instance, where there are several."""
    labels = dict(zip(misses["aspect"], misses["label"], strict=True))
    if len(labels) > 1 and aspect_id in labels:
        st.segmented_control(
            "Missed aspect",
            list(labels),
            format_func=labels.__getitem__,
            required=True,
            label_visibility="collapsed",
            **state.widget("aspect", aspect_id, reset=("sentence", "mark")),
        )


def _headline(details: Miss, row: Mapping[Any, Any] | None) -> str:
    """The missed aspect, and by how much, in a line."""
    text = f"**{'Result aspect' if details.aspect.is_result else 'Aspect'} {literal(details.aspect.label)}**"
    if details.aspect.text:
        text += f" {literal(details.aspect.text)}"
    if row is None:
        return text
    n = row["n_covering"]
    parts = [f"{n} of {row['n_sentences']} sentences cover{'s' if n == 1 else ''} it"]
    if pd.isna(row["best_rank"]):
        parts.append("the ranking reaches none of them")
    else:
        rank = f"best rank {int(row['best_rank'])}"
        if pd.notna(row["distance"]):
            places = int(row["distance"])
            edge = "the picks" if details.budget is None else f"K = {details.budget}"
            below = "within" if places <= 0 else f"{quantity(places, 'place')} below"
            rank += f", {below} {edge}"
        parts.append(rank)
    if pd.notna(row["overlap"]):
        parts.append(f"word overlap {percent(row['overlap'], 0)}")
    parts.append(f"nearest at {percent(row['position'], 0)} of the paper")
    return f"{text} · {' · '.join(parts)}"


def _draw_paper(
    state: PageState, run: RunInfo, context: Context, details: Miss, runs: Mapping[str, RunInfo]
) -> None:
    """The paper with the picks of the run, and of up to two others that found the aspect without having seen it."""
    systems = [System(run.label, tuple(pick.sentence for pick in details.picks))]
    others = [other for other in details.others if other.found and not runs[other.run_id].n_trained_on]
    systems += [System(runs[other.run_id].label, other.picks) for other in others[:2]]
    selected = state.number("sentence")
    if selected is None and details.passages:
        selected = details.passages[0].sentence

    def act(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, mark=event.system or None)

    view = view_of(
        details.instance,
        focus=context.task.focus,
        systems=systems,
        active=min(state.number("mark") or 0, len(systems) - 1),
        selected=selected,
        aspect=details.number,
    )
    paper_view(view, key="missed-reader", height=700, on_event=act)


def _draw_tables(state: PageState, details: Miss, runs: Mapping[str, RunInfo], is_missed: bool) -> None:
    """Covering sentences, picks, other runs; a click on a sentence shows it in the paper."""
    instance, picks = details.instance, details.picks
    aspects = {aspect.label: (aspect, number) for number, aspect in enumerate(instance.evidence.aspects)}

    def sentence(index: int) -> tuple[Chip, ...]:
        return (sentence_chip(index, instance.sentences[index]),)

    def text(index: int) -> str:
        return clipped_text(instance.sentences[index], 300)

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

    st.markdown("### What covers it")
    covering = [
        (
            sentence(passage.sentence),
            text(passage.sentence),
            passage.rank,
            ", ".join(sorted(passage.shared)) or "no word",
            part(passage),
        )
        for passage in details.passages
    ]
    draw("missed-passages", _PASSAGES, covering, "Sentences that cover the aspect, best ranked first", 260)
    st.markdown("### Picked instead" if is_missed else "### The picks")
    picked = [
        (
            sentence(pick.sentence),
            chips(pick.new, True),
            chips(pick.repeated, False),
            text(pick.sentence),
            part(pick),
        )
        for pick in picks[:60]
    ]
    draw("missed-picks", _PICKS, picked, "The run's picks", 300)
    if details.others:
        st.markdown("### Other runs")
        others = sorted(details.others, key=lambda other: (not other.found, other.rank or 10**9))
        outcomes = [
            (
                runs[other.run_id].label,
                _OUTCOMES[other.found],
                other.rank,
                None if other.sentence is None else sentence(other.sentence),
            )
            for other in others
        ]
        draw("missed-others", _OTHERS, outcomes, "What other runs made of the aspect", 200)


def _draw_causes(row: Mapping[Any, Any]) -> None:
    """The suggested cause with the quantity that it goes by, and the others that apply."""
    (name, measured), *others = suggestions(row).items()
    st.markdown("### Why")
    st.markdown(f"**{CAUSES[name].title}.** {literal(measured)}", help=CAUSES[name].rule)
    for other, quantity_text in others:
        if other not in {"near", "far"}:  # the headline has the rank
            st.caption(f"Also: **{CAUSES[other].title}.** {literal(quantity_text)}")


def _draw_notes(
    state: PageState,
    context: Context,
    run: RunInfo,
    row: Mapping[Any, Any],
    following: tuple[str, str] | None,
) -> None:
    """What others noted, and the form."""
    every = notes_by_aspect(run, context.task.name)
    notes = every.get((row["instance"], row["aspect"]), ())
    for note in notes:
        st.caption(_note_text(note))
    own = next((note for note in notes if note.author == session_text("author")), None)
    known = {tag for some in every.values() for note in some for tag in note.tags}
    ident = f"{run.id}-{context.task.name}-{row['aspect']}-{own.created_at if own else ''}"

    def save(then: Callable[[], object] = lambda: None) -> None:
        fields = ("cause", "tags", "author", "text")
        cause, tags, author, text = (widget_value(f"{name}-{ident}") for name in fields)
        set_session_text("author", author.strip())
        note = Note(
            run_id=run.id,
            task=context.task.name,
            instance_id=row["instance"],
            aspect_id=row["aspect"],
            author=author,
            cause=cause,
            tags=tuple(tags),
            text=text,
        )
        try:
            NoteStore(resources.store()).add(note)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        flash("Noted.")
        then()

    def go_on() -> None:
        instance_id, aspect_id = following or ("", "")
        state.put(instance=instance_id, aspect=aspect_id, sentence=None, mark=None)

    with st.form(f"note-{ident}", border=True):
        st.pills(
            "Cause",
            list(CAUSES),
            format_func=lambda name: CAUSES[name].title,
            default=own.cause if own and own.cause in CAUSES else row["cause"],
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
            label = "Save and next" if following else "Save and back to all misses"
            st.form_submit_button(label, type="primary", on_click=save, args=(go_on,))
            st.form_submit_button("Save", on_click=save)


def _note_text(note: Note) -> str:
    title = cause_title(note.cause)
    parts = [f"**{literal(title)}**" if title else "", *(literal(f"#{tag}") for tag in note.tags)]
    parts = [*filter(None, parts), *([literal(note.text)] if note.text else [])]
    when = literal(note.created_at[:16].replace("T", " "))
    return f"{literal(note.author)}, {when} UTC: {' · '.join(parts)}"
