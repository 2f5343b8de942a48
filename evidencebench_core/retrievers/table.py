"""The retrievers by name, and from a name and settings to a retriever."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Retriever
from evidencebench_core.retrievers.baselines import AbstractTail, Lead, RandomOrder
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.retrievers.dense import Dense, Embeddings
from evidencebench_core.retrievers.hybrid import Hybrid
from evidencebench_core.retrievers.llm.retriever import LanguageModel
from evidencebench_core.retrievers.oracle import Oracle
from evidencebench_core.retrievers.ranker.retriever import CROSS_VALIDATED, EvidenceRanker
from evidencebench_core.retrievers.ranker.structure import Structure
from evidencebench_core.retrievers.settings import Setting, fields_of, names_hint

IMPORTED: Final = "imported"  # stands as the retriever of runs whose answers came from a file

_CLASSES: Final[tuple[type[Retriever], ...]] = (
    *(RandomOrder, Oracle, Lead, AbstractTail, Bm25, Dense, Hybrid, Structure, EvidenceRanker),
    *(LanguageModel, Embeddings),
)
RETRIEVERS: Final[Mapping[str, type[Retriever]]] = MappingProxyType(
    {retriever.name: retriever for retriever in _CLASSES}
)


def retriever_entry(name: str) -> type[Retriever]:
    """The retriever of that name; `SettingError` if there is none, `RetrieverError` for an imported run's."""
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
    return retriever_entry(name).read(f"retriever {name}", settings).settings


def is_derived(name: str, setting: str) -> bool:
    """Whether a retriever, or its member, fills a setting in by itself; false where it is not known."""
    member, _, key = setting.rpartition(".")
    retriever = RETRIEVERS.get(member or name)
    return retriever is not None and key in retriever.derived


def run_label(name: str, settings: Mapping[str, Setting], variant: str = "") -> str:
    """A retriever in a line: its settings that are not defaults, and the variant of the dataset.

    ``"bm25 k1=1.2"``, ``"hybrid of=bm25+dense [negation]"``.
    """
    if name == IMPORTED:
        return f"{settings['name']} (imported)"
    members = {"of": settings["of"]} if "of" in settings else {}
    defaults = full_settings(name, members) if name in RETRIEVERS else {}
    words = [name]
    for setting, value in settings.items():
        if is_derived(name, setting) or (setting != "of" and defaults.get(setting, ...) == value):
            continue
        text = "+".join(map(str, value)) if isinstance(value, tuple) else value
        words.append(CROSS_VALIDATED if value == CROSS_VALIDATED else f"{setting}={text}")
    return " ".join([*words, f"[{variant}]"] if variant else words)


def named_to_load(name: str, settings: Mapping[str, object]) -> dict[str, str]:
    """The files, folders and models of a hub that a retriever that works here is told to load, defaults left out.

    By ``retriever.setting``, of the members of a fusion too.
    """
    named = {}
    for key, value in settings.items():
        member, _, setting = key.rpartition(".")
        retriever = retriever_entry(member or name)
        field = fields_of(retriever).get(setting)
        if field is None or field.kind is not str or field.choices or retriever.asks_server:
            continue
        if value not in (field.default, CROSS_VALIDATED):
            named[f"{retriever.name}.{setting}"] = str(value)
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
    retriever = retriever_entry(name).read(f"retriever {name}", settings)
    if isinstance(retriever, Oracle):
        retriever = retriever.with_gold(evidence)
    return retriever.prepared()
