"""The identity of a run: the data, how it is perturbed, the retriever, and every setting of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from evidencebench_core.retrievers import Setting, run_marks

_ID_LENGTH = 12


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

        The retriever's `run_marks` are in it, and the variant where there is one.
        """
        document: dict[str, object] = {
            "dataset": self.dataset_sha256,
            "retriever": self.retriever,
            "settings": dict(self.settings),
        }
        document |= run_marks(self.retriever, self.settings)
        if self.variant:
            document |= {"variant": self.variant, "variant_digest": self.variant_digest}
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:_ID_LENGTH]


def settings_json(settings: Mapping[str, Setting]) -> str:
    """Settings as the store keeps them: JSON with sorted keys."""
    return json.dumps(dict(settings), sort_keys=True, allow_nan=False)


def settings_from_json(text: str) -> dict[str, Setting]:
    """The inverse of `settings_json`: lists come back as the tuples they were."""
    return {name: _setting(value) for name, value in json.loads(text).items()}


def _setting(value: Setting | list[Setting]) -> Setting:
    return tuple(_setting(item) for item in value) if isinstance(value, list) else value
