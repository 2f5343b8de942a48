"""All misses of a run: which shares are missed, filters and rules, the table, the notes to take along."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.charts.dots import missed_chart
from components.missed import cached
from components.missed.queue import BINNING_OF, FILTERS, RANGES, READ_AT_ONCE, SORTS, Queue, ranges_of
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import csv_and_json, frame_table
from components.widgets.switches import on_off_switch
from components.widgets.table import Column, TableEvent
from components.widgets.table.paging import paging, put_sort
from evidencebench_core.analyses.causes import CAUSES, Thresholds, cause_title
from evidencebench_core.analyses.missed_report import BINNINGS, bin_names, left_out_notes, misses_in_words
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import MARKS
from evidencebench_core.runs.notes import NOTE_COLUMNS, Note, nested_notes, note_rows
from evidencebench_core.words import quantity

_TITLES: Final = {
    "section": "By part of paper",
    "decile": "By position",
    "n": "By covering sentences",
    "cause": "By suggested cause",
}
_NOTED: Final = {"": "All", "no": "Without a note", "yes": "With a note"}
_TYPES: Final = {
    "": "Any",
    "abstract": "Abstract sentence",
    "normal_paragraph": "Sentence of a paragraph",
    "section_name": "Heading",
}
_THRESHOLDS: Final = (  # name, label, largest value, scale of the shown value
    ("budget_places", "Budget: places below K", 100, 1),
    ("redundant_picks", "Redundancy: picks that only repeat", 100, 1),
    ("vocabulary_overlap", "Vocabulary gap: share of words, %", 100, 100),
    ("front_share", "Headings or abstract: share of picks, %", 100, 100),
    ("near_places", "Near miss: places below K", 1000, 1),
)
_HEIGHT: Final = 540  # of the queue, in pixels: what stands below it stays near
_COLUMNS: Final = (
    Column("hypothesis", "Hypothesis", "title", lines=2),
    Column(
        "sentence", "Nearest covering sentence", help="The covering sentence that the run ranks best", lines=2
    ),
    Column("label", "Aspect", "id"),
    Column("rank", "Rank", "number", "Best rank of a covering sentence, from 1"),
    Column("distance", "Places below K", "number", "Best rank minus the number of picks", sortable=True),
    Column("position", "Position", "percent", "Where that sentence stands in the paper", sortable=True),
    Column("n_covering", "Covering", "number", "How many sentences cover the aspect", sortable=True),
    Column(
        "found",
        "Found by",
        "id",
        "Other runs that found it, of those that answered and were not trained on it",
    ),
)
_WORDS: Final = (
    Column("section", "Part", "id", "Part of the paper in which that sentence stands"),
    Column(
        "overlap",
        "Word overlap",
        "percent",
        "Share of the hypothesis' content words in the covering sentence with the most of them",
        sortable=True,
    ),
    Column("causes", "Suggested cause", "text", "By the first rule that applies; more in brackets"),
)
_INSTANCE: Final = Column("instance", "Instance", "id")
_NOTE: Final = Column("note", "Notes", "text", "Causes and tags noted, with their author")


def draw_shares(state: PageState, queue: Queue) -> None:
    """A chart of missed shares a binning, side by side; a click on a mark filters the queue to its aspects."""
    shown = [name for name in _TITLES if queue.with_words or name in {"decile", "n"}]
    st.markdown("## Where the misses are")
    what = (
        "the filters leave; a chart's own filter fades its other marks"
        if queue.passing
        else "the task asks for"
    )
    st.caption(
        f"Missed / all aspects of each bin, of those that {what}. Dotted: over all of them. 95% bootstrap intervals "
        "over papers. Click a mark for its misses."
    )
    _draw_shares(state, queue, shown)


def _draw_shares(state: PageState, queue: Queue, names: Sequence[str]) -> None:
    for name, column in zip(names, st.columns(len(names), gap="medium"), strict=True):
        with column:
            _draw_share(state, queue, name)


def _draw_share(state: PageState, queue: Queue, name: str) -> None:
    by = BINNING_OF[name]
    limits = queue.limits.text() if queue.with_words else None
    left, missed = queue.share_behind(name)
    shares = cached.missed_share(queue.run, queue.task.name, limits, by, left, missed)
    mean = float(missed[left].mean()) if left.any() else None
    top = None
    if name == "cause":  # small shares of all aspects, to which a mean says nothing
        mean, most = None, float(shares[["share", "high"]].max().max())
        top = min(1.0, max(0.05, 1.1 * most))
    labels = [CAUSES[b].title if name == "cause" else str(b).capitalize() for b in shares["bin"]]
    shares = shares.assign(label=labels)
    chosen = state.many(name)
    st.markdown(f"### {_TITLES[name]}", help=BINNINGS[by])
    filters = "-".join(state[one] for one in (*FILTERS, "rules"))
    event = draw_chart(
        resources.figure(missed_chart, shares, MARKS["missed"].on(is_dark()), "Missed, %", chosen, mean, top),
        key=f"missed-{name}-{queue.run.id}-{queue.task.name}-{queue.results_only}-{filters}",
        alt=f"{_TITLES[name]}, share missed: "
        + "; ".join(
            f"{row['label']} {percent(row['share'])} of {row['n_aspects']}"
            for row in shares[shares["n_aspects"] > 0].to_dict("records")
        ),
        clickable=True,
    )
    point = picked_point(event)
    if point is not None:
        wanted = str(point["customdata"][0])
        state.put(**{name: None if (wanted,) == chosen else [wanted]}, page=None)
        st.rerun()


def draw_filters(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    """The search, and folded: what the queue is about, more filters, the rules of the causes, the exports."""
    n_active = sum(bool(state[name]) for name in FILTERS if name != "q")
    st.text_input(
        "Search hypotheses",
        placeholder="wine stomach cancer",
        help="All words must occur; the last may be the beginning of one.",
        **state.widget("q", state["q"], reset=("page",)),
    )
    with st.popover(f"Filters ({n_active})" if n_active else "Filters"):
        if queue.task.focus == "all":
            on_off_switch(state, "all", "All aspects, not the result aspects only", reset=("page",))
        if dataset.n_instances > READ_AT_ONCE:
            on_off_switch(
                state,
                "words",
                f"Read the papers of all {dataset.n_instances:,} instances, for part of the paper, word overlap and "
                "causes (some seconds, once)",
            )
        _choice(state, "noted", "Notes", _NOTED)
        if queue.with_words:
            _several(state, "cause", "Suggested cause", lambda name: CAUSES[name].title)
            _several(state, "section", "A covering sentence in", str.capitalize)
            _choice(state, "type", "A covering sentence that is", _TYPES)
        _several(state, "decile", "A covering sentence within")
        _several(state, "n", "Covering sentences")
        for column, label in RANGES.items():
            _range_slider(state, dataset, column, label)
        if queue.with_words:
            with st.expander("Rules of the suggested causes"):
                _draw_rules(state, queue.limits)
    _draw_export(queue)


def draw_summary(state: PageState, queue: Queue) -> None:
    """How much was missed, and how much of that is shown."""
    n_missed, n_asked = queue.n_missed, queue.n_asked
    what = "result aspects" if queue.results_only else "aspects"
    share = percent(n_missed / n_asked) if n_asked else "–"
    notes = left_out_notes(queue.outcomes, queue.task.focus == "all" and queue.results_only)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{n_missed:,} of {n_asked:,} {what} missed ({share})** in {queue.n_instances:,} instances. "
            + " ".join(
                (
                    *notes,
                    f"Shown: {len(queue.shown):,} of {n_missed:,} misses, {queue.n_noted:,} with a note.",
                )
            )
        )
        if any(state[name] for name in FILTERS) and st.button("Clear filters"):
            state.put(page=None, **dict.fromkeys(FILTERS))
            st.rerun()


def _choice(state: PageState, name: str, label: str, options: dict[str, str], **look: Any) -> None:
    widget = state.widget(name, state[name] if state[name] in options else "", reset=("page",))
    st.selectbox(label, list(options), format_func=options.__getitem__, **look, **widget)


def _several(state: PageState, name: str, label: str, title: Callable[[str], str] = str) -> None:
    bins = bin_names(BINNING_OF[name])
    widget = state.widget(name, [one for one in state.many(name) if one in bins], tuple, reset=("page",))
    st.multiselect(label, bins, format_func=title, placeholder="Any", **widget)


def _range_slider(state: PageState, dataset: DatasetInfo, column: str, label: str) -> None:
    is_share = column == "ends_coverage"
    scale = 100 if is_share else 1
    top = 100 if is_share else resources.largest(dataset, column)
    ranges = ranges_of(state)
    low, high = ranges.get(column, (0.0, top / scale))

    def read(values: tuple[int, int]) -> list[str]:
        changed = {name: bounds for name, bounds in ranges.items() if name != column}
        if values != (0, top):
            changed[column] = (values[0] / scale, values[1] / scale)
        return [f"{name}:{least:g}-{most:g}" for name, (least, most) in sorted(changed.items())]

    value = (min(round(low * scale), top), min(round(high * scale), top))
    st.slider(label, 0, top, **state.widget("where", value, read, part=column, reset=("page",)))


def _draw_rules(state: PageState, limits: Thresholds) -> None:
    """The rules in words, in their order, with their thresholds to change."""
    st.markdown("The first rule that applies is suggested; all that apply are shown. None is a verdict.")
    for number, cause in enumerate((c for c in CAUSES.values() if c.rule), start=1):
        st.markdown(f"{number}. **{cause.title}.** {cause.rule_text(limits)}")

    def widget(name: str, value: object, read: Callable[[Any], object]) -> dict[str, Any]:
        def differing(shown: Any) -> str:
            """The thresholds that differ from the defaults, as the address has them."""
            values, defaults = asdict(limits) | {name: read(shown)}, asdict(Thresholds())
            different = {key: value for key, value in values.items() if value != defaults[key]}
            return json.dumps(different) if different else ""

        return state.widget("rules", value, differing, part=name)

    for name, label, top, scale in _THRESHOLDS:
        value = round(getattr(limits, name) * scale)
        read = (lambda shown: shown / 100) if scale == 100 else int
        st.number_input(label, 0, top, **widget(name, value, read))
    middle = (round(100 * limits.middle[0]), round(100 * limits.middle[1]))
    thirds = widget("middle", middle, lambda ends: (ends[0] / 100, ends[1] / 100))
    st.slider("Position: the middle of the paper, %", 0, 100, **thirds)
    if state["rules"] and st.button("Back to the default rules"):
        state.put(rules=None)
        st.rerun()


def _draw_export(queue: Queue) -> None:
    """The misses that are shown, and the notes once there are some, as CSV and as JSON."""
    notes = [note for those in queue.notes.values() for note in those]
    name = f"{queue.run.id}-{queue.task.name}"
    with st.popover("Export"):
        st.markdown(
            f"{quantity(len(queue.shown), 'missed aspect')}: hypothesis, sentence, rank, cause, notes"
        )
        csv_and_json(f"misses-{name}", lambda: exported_misses(queue))
        if notes:
            st.markdown(quantity(len(notes), "note"))
            csv_and_json(f"notes-{name}", lambda: exported_notes(queue), lambda: nested_notes(notes))


def exported_misses(queue: Queue) -> pd.DataFrame:
    """The misses that are shown, with the words that go with them."""
    notes = [note for those in queue.notes.values() for note in those]
    return misses_in_words(resources.store(), queue.run.dataset, queue.outcomes.iloc[queue.shown], notes)


def exported_notes(queue: Queue) -> pd.DataFrame:
    """A row a note, with what it is about; the cause that the rules suggest is ``suggested_cause``."""
    noted = queue.outcomes.iloc[queue.noted]
    about = misses_in_words(resources.store(), queue.run.dataset, noted).drop(columns="notes")
    about = about.rename(
        columns={
            "instance": "instance_id",
            "aspect": "aspect_id",
            "text": "aspect_text",
            "cause": "suggested_cause",
        }
    )
    notes = [note for those in queue.notes.values() for note in those]
    return pd.DataFrame(note_rows(notes), columns=NOTE_COLUMNS).merge(
        about, "left", ["instance_id", "aspect_id"]
    )


def draw_queue(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    """The misses that the filters leave, fifty at a time; a click opens one."""
    page = paging(state, len(queue.shown))

    def act(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            instance_id, _, aspect_id = event.value.partition("\n")
            state.put(instance=instance_id, aspect=aspect_id, sentence=None)

    last = _NOTE if queue.notes else _INSTANCE  # there is room for one
    frame_table(
        (*_COLUMNS, *(_WORDS if queue.with_words else ()), last),
        _cells(dataset, queue, queue.outcomes.iloc[queue.shown[page.rows]]),
        key="missed-queue",
        ids="key",
        on_event=act,
        sort=state["sort"] if state["sort"] in SORTS else "distance",
        descending=state["desc"] == "1",
        caption="Missed aspects",
        empty="No miss is left by these filters. Clear some of them."
        if queue.n_missed
        else "This run missed none of these aspects.",
        height=_HEIGHT,
    )
    page.draw(state)


def _cells(dataset: DatasetInfo, queue: Queue, misses: pd.DataFrame) -> pd.DataFrame:
    """The misses of a page as the table has them."""
    rows = misses.to_dict("records")
    ids = tuple(dict.fromkeys(misses["instance"]))
    papers = {instance.id: instance for instance in resources.store().get_many(dataset.name, ids)}
    notes = [queue.notes.get((row["instance"], row["aspect"]), ()) for row in rows]
    cells = misses.assign(
        key=misses["instance"] + "\n" + misses["aspect"],
        hypothesis=[papers[row["instance"]].hypothesis for row in rows],
        sentence=[papers[row["instance"]].sentences[row["sentence"]] for row in rows],
        rank=misses["best_rank"],
    )
    cells["found"] = [
        f"{len(row['found_by'])} of {row['n_others']}" if row["n_others"] else None for row in rows
    ]
    cells["note"] = ["; ".join(map(_note_line, those)) or None for those in notes]
    return cells.assign(causes=misses["causes"].map(_causes)) if queue.with_words else cells


def _causes(names: Sequence[str]) -> str:
    more = [CAUSES[name].title for name in names[1:] if name not in {"near", "far"}]
    return CAUSES[names[0]].title + (f" ({', '.join(more)})" if more else "")


def _note_line(note: Note) -> str:
    return f"{note.author}: {', '.join(filter(None, (cause_title(note.cause), *note.tags))) or 'note'}"
