"""Variants of a dataset by name: what `Variant` a name such as ``spelling:n=3,seed=0`` stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    Opposite,
    hypothesis_variants,
    misspelling,
    opposite,
)
from evidencebench_core.runs.variant import Variant, digest_of

RULE_NEGATION: Final = "negation:rules"
_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"


def wording_variant(name: str, texts: Mapping[str, str]) -> Variant:
    """The variant that asks each instance in these words; instances without a text have no such variant."""
    return Variant(name, digest_of(name, dict(texts)), hypotheses=dict(texts))


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset.

    Parameters
    ----------
    store : Store
    dataset : str
    name : str
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
    spelling = _SPELLING.fullmatch(name)
    if spelling:
        return _spelling(store, dataset, int(spelling[1]), int(spelling[2] or 0))
    if name == RULE_NEGATION:
        opposites = {one: opposite(text) for one, text in _hypotheses(store, dataset).items()}
        texts = {one: made.text for one, made in opposites.items() if isinstance(made, Opposite)}
        return _unless_empty(store, dataset, name, texts)
    return _unless_empty(store, dataset, name, hypothesis_variants(store, dataset).get(name, {}))


def variant_names(store: Store, dataset: str) -> dict[str, int]:
    """The wordings that a dataset has, in the data or from files, and how many instances have each."""
    return {name: len(texts) for name, texts in hypothesis_variants(store, dataset).items()}


def _spelling(store: Store, dataset: str, n: int, seed: int) -> Variant:
    if n < 1:
        raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
    made = {one: misspelling(text, n, seed) for one, text in _hypotheses(store, dataset).items()}
    texts = {one: new.text for one, new in made.items() if new.n_mutated}
    return _unless_empty(store, dataset, spelling_name(n, seed), texts)


def _hypotheses(store: Store, dataset: str) -> dict[str, str]:
    return {row.id: row.hypothesis for row in store.rows(dataset, store.ids(dataset))}


def _unless_empty(store: Store, dataset: str, name: str, texts: Mapping[str, str]) -> Variant:
    if texts:
        return wording_variant(name, texts)
    there = [*variant_names(store, dataset), RULE_NEGATION, "spelling:n=N"]
    raise SettingError(
        f"variant {shown(name)}",
        f"is one that no instance of {shown(dataset)} has",
        f"There are: {', '.join(there)}. More come from a file ({NEGATION}, {PARAPHRASE}NAME): --variants FILE.",
    )
