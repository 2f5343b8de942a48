"""A run, as it is asked for and as it is listed; its settings and what it is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers import (
    CROSS_VALIDATED,
    IMPORTED,
    Setting,
    full_settings,
    is_derived,
)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The identity of a run. Tasks are no part of it: a run gains tasks and instances as they are asked for.

    Attributes
    ----------
    dataset_sha256 : str
        Of the dataset's content; its name does not matter.
    retriever : str
    settings : mapping of str to Setting
        All of them, defaults filled in (`retrievers.full_settings`).
    variant, variant_digest : str
        Name and digest of the `Variant` that perturbs the instances; empty for the originals.
    """

    dataset_sha256: str
    retriever: str
    settings: Mapping[str, Setting]
    variant: str = ""
    variant_digest: str = ""

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the canonical JSON: sorted keys, no spaces, ASCII.

        The variant is in it where there is one.
        """
        settings = dict(self.settings)
        document = {"dataset": self.dataset_sha256, "retriever": self.retriever, "settings": settings}
        if self.variant:
            document |= {"variant": self.variant, "variant_digest": self.variant_digest}
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One retriever, with its settings, over one dataset.

    Attributes
    ----------
    id : str
        12 hexadecimal digits; the same for the same settings and data.
    dataset : str
        The dataset's name.
    retriever : str
    settings : mapping of str to Setting
        Defaults included.
    created_at : str
        ISO 8601, UTC.
    tasks : mapping of str to int
        How many instances have an answer, by task name, the benchmark's own tasks first.
    n_failed : int
        Instance and task pairs whose last try failed.
    label : str
        The name that it was given, else `run_label`.
    variant : str
        How the instances were perturbed; empty for a run over the originals.
    n_trained_on : int
        Instances of the dataset that the retriever's model has learnt from: scores on them are no estimate
        of how it does on others (`runs.trained`).
    """

    id: str
    dataset: str
    retriever: str
    settings: Mapping[str, Setting]
    created_at: str
    tasks: Mapping[str, int]
    n_failed: int
    label: str
    variant: str = ""
    n_trained_on: int = 0


def run_label(retriever: str, settings: Mapping[str, Setting], variant: str = "") -> str:
    """The retriever, the settings that are not its defaults (all where it is not installed), the variant.

    ``"bm25 k1=1.2"``, ``"bm25 [negation]"``.
    """
    if retriever == IMPORTED:
        return f"{settings.get('name')} (imported)"
    perturbed = [f"[{variant}]"] if variant else []
    if retriever == "evidence-ranker" and settings.get("model") == CROSS_VALIDATED:
        return " ".join((retriever, CROSS_VALIDATED, *perturbed))
    try:
        nests = retriever == "hybrid"
        defaults = full_settings(retriever, {"of": settings["of"]} if nests else None)
    except EvidenceBenchError:
        nests, defaults = False, {}
    changed = (
        f"{name}={'+'.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in settings.items()
        if not is_derived(retriever, name)
        and (name not in defaults or defaults[name] != value or (nests and name == "of"))
    )
    return " ".join((retriever, *changed, *perturbed))


def settings_json(settings: Mapping[str, Setting]) -> str:
    """Settings as the store keeps them: JSON with sorted keys."""
    return json.dumps(dict(settings), sort_keys=True, allow_nan=False)


def settings_from_json(text: str) -> dict[str, Setting]:
    """The inverse of `settings_json`: lists come back as the tuples they were."""
    return {name: _setting(value) for name, value in json.loads(text).items()}


def _setting(value: Setting | list[Setting]) -> Setting:
    return tuple(_setting(item) for item in value) if isinstance(value, list) else value
