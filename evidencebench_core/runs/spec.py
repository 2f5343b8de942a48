"""A run: what it is about, how it is asked for, what it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evidencebench_core.data.records import digest
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers import CROSS_VALIDATED, IMPORTED, Setting, full_settings, is_derived

RETRIEVAL: Final = "retrieval"
"""The kind of runs of a retriever over a dataset."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The identity of a run. Units are no part of it: a run gains them as they are asked for."""

    kind: str  # "retrieval", "reliability", "answers", "annotation", ...
    subject: str  # digest of what it is about; of a judge's run the id of the run judged
    settings: Mapping[str, Any]  # all that decides the results, JSON-able

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the digest."""
        return digest({"kind": self.kind, "subject": self.subject, "settings": dict(self.settings)})[:12]


def retrieval_spec(
    dataset_sha256: str,
    retriever: str,
    settings: Mapping[str, Setting],
    variant: str = "",
    variant_digest: str = "",
) -> RunSpec:
    """The run of a retriever, with all its settings, over a dataset or a variant of it."""
    document = {"retriever": retriever, "settings": dict(settings)}
    if variant:
        document |= {"variant": variant, "variant_digest": variant_digest}
    return RunSpec(RETRIEVAL, dataset_sha256, document)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run in the store; the fields from ``dataset`` on are of retrievers' runs."""

    id: str
    kind: str
    subject: str
    settings: Mapping[str, Any]  # of a retriever's run those of the retriever, defaults included
    created_at: str  # ISO 8601, UTC
    n_answered: int = 0
    n_failed: int = 0  # pairs of unit and task whose last try failed
    label: str = ""  # the name that it was given, else one made of its settings
    dataset: str = ""
    retriever: str = ""
    variant: str = ""  # empty for a run over the originals
    tasks: Mapping[str, int] = field(default_factory=dict)  # units with a result by task
    n_trained_on: int = 0  # instances that its model has learnt from: no score on them is an estimate


def run_label(retriever: str, settings: Mapping[str, Setting], variant: str = "") -> str:
    """The retriever, the settings that are not its defaults (all where it is not installed), the variant.

    ``"bm25 k1=1.2"``, ``"bm25 [negation]"``.
    """
    if retriever == IMPORTED:
        return f"{settings.get('name')} (imported)"
    words = [retriever]
    if retriever == "evidence-ranker" and settings.get("model") == CROSS_VALIDATED:
        words.append(CROSS_VALIDATED)
    else:
        defaults = _defaults(retriever, settings)
        for name, value in settings.items():
            if not is_derived(retriever, name) and (name not in defaults or defaults[name] != value):
                text = "+".join(map(str, value)) if isinstance(value, tuple) else value
                words.append(f"{name}={text}")
    return " ".join([*words, f"[{variant}]"] if variant else words)


def _defaults(retriever: str, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings that a label does not name; of a fusion the defaults of its members."""
    try:
        if retriever != "hybrid":
            return full_settings(retriever)
        defaults = full_settings(retriever, {"of": settings["of"]})
    except EvidenceBenchError:
        return {}
    del defaults["of"]
    return defaults


def as_tuples(value: Any) -> Any:
    """A setting as JSON has it, with the tuples that it had."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
