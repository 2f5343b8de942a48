"""A retriever with its settings, and how up to three of them are written in a link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from evidencebench_core.data import Store
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError
from evidencebench_core.retrievers import (
    CROSS_VALIDATED,
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
        return settings.get("evidence-ranker.model", "default") == "default"
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
    """The settings, of members too, that name a folder of prompts, or a file, a folder or a model of a hub to load."""
    places = []
    for key, value in settings.items():
        member, _, setting = key.rpartition(".")
        retriever = retriever_entry(member or name)
        field_of = fields_of(retriever.settings_class).get(setting)
        if field_of is None or field_of.kind is not str or field_of.choices:
            continue
        if retriever.asks_server and setting != "prompts":
            continue
        if value not in (field_of.default, CROSS_VALIDATED):
            places.append(f"{retriever.name}.{setting}")
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
