"""A run before it begins: its identity, and its retriever, connected to a server where it asks one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import (
    Retriever,
    ServedRetriever,
    full_settings,
    make_retriever,
    retriever_entry,
)
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.trained import training_behind
from evidencebench_core.runs.variant import Variant

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm.session import Session


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that could begin."""

    dataset: DatasetInfo
    spec: RunSpec
    retriever_for: Callable[[EvidenceSet], Retriever]
    served: ServedRetriever | None = None
    session: Session | None = None
    trained: Mapping[str, TrainedOn] = field(default_factory=dict)


def prepared(
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None = None,
    variant: Variant | None = None,
    session: Session | None = None,
) -> Prepared:
    """Check what is to be run, and make its retriever; nothing is asked or stored."""
    info = store.dataset(dataset)
    full = full_settings(retriever, settings)
    name, digest = (variant.name, variant.digest) if variant else ("", "")
    if retriever_entry(retriever).sees_gold:
        _refuse(retriever, session)
        return Prepared(
            info,
            RunSpec(info.sha256, retriever, full, name, digest),
            lambda evidence: make_retriever(retriever, full, evidence=evidence),
        )
    made = make_retriever(retriever, full)
    if not isinstance(made, ServedRetriever):
        _refuse(retriever, session)
        # What a retriever filled in itself, such as the digest of a model, belongs to the run's identity.
        filled = {key: value for key, value in made.settings.items() if key in full}
        spec = RunSpec(info.sha256, retriever, {**full, **filled}, name, digest)
        return Prepared(info, spec, lambda _: made, trained=training_behind(made, spec.settings))
    if session is None:
        from evidencebench_core.retrievers.llm.session import session_for

        session = session_for(store)
    served = made.connected(session)
    spec = RunSpec(info.sha256, retriever, served.settings, name, digest)
    return Prepared(info, spec, lambda _: served, served, session)


def _refuse(retriever: str, session: Session | None) -> None:
    if session is not None:
        raise SettingError(
            f"retriever {retriever}",
            "asks no server",
            "Leave out what is for one: concurrency, fresh answers, caps in calls, tokens and money.",
        )
