"""Choosing up to three retrievers and their settings, and how a choice is written in a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from components.markdown import literal
from components.state import PageState
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import SettingSpec, full_settings, retriever_entries

__all__ = [
    "Choice",
    "changed_settings",
    "choices_from",
    "choices_text",
    "retriever_picker",
    "settings_editor",
]

_SEPARATORS = ("~", ";")  # between choices, within a choice


@dataclass(frozen=True, slots=True)
class Choice:
    """A retriever with the settings that differ from its defaults."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``bm25 k1=1.2``."""
        return " ".join([self.name, *(f"{key}={_text(value)}" for key, value in self.settings.items())])


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def choices_text(choices: Sequence[Choice]) -> str:
    """``bm25;k1=1.2~dense``."""
    between, within = _SEPARATORS
    return between.join(
        within.join([choice.name, *(f"{key}={_text(value)}" for key, value in choice.settings.items())])
        for choice in choices
    )


def choices_from(text: str) -> tuple[Choice, ...]:
    """The inverse of `choices_text`.

    Raises
    ------
    SettingError
        If a link names a retriever or a setting that there is none of.
    """
    between, within = _SEPARATORS
    choices = []
    for part in filter(None, text.split(between)):
        name, *pairs = part.split(within)
        given = dict(pair.partition("=")[::2] for pair in pairs)
        choices.append(_choice(name, given))
    return tuple(choices[:3])


def _choice(name: str, given: Mapping[str, object]) -> Choice:
    return Choice(name, changed_settings(name, given))


def changed_settings(name: str, given: Mapping[str, object]) -> dict[str, object]:
    """The settings that differ from the retriever's defaults."""
    full, defaults = full_settings(name, given), full_settings(name, {})
    return {key: value for key, value in full.items() if value != defaults.get(key)}


def retriever_picker(state: PageState, param: str) -> tuple[Choice, ...]:
    """Pills for the retrievers, a popover for their settings; up to three are kept, in order."""
    try:
        chosen = choices_from(state[param])
    except SettingError as error:
        st.warning(literal(str(error)))
        chosen = ()
    by_name = {choice.name: choice for choice in chosen}

    def read(names: Sequence[str]) -> str:
        return choices_text([by_name.get(name, Choice(name)) for name in names][:3])

    entries = {name: entry for name, entry in retriever_entries().items() if entry.problem is None}
    widget = state.widget(param, list(by_name), read)
    st.pills(
        "Retrievers (up to three)",
        list(entries),
        selection_mode="multi",
        wrap=True,
        help="\n".join(f"- **{name}**: {literal(entry.summary)}" for name, entry in entries.items()),
        **widget,
    )
    with st.popover("Settings", disabled=not chosen):
        changed = tuple(_edited(choice) for choice in chosen)
    if changed != chosen:
        state.put(**{param: choices_text(changed)})
        st.rerun()
    return chosen


def _edited(choice: Choice) -> Choice:
    st.markdown(f"**{literal(choice.name)}**")
    return _choice(choice.name, settings_editor(choice.name, choice.settings, key=f"live.{choice.name}"))


def settings_editor(name: str, given: Mapping[str, object], key: str) -> dict[str, object]:
    """One widget a setting; returns all values. Draws a line of text where there are none."""
    entry = retriever_entries()[name]
    current = full_settings(name, given)
    values: dict[str, object] = {k: v for k, v in given.items() if k not in entry.settings}
    for setting, spec in entry.settings.items():
        values[setting] = _widget(setting, spec, current[setting], f"{key}.{setting}")
    if not entry.settings:
        st.caption("No settings.")
    return values


def _widget(name: str, spec: SettingSpec, value: Any, key: str) -> object:
    help_text = literal(spec.help)
    if spec.choices and spec.kind is tuple:
        return tuple(st.multiselect(name, spec.choices, list(value or ()), key=key, help=help_text)) or value
    if spec.choices:
        return st.selectbox(name, spec.choices, spec.choices.index(value), key=key, help=help_text)
    if spec.kind is bool:
        return st.checkbox(name, bool(value), key=key, help=help_text)
    if spec.kind in (int, float) and value is not None:
        cast = spec.kind
        low = None if spec.minimum is None else cast(spec.minimum)
        high = None if spec.maximum is None or spec.maximum > 1e9 else cast(spec.maximum)
        step = 1 if cast is int else 0.05
        return st.number_input(name, low, high, cast(value), step=step, key=key, help=help_text)
    return st.text_input(name, _text(value) if value is not None else "", key=key, help=help_text) or value
