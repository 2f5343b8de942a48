"""Other wordings of the hypotheses of a dataset; a run over one asks the retriever in these words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    hypothesis_variants,
    misspelling,
)

_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of hypotheses, by instance id; instances that are not in it are left out.

    ``name`` is what people read (``"paraphrase:lexical"``, ``"negation"``, ``"spelling:n=3,seed=0"``), never empty;
    ``digest`` is of the texts (`digest_of`): two variants of one name with other texts are different runs.
    """

    name: str
    digest: str
    hypotheses: Mapping[str, str]

    def __post_init__(self) -> None:
        if not self.name or not self.digest:
            remedy = "Give both: they enter the run's id."
            raise SettingError(f"variant {shown(self.name)}", "has no name or no digest", remedy)

    def has(self, instance_id: str) -> bool:
        return instance_id in self.hypotheses


def digest_of(*parts: object) -> str:
    """First 12 hexadecimal digits of the SHA-256 of the parts as canonical JSON (mappings by sorted key)."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]


# -- variants by name -----------------------------------------------------------------------------


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset.

    Parameters
    ----------
    store : Store
    dataset, name : str
        ``negation`` and ``paraphrase:NAME`` from the data or a variants file, ``negation:rules`` (made by
        rule, without the hypotheses that the rules refuse), ``spelling:n=N`` or ``spelling:n=N,seed=S``
        (without hypotheses that have no word to misspell).

    Raises
    ------
    SettingError
        If no instance has such a variant; it lists what there is.
    UnknownNameError
        If there is no such dataset.
    """
    if spelling := _SPELLING.fullmatch(name):
        n, seed = int(spelling[1]), int(spelling[2] or 0)
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        name = spelling_name(n, seed)
        misspelt = {one: misspelling(text, n, seed) for one, text in _hypotheses(store, dataset)}
        texts = {one: new.text for one, new in misspelt.items() if new.n_mutated}
    else:
        texts = dict(hypothesis_variants(store, dataset).get(name, {}))
    if texts:
        return wording_variant(name, texts)
    there = [*hypothesis_variants(store, dataset), "spelling:n=N"]
    raise SettingError(
        f"variant {shown(name)}",
        f"is one that no instance of {shown(dataset)} has",
        f"There are: {', '.join(there)}. More come from a file ({NEGATION}, {PARAPHRASE}NAME): --variants FILE.",
    )


def _hypotheses(store: Store, dataset: str) -> list[tuple[str, str]]:
    return [(row.id, row.hypothesis) for row in store.rows(dataset, store.ids(dataset))]


def wording_variant(name: str, texts: Mapping[str, str]) -> Variant:
    """The variant that asks each instance in these words; instances without a text have no such variant."""
    return Variant(name, digest_of(name, dict(texts)), hypotheses=dict(texts))


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"
