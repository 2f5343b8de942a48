"""Choosing up to three retrievers and their settings, or runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.choices import (
    BETWEEN,
    MOST_CHOICES,
    Choice,
    choice_of_run,
    choices_from,
    choices_text,
    setting_text,
)
from components.app.session import flash
from components.app.state import PageState
from components.models.server import known_models, session_model
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import RETRIEVERS, SettingField, fields_of, read_settings
from evidencebench_core.runs import RunInfo

_PARAM: Final = "r"  # of the address
WidgetFor = Callable[[str, object], dict[str, Any]]


def choices_of(state: PageState, runs: Sequence[RunInfo], first: Sequence[Choice]) -> tuple[Choice, ...]:
    """The retrievers and runs that the address names, else the ``first``; what cannot be read is said, once.

    Those that ask a server are among them: it is for the page to ask them on a click only, with an estimate.
    """
    if not state[_PARAM]:
        return tuple(first) or (Choice("bm25"),)
    chosen: list[Choice] = []
    problems: list[SettingError] = []
    for part in filter(None, state[_PARAM].split(BETWEEN)):
        try:
            chosen += choices_from(part, runs)
        except SettingError as error:
            problems.append(error)
    for problem in problems:
        st.warning(literal(str(problem)))
    if problems:
        state.put(**{_PARAM: choices_text(chosen)})
    return tuple({choice.option: choice for choice in chosen}.values())[:MOST_CHOICES]


def draw_choices(state: PageState, chosen: Sequence[Choice], runs: Sequence[RunInfo]) -> None:
    """Draw the choice of up to three retrievers, with their usual settings, or runs."""
    by_option = {choice.option: choice for choice in (*map(choice_of_run, runs), *chosen)}
    live = [choice.option for choice in chosen if not choice.run]
    stored = [choice.option for choice in chosen if choice.run]

    def read(options: Sequence[str]) -> str:
        if len(options) > MOST_CHOICES:
            flash("Three at most: take one away first.")
        return choices_text([by_option.get(option) or _new(option) for option in options][:MOST_CHOICES])

    st.pills(
        "Retrievers (up to three)",
        list(RETRIEVERS),
        selection_mode="multi",
        wrap=True,
        help="\n".join(f"- **{name}**: {literal(entry.summary)}" for name, entry in RETRIEVERS.items()),
        **state.widget(_PARAM, live, lambda options: read([*options, *stored]), part="live"),
    )
    if runs:
        st.multiselect(
            "Stored runs",
            [choice_of_run(run).option for run in runs],
            format_func=lambda option: by_option[option].label,
            placeholder="Choose a run",
            help="Nothing is asked again. For an edited hypothesis, or a task that the run has not answered, its "
            "retriever is asked now, where it can be.",
            **state.widget(_PARAM, stored, lambda options: read([*live, *options]), part="runs"),
        )
    on_off_switch(
        state,
        "words",
        "Underline the words that sentences share with the hypothesis",
        help="With bm25 the thicker the more a word adds to the sentence's score; else every word alike.",
    )


def _new(name: str) -> Choice:
    model = session_model() if RETRIEVERS[name].asks_server else ""
    return Choice(name, {"model": model} if model else {})


def settings_fields(name: str, widget: WidgetFor) -> dict[str, object]:
    """One widget a setting of a retriever; returns the settings that they show.

    ``widget`` gives, for a setting and its value, the ``key`` and ``on_change`` of its widget.
    """
    entry, current = RETRIEVERS[name], read_settings(name).values()
    known = _known_values() if entry.asks_server else {}
    return {
        key: _draw_field(field, current[key], partial(widget, key), known.get(key))
        for key, field in fields_of(entry.settings_class).items()
    }


def _known_values() -> dict[str, list[str]]:
    """What can be chosen for settings of a retriever that asks a server, as far as that is known."""
    datasets = [info.name for info in resources.store().datasets()]
    models = list(known_models())
    return {"examples": datasets, **({"model": models} if models else {})}


def _draw_field(
    field: SettingField, value: Any, widget: Callable[[object], dict[str, Any]], known: list[str] | None
) -> object:
    """A setting's widget; of what is ``known`` one is chosen, or none, and another model may be typed too."""
    label, help_text = field.name, literal(field.help)
    if known is not None:
        return st.selectbox(
            label,
            known if value is None or value in known else [str(value), *known],
            index=None,
            placeholder="none",
            help=help_text,
            accept_new_options=label == "model",
            **widget(value),
        )
    if field.choices:
        return st.selectbox(label, field.choices, help=help_text, **widget(value))
    if field.kind is bool:
        return st.checkbox(label, help=help_text, **widget(bool(value)))
    if field.kind in (int, float):
        kind = field.kind
        low = None if field.minimum is None else kind(field.minimum)
        high = None if field.maximum is None or field.maximum > 1e9 else kind(field.maximum)
        step = 1 if kind is int else 0.05
        shown = None if value is None else kind(value)
        return st.number_input(
            label, low, high, None, step, placeholder="none", help=help_text, **widget(shown)
        )
    shown_text = "" if value is None else setting_text(value)
    is_optional = field.default is None
    text = st.text_input(
        label, help=help_text, placeholder="none" if is_optional else None, **widget(shown_text)
    )
    return text.strip() or None if is_optional else text
