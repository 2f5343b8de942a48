"""All tests at once: the map of models by tasks, and the card of one model with its downloads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from components.app.page import percent
from components.app.state import PageState
from components.charts.reliability import MANY_NULLS, model_map
from components.reliability.view import View, row_title, title_of
from components.reliability.words import (
    FIGURES,
    UNREAD,
    constant_text,
    estimate_text,
    left_out_text,
    p_text,
    unread_text,
)
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import csv_button, frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, table
from evidencebench_core.export import card_frame, card_html
from evidencebench_core.reliability.card import Card, CardRow
from evidencebench_core.reliability.published import published_figures
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS

_CARD: Final = (
    Column("test", "Test", "title"),
    Column("figure", "Figure (95% interval)", "interval"),
    Column("what", "What it is"),
    Column("null", "Null", "percent", "Answers in which no label was found"),
    Column("points", "To the baseline, points (95%)", help="Paired item by item"),
    Column("p", "p, Holm", help="Sign-flip test of right and wrong, corrected for the tests of this model"),
    Column("constant", "Constant answer", help="The same figure, had every answer been the same"),
    Column(
        "published", "Published", help="Lowest and highest of the paper: other prompts, other models' dates"
    ),
    Column("n", "n", "number", "Items behind the figure"),
    Column("out", "Left out", "number"),
)
_PUBLISHED: Final = (
    Column("test", "Test"),
    Column("variant", "Variant", "id"),
    Column("model", "Model"),
    Column("figure", "Figure", "id"),
    Column("value", "Value", "percent"),
    Column("interval", "95%", "id"),
    Column("source", "Source", "id"),
    Column("remark", "Remark"),
)


def draw_overview(state: PageState, view: View) -> None:
    """The map, one model's card, the paper's own figures."""
    systems = view.systems
    if not systems:
        st.info(
            "No model was asked yet. Start runs above: choose a server and a model, see what it takes, and the tests "
            "appear here as they are answered. Below is what the paper found with models of 2023."
        )
        _draw_published()
        return
    cards = {}
    for place, name in enumerate(systems, start=1):
        with st.spinner(f"Scoring {literal(name)}, {place} of {len(systems)} …"):
            cards[name] = view.card(name)
    _draw_map(state, view, cards)
    system = state["card"] if state["card"] in cards else next(iter(cards))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("## Model card")
        if len(cards) > 1:
            st.selectbox(
                "Model", list(cards), label_visibility="collapsed", width=320, **state.widget("card", system)
            )
    _draw_card(state, view, system, cards[system])
    with st.expander("Published figures: other prompts, other models' dates"):
        _draw_published()


def _draw_map(state: PageState, view: View, cards: Mapping[str, Card]) -> None:
    rows = [
        {
            "place": (list(RELIABILITY_TASKS).index(row.task.name), row_title(row)),
            "task": row_title(row),
            "model": system,
            "text": _square_text(row.score),
            "difference": _shade(row.score),
            "null_rate": row.score.null_rate or 0.0,
            "hover": f"{FIGURES[row.score.figure]} {estimate_text(row.score.value)}, n = {row.score.n_scored:,}, "
            f"null {percent(row.score.null_rate)}",
            "key": row.score.run,
        }
        for system, card in cards.items()
        for row in card.rows
    ]
    frame = pd.DataFrame(rows).astype({"difference": float}).sort_values("place", kind="stable")
    alt = "; ".join(f"{row['model']}, {row['task']}: {row['text']}" for row in rows)
    with st.container(width=220 + 120 * len(cards)):
        event = draw_chart(
            model_map(frame, list(cards), is_dark()),
            key=f"map-{view.info.sha256[:8]}-{is_dark()}-{len(rows)}",
            alt=f"Models by tests, figures in percent: {alt}",
            clickable=True,
        )
    st.caption(
        "Each square is a model's figure in a test, in percent. Blue: better than the model's own baseline, orange: "
        "worse; a bias is the more orange the larger it is, up to 50. No colour: no difference, or none is known. "
        f"Hatched: more than {100 * MANY_NULLS:.0f}% of the answers have no label. "
        f"Click a square for its answers. {literal(unread_text(cards.values()))}"
    )
    if point := picked_point(event):
        _open_run(state, view, str(point["customdata"][0]))
        st.rerun()


def _open_run(state: PageState, view: View, run_id: str) -> None:
    """Show one test: the run behind a square or a row."""
    run = view.run(run_id)
    if run is not None:
        state.put(part="task", task=run.task.name, run=run_id, item=None)


def _shade(score: TaskScore) -> float | None:
    """The meaning of a square's colour: the difference to the baseline; of a bias how large it is."""
    if score.figure == "bias":
        return (
            None if score.value.value is None else -0.6 * score.value.value
        )  # half, the most, has the full colour
    return None if score.baseline is None else score.baseline.difference.value


def _square_text(score: TaskScore) -> str:
    if score.value.value is None:
        return "–"
    return f"{100 * score.value.value:.1f}{UNREAD if score.n_unreviewed else ''}"


def _draw_card(state: PageState, view: View, system: str, card: Card) -> None:
    table(
        _CARD,
        [Row(row.score.run, _cells(row)) for row in card.rows],
        key=f"card-{system}",
        on_open=partial(_open_run, state, view),
        caption=f"Card of {system}; a click opens a test",
    )
    st.caption(
        "Read by "
        f"{'RAmBLA’s own reader' if card.as_published else 'our reader'}; "
        f"{sum(row.score.readers_differ for row in card.rows):,} answers are read otherwise by the other one. "
        f"Intervals: 10,000 resamples. {left_out_text(card)}"
    )
    name = f"reliability-{view.items.name}-{system}"
    with st.container(horizontal=True):
        st.download_button(
            "One page for clinicians (HTML)",
            lambda: card_html(card),
            f"{name}.html",
            "text/html",
            type="primary",
            on_click="ignore",
            key=f"html-{name}",
        )
        csv_button("CSV", name, lambda: card_frame(card))
        st.download_button(
            "JSON",
            lambda: json.dumps(card.as_dict(), indent=2),
            f"{name}.json",
            "application/json",
            on_click="ignore",
            key=f"json-{name}",
        )


def _cells(row: CardRow) -> tuple[str | float | Interval | None, ...]:
    score, paired = row.score, row.score.baseline
    bounds = score.value.ci95 or (None, None)
    values = [one.value for one in score.published]
    seeds = (
        f" (seeds {row.seeds.n}: {percent(row.seeds.low)} to {percent(row.seeds.high)})" if row.seeds else ""
    )
    return (
        f"{row_title(row)}{UNREAD if score.n_unreviewed else ''}",
        None if score.value.value is None else Interval(score.value.value, *bounds),
        f"{FIGURES[score.figure]}{seeds}",
        score.null_rate,
        estimate_text(paired.difference, signed=True) if paired else None,
        None if row.p_holm is None else p_text(row.p_holm).removeprefix("= "),
        constant_text(score),
        f"{percent(min(values))} to {percent(max(values))}" if values else None,
        score.n_scored,
        sum(score.left_out.values()),
    )


def _draw_published() -> None:
    """The paper's figures, set apart."""
    st.caption(
        "From the RAmBLA paper, on PubMedQA and BioASQ. Its prompts were others and its models are of 2023: these are "
        "neighbours, not targets."
    )
    figures = [one for one in published_figures() if one.task in RELIABILITY_TASKS]
    rows = [
        {
            "test": title_of(one.task),
            "variant": one.variant or None,
            "model": one.model,
            "figure": one.figure.replace("_", " "),
            "value": one.value,
            "interval": f"{100 * one.ci95[0]:.1f}–{100 * one.ci95[1]:.1f}" if one.ci95 else None,
            "source": one.source,
            "remark": one.remark or None,
        }
        for one in figures
    ]
    frame_table(
        _PUBLISHED,
        pd.DataFrame(rows),
        key="reliability-published",
        muted=True,
        action="none",
        caption="Published figures of RAmBLA",
        height=420,
    )
