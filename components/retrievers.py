"""Retrievers with their settings: how a link writes them, and how people choose them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

from components import resources
from components.markdown import literal
from components.server import known_models, session_model
from components.state import PageState
from evidencebench_core.data import Store
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError
from evidencebench_core.retrievers import (
    CROSS_VALIDATED,
    RETRIEVERS,
    SettingField,
    fields_of,
    make_retriever,
    read_settings,
    retriever_entry,
)
from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model
from evidencebench_core.runs import RunInfo

MOST_CHOICES: Final = 3  # as many as the reader can tell apart
BETWEEN, WITHIN = "~", ";"  # choices, and the parts of a choice


@dataclass(frozen=True, slots=True)
class Choice:
    """A retriever with the settings that differ from its defaults."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``bm25 k1=1.2``."""
        return " ".join(self._parts)

    @property
    def text(self) -> str:
        """As a link has it: ``bm25;k1=1.2``."""
        return WITHIN.join(self._parts)

    @property
    def cache_key(self) -> str:
        """Tells its answers from others'; has the digest of the ranker that is there now, where one is used.

        A ranker that cannot be read has none: a cache asks for keys, and no error comes whole out of one. Whoever
        asks the retriever is told.
        """
        settings = dict(self.settings)
        if uses_default_ranker(self.name, settings):
            with suppress(RetrieverError):
                _, settings["weights"] = read_model(model_folder("default"))
        return json.dumps([self.name, settings], sort_keys=True)

    @property
    def _parts(self) -> list[str]:
        return [self.name, *(f"{key}={setting_text(value)}" for key, value in self.settings.items())]


def uses_default_ranker(name: str, settings: Mapping[str, object]) -> bool:
    """Whether a retriever is, or merges, the ranker that was trained here last, or the shipped one."""
    members = [part.strip() for part in setting_text(settings.get("of", "")).split(",")]
    if name == "hybrid" and "evidence-ranker" in members:
        return True
    return name == "evidence-ranker" and settings.get("model", "default") == "default"


def setting_text(value: object) -> str:
    """A setting as a link and a label have it."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def choices_text(choices: Iterable[Choice]) -> str:
    """``bm25;k1=1.2~dense``."""
    return BETWEEN.join(choice.text for choice in choices)


def choice_from(text: str) -> Choice:
    """The choice that a link names; ``SettingError`` for an unknown retriever or setting.

    A link may name no file and no model to load.
    """
    name, *pairs = text.split(WITHIN)
    choice = choice_of(name, dict(pair.partition("=")[::2] for pair in pairs))
    for place in _named_to_load(choice.name, choice.settings):
        raise SettingError(
            f"setting {place}", "cannot come from a link", "Start a run with it, and open that."
        )
    return choice


def _named_to_load(name: str, settings: Mapping[str, object]) -> list[str]:
    """The settings that name a folder of prompts, or a file, a folder or a model of a hub to load."""
    entry = retriever_entry(name)
    fields = fields_of(entry.settings_class)
    places = []
    for key, value in settings.items():
        if fields[key].kind is not str or fields[key].choices:
            continue
        if entry.asks_server and key != "prompts":
            continue
        if value not in (fields[key].default, CROSS_VALIDATED):
            places.append(f"{name}.{key}")
    return places


def choice_of(name: str, given: Mapping[str, object]) -> Choice:
    """A retriever with those of the given settings that differ from its defaults."""
    full, defaults = read_settings(name, given).values(), read_settings(name).values()
    return Choice(name, {key: value for key, value in full.items() if value != defaults.get(key)})


def problem_of(run: RunInfo, store: Store) -> str:
    """Why a run's retriever can be asked nothing more (it was cross-validated, say, or is not installed), or ""."""
    try:
        if not retriever_entry(run.retriever).sees_gold:
            make_retriever(run.retriever, run.settings, store=store)
    except EvidenceBenchError as error:
        return str(error)
    return ""


_PARAM: Final = "live"  # of the address
_PROBLEM: Final = "live-problem"  # of the session: what was typed and is no retriever


def live_choices(state: PageState) -> tuple[Choice, ...]:
    """The retrievers that the address names; what cannot be read is said, once.

    Those that ask a server are among them: it is for the page to ask them on a click only, with an estimate.
    """
    chosen: dict[str, Choice] = {}
    for part in filter(None, state[_PARAM].split(BETWEEN)):
        try:
            choice = choice_from(part)
            chosen[choice.text] = choice
        except SettingError as error:
            st.warning(literal(str(error)))
    choices = tuple(chosen.values())[:MOST_CHOICES]
    if choices_text(choices) != state[_PARAM]:
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


def draw_settings(name: str) -> dict[str, object]:
    """What a retriever does, and its settings, folded, one widget a setting; the settings that they show."""
    entry, current = RETRIEVERS[name], read_settings(name).values()
    fields = fields_of(entry.settings_class)
    title = f"**{literal(name)}**: {literal(entry.summary)}"
    if not fields:
        st.caption(title)
        return {}
    model = session_model() if entry.asks_server else ""
    known = {}
    if entry.asks_server:
        known["examples"] = [info.name for info in resources.store().datasets()]
        if models := list(known_models()):
            known["model"] = models
    settings: dict[str, object] = {}
    with st.expander(title):
        for key, field_of in fields.items():
            # The model is the session's to begin with; with another model it is another field.
            of_session = model if key == "model" else ""
            widget_key = f"run.{name}.{key}.{of_session}"
            settings[key] = _draw_field(field_of, of_session or current[key], widget_key, known.get(key))
    return settings


def _draw_field(field: SettingField, value: Any, key: str, known: list[str] | None) -> object:
    """A setting's widget; of what is ``known`` one is chosen, or none, and another model may be typed too."""
    label = literal(field.name)
    is_number = field.kind in (int, float)
    options: dict[str, Any] = {"help": literal(field.help), "key": key}
    if known is None and not (field.choices or is_number or field.kind is bool):
        st.session_state.setdefault(key, "" if value is None else setting_text(value))
        is_optional = field.default is None
        text = st.text_input(label, placeholder="none" if is_optional else None, **options)
        return text.strip() or None if is_optional else text
    if value is not None and (is_number or field.kind is bool):
        value = field.kind(value)
    st.session_state.setdefault(key, value)
    if known is not None:
        choices = known if value is None or value in known else [str(value), *known]
        options |= {"index": None, "placeholder": "none", "accept_new_options": field.name == "model"}
        return st.selectbox(label, choices, **options)
    if field.choices:
        return st.selectbox(label, field.choices, **options)
    if field.kind is bool:
        return st.checkbox(label, **options)
    low = None if field.minimum is None else field.kind(field.minimum)
    high = None if field.maximum is None or field.maximum > 1e9 else field.kind(field.maximum)
    step = 1 if field.kind is int else 0.05
    return st.number_input(label, low, high, None, step, placeholder="none", **options)
