"""From a retriever's name and settings to the retriever."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import cast

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Retriever, Setting
from evidencebench_core.retrievers.ranker import CROSS_VALIDATED
from evidencebench_core.retrievers.settings import canonical_settings, names_hint
from evidencebench_core.retrievers.table import IMPORTED, RETRIEVERS, RetrieverEntry


def retriever_entries() -> Mapping[str, RetrieverEntry]:
    """All retrievers by name."""
    return RETRIEVERS


def retriever_entry(name: str) -> RetrieverEntry:
    """The entry of that name.

    Raises
    ------
    SettingError
        If there is none; the message has the nearest name.
    RetrieverError
        For the system behind an imported run.
    """
    if name == IMPORTED:
        raise RetrieverError(
            "imported run",
            "its answers came from a file, and its system is not here to be asked",
            "Import the answers that are missing.",
        )
    entry = RETRIEVERS.get(name)
    if entry is None:
        hint = names_hint(name, RETRIEVERS, "Names")
        raise SettingError("retriever", f"there is none called {shown(name)}", hint)
    return entry


def full_settings(name: str, settings: Mapping[str, object] | None = None) -> dict[str, Setting]:
    """Every setting of a retriever in canonical form, defaults filled in; fit for JSON.

    Two ways of saying the same (``{"k1": "1.50"}`` and ``{}``) give equal results.

    Raises
    ------
    SettingError
        For an unknown retriever, an unknown setting, or a value it cannot take.
    """
    entry, given = retriever_entry(name), dict(settings or {})
    nested: dict[str, dict[str, object]] = {}
    for key in [key for key in given if entry.nests and "." in key]:
        member, _, setting = key.partition(".")
        nested.setdefault(member, {})[setting] = given.pop(key)
    full = canonical_settings(f"retriever {name}", entry.settings, given)
    if not entry.nests:
        return full
    full["of"] = members = _members(name, cast("tuple[str, ...]", full["of"]))
    for member in nested:
        if member not in members:
            raise SettingError(
                f"retriever {name}",
                f"there is a setting for {shown(member)}, which is not one of its members",
                f"Members (setting of) are: {', '.join(members)}.",
            )
    for member in members:
        inner = full_settings(member, nested.get(member))
        full.update({f"{member}.{key}": value for key, value in inner.items()})
    return full


def is_derived(name: str, setting: str) -> bool:
    """Whether a retriever, or its member, fills a setting in by itself; false where it is not known."""
    member, _, own = setting.rpartition(".")
    spec = entry.settings.get(own) if (entry := RETRIEVERS.get(member or name)) else None
    return spec is not None and spec.derived


def named_to_load(name: str, settings: Mapping[str, object]) -> dict[str, str]:
    """The things that a retriever that works here is told to load by free text: files, folders, models of a hub.

    By ``retriever.setting``, of a merged retriever too; defaults are left out, and models of servers, which are asked
    for by no more than their name.
    """
    entry, found = retriever_entry(name), dict[str, str]()
    for key, value in settings.items():
        member, _, setting = key.rpartition(".") if entry.nests else ("", "", key)
        if entry.asks_server or (entry.nests and not member):
            continue
        spec = retriever_entry(member or name).settings.get(setting)
        if spec and spec.is_free and value not in (None, spec.default, CROSS_VALIDATED):
            found[f"{member or name}.{setting}"] = str(value)
    return found


def _members(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The members of a fusion, sorted: their order changes nothing, so it must not change a run's id."""
    for member in given:
        entry = retriever_entry(member)
        if entry.nests or entry.sees_gold or entry.asks_server:
            raise SettingError(
                f"retriever {name}",
                f"{member} cannot be one of its members",
                "Merge retrievers that run here and see no gold.",
            )
    if len(given) < 2 or len(set(given)) != len(given):
        raise SettingError(
            f"retriever {name}", f"of is {','.join(given)}", "Name two or more different retrievers."
        )
    return tuple(sorted(given))


def run_marks(name: str, settings: Mapping[str, Setting]) -> dict[str, str]:
    """The `RetrieverEntry.run_marks` of a retriever and of its members; none of a retriever that is not known."""
    names = {name, *(key.partition(".")[0] for key in settings if "." in key)}
    entries = [entry for known, entry in RETRIEVERS.items() if known in names]
    return {mark: value for entry in entries for mark, value in entry.run_marks.items()}


def make_retriever(
    name: str, settings: Mapping[str, object] | None = None, evidence: EvidenceSet | None = None
) -> Retriever:
    """A retriever, ready to be asked.

    Parameters
    ----------
    name : str
        One of `retriever_entries`.
    settings : mapping, optional
        Values or their text (``{"k1": "1.2"}``); what is left out has its default.
    evidence : EvidenceSet, optional
        Gold of the one instance to be asked about. It reaches the oracle and no other retriever.

    Raises
    ------
    SettingError
        For an unknown name or setting, a value it cannot take, or an oracle without gold.
    """
    entry = retriever_entry(name)
    arguments: dict[str, object] = dict(full_settings(name, settings))
    if entry.sees_gold:
        if evidence is None:
            raise SettingError(f"retriever {name}", "was given no gold", "Pass the instance's evidence.")
        arguments["evidence"] = evidence
    module, _, attribute = entry.target.partition(":")
    retriever: Retriever = getattr(importlib.import_module(module), attribute)(**arguments)
    return retriever
