"""Choosing up to three retrievers that answer here and now, and the settings of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.choices import (
    BETWEEN,
    MOST_CHOICES,
    WITHIN,
    Choice,
    choice_from,
    choices_text,
    setting_text,
)
from components.app.state import PageState
from components.models.server import known_models, session_model
from components.widgets.markdown import literal
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import RETRIEVERS, SettingField, fields_of, read_settings

_PARAM: Final = "live"  # of the address
_PROBLEM: Final = "live-problem"  # of the session: what was typed and is no retriever
WidgetFor = Callable[[str, object], dict[str, Any]]


def live_choices(state: PageState) -> tuple[Choice, ...]:
    """The retrievers that the address names; what cannot be read is said, once.

    Those that ask a server are among them: it is for the page to ask them on a click only, with an estimate.
    """
    chosen: dict[str, Choice] = {}
    problems: list[SettingError] = []
    for part in filter(None, state[_PARAM].split(BETWEEN)):
        try:
            choice = choice_from(part)
            chosen[choice.text] = choice
        except SettingError as error:
            problems.append(error)
    for problem in problems:
        st.warning(literal(str(problem)))
    choices = tuple(chosen.values())[:MOST_CHOICES]
    if problems or len(chosen) > MOST_CHOICES:
        state.put(**{_PARAM: choices_text(choices)})
    return choices


def draw_live_picker(state: PageState, chosen: Sequence[Choice]) -> None:
    """Choose up to three retrievers; typed settings make another one of the same retriever."""
    labels = {choice.text: choice.label for choice in chosen}

    def read(options: Sequence[str]) -> str:
        choices = []
        for option in options:
            try:
                choices.append(_typed(option))
            except SettingError as error:
                st.session_state[_PROBLEM] = str(error)
        return choices_text(choices)

    st.multiselect(
        "Retrievers asked now",
        [*labels, *(name for name in RETRIEVERS if name not in labels)],
        format_func=lambda option: labels.get(option, option),
        max_selections=MOST_CHOICES,
        accept_new_options=True,
        placeholder="Choose, or type: bm25 k1=0.9",
        help="\n".join(f"- **{name}**: {literal(entry.summary)}" for name, entry in RETRIEVERS.items()),
        **state.widget(_PARAM, [*labels], read),
    )
    if problem := st.session_state.pop(_PROBLEM, ""):
        st.error(literal(problem))


def _typed(text: str) -> Choice:
    """The choice of an option, or of a text as a label has it."""
    choice = choice_from(WITHIN.join(text.split()))
    model = session_model() if RETRIEVERS[choice.name].asks_server else ""
    return Choice(choice.name, {"model": model, **choice.settings}) if model else choice


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
