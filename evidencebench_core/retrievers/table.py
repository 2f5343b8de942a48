"""The retrievers by name, and from a name and settings to a retriever."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Retriever
from evidencebench_core.retrievers.baselines import AbstractTail, Lead, Oracle, RandomOrder
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.retrievers.composed import Hybrid, Rerank
from evidencebench_core.retrievers.dense import Dense, Embeddings
from evidencebench_core.retrievers.llm.retriever import LanguageModel
from evidencebench_core.retrievers.ranker.retriever import CROSS_VALIDATED, EvidenceRanker
from evidencebench_core.retrievers.ranker.structure import Structure
from evidencebench_core.retrievers.settings import Setting, Settings, names_hint

_CLASSES: Final[tuple[type[Retriever], ...]] = (
    RandomOrder, Oracle, Lead, AbstractTail, Bm25, Dense, Hybrid, Rerank, Structure, EvidenceRanker, LanguageModel,
    Embeddings,
)  # fmt: skip
RETRIEVERS: Final[Mapping[str, type[Retriever]]] = MappingProxyType({entry.name: entry for entry in _CLASSES})
"""The classes of the retrievers by name; `make_retriever` makes one that is ready."""

IMPORTED: Final = "imported"
OWN: Final = "own"
OFFICIAL: Final = "official"
ANNOTATOR: Final = "annotator"
ELSEWHERE: Final = {
    IMPORTED: "its answers came from a file",
    OWN: "it is a user's own system",
    OFFICIAL: "its scores came from the authors' log",
    ANNOTATOR: "it is a person",
}
"""Stand as the retriever of runs that no name here can ask, and why."""


def retriever_entry(name: str) -> type[Retriever]:
    """The retriever of that name; `SettingError` if there is none, `RetrieverError` if it is not run here."""
    if name in ELSEWHERE:
        remedy = "Import or evaluate it again for the answers that are missing."
        raise RetrieverError(f"{name} run", f"cannot be asked: {ELSEWHERE[name]}", remedy)
    if name not in RETRIEVERS:
        hint = names_hint(name, RETRIEVERS, "Names")
        raise SettingError(f"retriever {shown(name)}", "is not known", hint)
    return RETRIEVERS[name]


def read_settings(name: str, settings: Mapping[str, object] | None = None) -> Settings:
    """All settings of a retriever in canonical form, defaults filled in: ``{"k1": "1.50"}`` gives what ``{}`` does.

    `SettingError` for an unknown retriever, an unknown setting, or a value it cannot take.
    """
    return retriever_entry(name).settings_class.read(f"retriever {name}", settings)


def make_retriever(
    name: str,
    settings: Mapping[str, object] | None = None,
    *,
    store: Store | None = None,
    gold: EvidenceSet | None = None,
) -> Retriever:
    """One of `RETRIEVERS`, ready to be asked; settings are values or their text (``{"k1": "1.2"}``).

    In the ``store`` those that ask a server keep its answers; they cannot do without. ``gold``, of the one instance to
    be asked about, reaches the oracle and no other retriever.
    """
    entry = retriever_entry(name)
    needs: dict[str, Any] = {"gold": gold} if entry.sees_gold else {"store": store}
    return entry(read_settings(name, settings), **needs)


def run_label(name: str, settings: Mapping[str, Setting], extra: str = "") -> str:
    """A retriever in a line: its settings that are not defaults, and what else the run is named by.

    ``"bm25 k1=1.2"``, ``"hybrid of=bm25+dense [negation]"``.
    """
    if name in ELSEWHERE:
        words, defaults = [f"{settings['name']} ({name})"], {"name": settings["name"]}
    else:
        words, defaults = [name], read_settings(name).values() if name in RETRIEVERS else {}
    for setting, value in settings.items():
        if (setting != "of" or not value) and defaults.get(setting, ...) == value:
            continue
        text = "+".join(map(str, value)) if isinstance(value, tuple) else value
        words.append(CROSS_VALIDATED if value == CROSS_VALIDATED else f"{setting}={text}")
    return " ".join([*words, f"[{extra}]"] if extra else words)
