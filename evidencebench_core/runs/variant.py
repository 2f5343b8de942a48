"""Other wordings of the hypotheses of a dataset; a run over one asks the retriever in these words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evidencebench_core.data.records import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb import hypothesis_variants, misspelling

_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of hypotheses, by instance id; instances that are not in it are left out.

    ``name`` is what people read: ``"paraphrase:lexical"``, ``"negation"``, ``"spelling:n=3,seed=0"``.
    """

    name: str
    hypotheses: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Of the texts: two variants of one name with other texts are different runs."""
        return digest([self.name, dict(self.hypotheses)])[:12]


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset; `SettingError` if no instance has it.

    ``negation`` and ``paraphrase:NAME`` from the data or added since, ``spelling:n=N`` or ``spelling:n=N,seed=S``
    (without hypotheses that have no word to misspell).
    """
    if spelling := _SPELLING.fullmatch(name):
        n, seed = int(spelling[1]), int(spelling[2] or 0)
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        name = spelling_name(n, seed)
        rows = store.rows(dataset, store.ids(dataset))
        misspelt = {row.id: misspelling(row.hypothesis, n, seed) for row in rows}
        return Variant(name, {id_: text.text for id_, text in misspelt.items() if text.n_mutated})
    texts = hypothesis_variants(store, dataset)
    if name not in texts:
        names = ", ".join([*texts, "spelling:n=N"])
        remedy = f"There are: {names}. A file brings more: `evidencebench run --wordings FILE`."
        raise SettingError(f"variant {shown(name)}", f"is not in {shown(dataset)}", remedy)
    return Variant(name, texts[name])


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"
