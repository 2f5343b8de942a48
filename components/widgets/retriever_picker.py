"""Choosing up to three retrievers and their settings, or runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.choices import (
    BETWEEN,
    MOST_CHOICES,
    Choice,
    choice_of,
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
from evidencebench_core.llm import prompt, prompt_names
from evidencebench_core.retrievers import RETRIEVERS, RetrieverEntry, SettingField, full_settings
from evidencebench_core.runs import RunInfo

_LONGEST_LABEL: Final = 34  # characters of the menu's label: one line of controls has room for so many

WidgetFor = Callable[[str, object], dict[str, Any]]


def choices_of(
    state: PageState,
    param: str,
    runs: Sequence[RunInfo] = (),
    has_gold: bool = True,
    first: Sequence[Choice] = (),
) -> tuple[Choice, ...]:
    """The retrievers and runs that the address names, else the ``first``; what cannot be read is said.

    Those that ask a server are among them: it is for the page to ask them on a click only, with an estimate.
    """
    entries, linked = _entries(has_gold), _choices_in_link(state, param, runs)
    if not state[param]:
        return tuple(first) or (Choice("bm25"),)
    return tuple(choice for choice in linked if choice.run or choice.name in entries)


def draw_choices(
    state: PageState,
    param: str,
    chosen: Sequence[Choice],
    runs: Sequence[RunInfo] = (),
    has_gold: bool = True,
) -> None:
    """Draw the choice of up to three retrievers or runs, and the settings of those that are asked live."""
    entries = _entries(has_gold)
    by_option = {choice_of_run(run).option: choice_of_run(run) for run in runs}
    by_option |= {choice.option: choice for choice in chosen}
    stored = [choice.option for choice in chosen if choice.run]

    def read(options: Sequence[str]) -> str:
        if len(options) > MOST_CHOICES:
            flash("Three at most: take one away first.")
        return choices_text([by_option.get(option) or new(option) for option in options][:MOST_CHOICES])

    def new(name: str) -> Choice:
        model = session_model() if entries[name].asks_server else ""
        return Choice(name, {"model": model} if model else {})

    st.pills(
        "Retrievers (up to three)",
        [*entries, *stored],
        format_func=lambda option: by_option[option].label if option in stored else option,
        selection_mode="multi",
        wrap=True,
        help="\n".join(f"- **{name}**: {literal(entry.summary)}" for name, entry in entries.items()),
        **state.widget(param, [choice.option for choice in chosen], read),
    )
    if runs:
        st.multiselect(
            "Stored runs",
            [choice_of_run(run).option for run in runs],
            format_func=lambda option: by_option[option].label,
            placeholder="Choose a run",
            help="Nothing is asked again. For an edited hypothesis, or a task that the run has not answered, its "
            "retriever is asked now, where it can be.",
            **state.widget(
                param,
                stored,
                lambda options: read([c.option for c in chosen if not c.run] + options),
                part="runs",
            ),
        )
    if "words" in state.defaults:
        on_off_switch(
            state,
            "words",
            "Underline the words that sentences share with the hypothesis",
            help="With bm25 the thicker the more a word adds to the sentence's score; else every word alike.",
        )
    for choice in (choice for choice in chosen if not choice.run):
        with st.expander(f"Settings of {literal(choice.name)}", on_change="rerun") as fold:
            if fold.open:
                widget = _settings_widget(state, param, chosen, choice)
                settings_editor(choice.name, choice.settings, widget, in_link=True)


def _entries(has_gold: bool) -> Mapping[str, RetrieverEntry]:
    return {name: entry for name, entry in RETRIEVERS.items() if has_gold or not entry.sees_gold}


def menu_label(chosen: Sequence[Choice]) -> str:
    """The label of the menu: what is chosen, as far as there is room."""
    names = ", ".join(choice.label for choice in chosen) or "none"
    return f"Retrievers: {literal(names, _LONGEST_LABEL)}"


def _choices_in_link(state: PageState, param: str, runs: Sequence[RunInfo]) -> tuple[Choice, ...]:
    """The choices that can be read, each retriever once; what cannot be read is said, once."""
    chosen: list[Choice] = []
    problems: list[SettingError] = []
    for part in filter(None, state[param].split(BETWEEN)):
        try:
            chosen += choices_from(part, runs)
        except SettingError as error:
            problems.append(error)
    for problem in problems:
        st.warning(literal(str(problem)))
    if problems:
        state.put(**{param: choices_text(chosen)})
    return tuple({choice.option: choice for choice in chosen}.values())[:MOST_CHOICES]


def _settings_widget(state: PageState, param: str, chosen: Sequence[Choice], choice: Choice) -> WidgetFor:
    """Widgets of a choice's settings that write the changed choices into the state."""

    def widget(setting: str, value: object) -> dict[str, Any]:
        spec = RETRIEVERS[choice.name].settings.get(setting)

        def read(new: object) -> str | None:
            if new == "" and spec is not None and spec.default is None:
                new = None
            try:
                changed = choice_of(choice.name, {**choice.settings, setting: new})
            except SettingError as error:
                flash(literal(str(error)))
                changed = choice
            return choices_text([changed if other is choice else other for other in chosen])

        return state.widget(param, value, read, part=f"{choice.name}.{setting}")

    return widget


def settings_editor(
    name: str, given: Mapping[str, object], widget: WidgetFor, in_link: bool = False
) -> dict[str, object]:
    """One widget a setting; returns the settings that they show. Draws a line of text where there are none.

    ``widget`` gives, for a setting and its value, the ``key`` and ``on_change`` of its widget. What names a file or
    a model to load has none where the settings are kept ``in_link``.
    """
    entry = RETRIEVERS[name]
    loads = in_link and not entry.asks_server
    specs = {key: spec for key, spec in entry.settings.items() if not (loads and spec.is_free)}
    if not specs:
        st.caption("No settings.")
    known = _known_values if entry.asks_server else None
    return settings_fields(specs, full_settings(name, given), widget, known)


def settings_fields(
    specs: Mapping[str, SettingField],
    current: Mapping[str, object],
    widget: WidgetFor,
    known: Callable[[str], tuple[str, ...] | None] | None = None,
) -> dict[str, object]:
    """The same of any settings; ``known`` gives the values to choose from, where they are known."""
    return {
        name: _widget(name, spec, current[name], widget, known(name) if known else None)
        for name, spec in specs.items()
        if not spec.derived
    }


def _known_values(setting: str) -> tuple[str, ...] | None:
    """The choices for a setting of a retriever that asks a server; ``None`` if that is not known."""
    if setting == "model":
        return known_models() or None
    if setting in ("prompt", "final_prompt"):
        return tuple(filter(_chooses, prompt_names()))
    if setting == "examples":
        return tuple(info.name for info in resources.store().datasets())
    return None


def _chooses(name: str) -> bool:
    """Whether a prompt is for a retriever: it shows sentences to choose from, or names points to look for."""
    try:
        asks_else = name.startswith(("cited-", "annotate-"))
        return not asks_else and bool({"sentences", "n_aspects"} & prompt(name).fields)
    except SettingError:  # one of the user's that cannot be read: the retriever says why
        return True


def _widget(
    name: str, spec: SettingField, value: Any, widget: WidgetFor, known: tuple[str, ...] | None
) -> object:
    """A setting's widget; of what is ``known`` one is chosen, or none, and another model may be typed too."""
    help_text = literal(spec.help)
    if known is not None:
        return st.selectbox(
            name,
            known if value is None or value in known else (str(value), *known),
            index=None,
            placeholder="the strategy's own" if name.endswith("prompt") else "none",
            help=help_text,
            accept_new_options=name == "model",
            **widget(name, value),
        )
    if spec.choices and spec.kind is tuple:
        return tuple(st.multiselect(name, spec.choices, help=help_text, **widget(name, list(value or ()))))
    if spec.choices:
        return st.selectbox(name, spec.choices, help=help_text, **widget(name, value))
    if spec.kind is bool:
        return st.checkbox(name, help=help_text, **widget(name, bool(value)))
    if spec.kind in (int, float):
        cast = spec.kind
        low = None if spec.minimum is None else cast(spec.minimum)
        high = None if spec.maximum is None or spec.maximum > 1e9 else cast(spec.maximum)
        step = 1 if cast is int else 0.05
        shown = None if value is None else cast(value)
        return st.number_input(
            name, low, high, None, step, placeholder="none", help=help_text, **widget(name, shown)
        )
    shown_text = "" if value is None else setting_text(value)
    empty = "none" if spec.default is None else None
    text = st.text_input(name, help=help_text, placeholder=empty, **widget(name, shown_text))
    return text.strip() or spec.default if spec.default is None else text
