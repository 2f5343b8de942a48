"""A dataset's hypotheses in other words, as a run takes them."""

from __future__ import annotations

import re
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb.spelling import misspelling
from evidencebench_core.perturb.wordings import hypothesis_variants
from evidencebench_core.runs import Variant

_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset; `SettingError` if no instance has it.

    ``negation`` and ``paraphrase:NAME`` from the data or added since, ``spelling:n=N`` or ``spelling:n=N,seed=S``
    (without hypotheses that have no word to misspell).
    """
    if spelling := _SPELLING.fullmatch(name):
        n, seed = int(spelling[1]), int(spelling[2] or 0)
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        rows = store.rows(dataset, store.ids(dataset))
        misspelt = {row.id: misspelling(row.hypothesis, n, seed) for row in rows}
        texts = {unit: text.text for unit, text in misspelt.items() if text.n_mutated}
        return Variant(spelling_name(n, seed), texts)
    variants = hypothesis_variants(store, dataset)
    if name not in variants:
        names = ", ".join([*variants, "spelling:n=N"])
        remedy = f"There are: {names}. A file brings more: `evidencebench run --wordings FILE`."
        raise SettingError(f"variant {shown(name)}", f"is not in {shown(dataset)}", remedy)
    return Variant(name, variants[name])


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"
