"""From a retriever's name and settings to the retriever."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import cast

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Retriever, Setting
from evidencebench_core.retrievers.settings import names_hint
from evidencebench_core.retrievers.table import (
    CROSS_VALIDATED,
    IMPORTED,
    RETRIEVERS,
    HybridSettings,
    RetrieverEntry,
)


def retriever_entry(name: str) -> RetrieverEntry:
    """The entry of that name; `SettingError` if there is none, `RetrieverError` for an imported run's."""
    if name == IMPORTED:
        problem = "its answers came from a file, and its system is not here to be asked"
        raise RetrieverError("imported run", problem, "Import the answers that are missing.")
    if name not in RETRIEVERS:
        hint = names_hint(name, RETRIEVERS, "Names")
        raise SettingError("retriever", f"there is none called {shown(name)}", hint)
    return RETRIEVERS[name]


def full_settings(name: str, settings: Mapping[str, object] | None = None) -> dict[str, Setting]:
    """Every setting of a retriever in canonical form, defaults filled in: ``{"k1": "1.50"}`` gives what ``{}`` does.

    `SettingError` for an unknown retriever, an unknown setting, or a value it cannot take.
    """
    full = retriever_entry(name).model.read(f"retriever {name}", settings).values()
    return _with_members(full) if name == "hybrid" else full


def _with_members(full: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings of a fusion, with all those of its members.

    Members are sorted: their order changes nothing, so it must not change a run's id.
    """
    owner, names = "retriever hybrid", cast("tuple[str, ...]", full["of"])
    if len(names) < 2 or len(set(names)) != len(names):
        raise SettingError(owner, f"of is {','.join(names)}", "Name two or more different retrievers.")
    by_member: dict[str, dict[str, object]] = {name: {} for name in sorted(names)}
    for name in by_member:
        entry = retriever_entry(name)
        if name == "hybrid" or entry.sees_gold or entry.asks_server:
            remedy = "Merge retrievers that run here and see no gold."
            raise SettingError(owner, f"{name} cannot be one of its members", remedy)
    settings_by_key = {key: value for key, value in full.items() if key in HybridSettings.model_fields}
    for key in full.keys() - settings_by_key.keys():
        member, _, setting = key.partition(".")
        if member not in by_member:
            problem = f"there is a setting for {shown(member)}, which is not one of its members"
            raise SettingError(owner, problem, f"Members (setting of) are: {', '.join(by_member)}.")
        by_member[member][setting] = full[key]
    settings_by_key["of"] = tuple(by_member)
    for member, settings in by_member.items():
        settings_by_key |= {
            f"{member}.{key}": value for key, value in full_settings(member, settings).items()
        }
    return settings_by_key


def is_derived(name: str, setting: str) -> bool:
    """Whether a retriever, or its member, fills a setting in by itself; false where it is not known."""
    member, _, setting_name = setting.rpartition(".")
    entry = RETRIEVERS.get(member or name)
    return entry is not None and setting_name in entry.settings and entry.settings[setting_name].derived


def named_to_load(name: str, settings: Mapping[str, object]) -> dict[str, str]:
    """The files, folders and models of a hub that a retriever that works here is told to load, defaults left out.

    By ``retriever.setting``, of the members of a fusion too.
    """
    named = {}
    for key, value in settings.items():
        member, _, setting_name = key.rpartition(".")
        entry = retriever_entry(member or name)
        field = entry.settings.get(setting_name)
        if entry.asks_server or entry.name == "hybrid" or field is None or not field.is_free:
            continue
        if value not in (None, field.default, CROSS_VALIDATED):
            named[f"{entry.name}.{setting_name}"] = str(value)
    return named


def make_retriever(
    name: str, settings: Mapping[str, object] | None = None, evidence: EvidenceSet | None = None
) -> Retriever:
    """A retriever, ready to be asked.

    Parameters
    ----------
    name : str
        One of `RETRIEVERS`.
    settings : mapping, optional
        Values or their text (``{"k1": "1.2"}``); what is left out has its default.
    evidence : EvidenceSet, optional
        Gold of the one instance to be asked about. It reaches the oracle and no other retriever.
    """
    entry = retriever_entry(name)
    arguments: dict[str, object] = dict(full_settings(name, settings))
    if entry.sees_gold:
        if evidence is None:
            raise SettingError(f"retriever {name}", "was given no gold", "Pass the instance's evidence.")
        arguments["evidence"] = evidence
    module, _, attribute = entry.target.partition(":")
    home = importlib.import_module(f"evidencebench_core.retrievers.{module}")
    retriever: Retriever = getattr(home, attribute)(**arguments)
    return retriever
