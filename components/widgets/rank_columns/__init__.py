"""Two rankings of one paper in columns, the ranks of every sentence that either picked joined by lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.widgets.component import component, sentence_event
from components.widgets.sentence_note import LETTERS
from components.widgets.switches import on_off_switch, option_switch
from evidencebench_core.analyses.divergence import rank_frame
from evidencebench_core.data import Instance
from evidencebench_core.data.model import Focus
from evidencebench_core.export.reader import FOLDER
from evidencebench_core.metrics import marks
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.words import quantity

__all__ = ["COLUMN_DEFAULTS", "column_data", "draw_columns", "draw_columns_switch"]

COLUMN_DEFAULTS: Final = {"columns": "", "order": "differences", "pair": "AB"}
_ORDERS: Final = {"differences": "Differences first", "rank": "By rank"}
_MOST: Final = 60  # sentences: of a task without a budget a run may pick hundreds

_component = component(
    "rank_columns",
    Path(__file__).parent,
    '<div class="ranks"></div>',
    palette=".ranks",
    before=(FOLDER / "draw.js",),
)


def draw_columns_switch(
    state: PageState, instance: Instance, answers: Mapping[str, Retrieval], focus: Focus
) -> None:
    """On *Browse*: a switch that shows the columns where there are two answers; a click lights the sentence."""
    if len(answers) > 1 and on_off_switch(state, "columns", "Rankings side by side"):
        draw_columns(state, instance, answers, focus, lambda index: state.put(sentence=index))


def draw_columns(
    state: PageState,
    instance: Instance,
    answers: Mapping[str, Retrieval],
    focus: Focus,
    on_sentence: Callable[[int], None],
) -> None:
    """Draw two of the answers, by label, with the order and, of three, the pair that the state names.

    ``on_sentence`` hears the index of a sentence that was clicked.
    """
    pairs = {f"{LETTERS[a]}{LETTERS[b]}": (a, b) for a, b in combinations(range(len(answers)), 2)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = option_switch(state, "order", "Order", _ORDERS, label_visibility="collapsed")
        if len(pairs) > 1:
            words = {name: f"{name[0]} and {name[1]}" for name in pairs}
            option_switch(state, "pair", "Rankings", words, label_visibility="collapsed")
    places = pairs.get(state["pair"], (0, 1))
    labels, both = list(answers), list(answers.values())
    chosen = [(f"{LETTERS[place]} {labels[place]}", both[place]) for place in places]
    frame = rank_frame(chosen[0][1], chosen[1][1])
    shown = frame.head(_MOST)
    data = column_data(instance, chosen, shown, focus, grouped=order == "differences")
    data["selected"] = state.number("sentence") if "sentence" in state.defaults else None
    key = f"columns-{state.page}"
    _component(key=key, data=data, on_event_change=sentence_event(key, set(shown["sentence"]), on_sentence))
    n_differ = int(frame["differs"].sum())
    more = f" The {_MOST} whose ranks differ most are shown." if len(frame) > _MOST else ""
    st.caption(
        f"{quantity(len(frame), 'sentence')} that either picked, {n_differ} of them by one only.{more} "
        "Numbers are ranks; a line joins the ranks of one sentence. A click shows it in the paper."
    )


def column_data(
    instance: Instance,
    answers: Sequence[tuple[str, Retrieval]],
    frame: pd.DataFrame,
    focus: Focus,
    *,
    grouped: bool,
) -> dict[str, Any]:
    """The columns as the browser gets them; ``frame`` is of `rank_frame`, ``answers`` two by name.

    ``sentences`` by index; ``groups``, each with a title and two lists of indices: picks first, then the others.
    """
    aspects = [
        (place, aspect)
        for place, aspect in enumerate(instance.evidence.aspects)
        if focus == "all" or aspect.is_result
    ]
    covers = [frozenset(aspect.sentence_indices) for _, aspect in aspects]
    marked = [marks(answer.selection, covers, len(instance.sentences)) for _, answer in answers]
    sentences = {}
    for row in frame.to_dict("records"):
        index = int(row["sentence"])
        sentences[str(index)] = {
            "text": instance.sentences[index],
            "ranks": [None if pd.isna(row[f"rank_{n}"]) else int(row[f"rank_{n}"]) for n in "ab"],
            "picked": [bool(row[f"picked_{n}"]) for n in "ab"],
            "marks": [of_answer[index] for of_answer in marked],
            "aspects": [
                {"place": place, "label": aspect.label, "text": aspect.text or ""}
                for place, aspect in aspects
                if index in aspect.sentence_indices
            ],
        }
    parts = [("", frame)]
    if grouped:
        one, both = frame[frame["differs"]], frame[~frame["differs"]]
        parts = [(f"Picked by one only: {len(one)}", one), (f"Picked by both: {len(both)}", both)]
    return {
        "names": [name for name, _ in answers],
        "sentences": sentences,
        "groups": [
            {"title": title, "columns": [_column(part, name) for name in "ab"]}
            for title, part in parts
            if len(part)
        ],
    }


def _column(frame: pd.DataFrame, name: str) -> list[int]:
    order = frame.assign(others=~frame[f"picked_{name}"])
    ordered = order.sort_values(["others", f"rank_{name}", "sentence"], na_position="last")["sentence"]
    return [int(index) for index in ordered]
