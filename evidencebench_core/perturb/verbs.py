"""The verbs that hypotheses make their claims with, their forms, and their opposites."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["ALSO_NOUNS", "OPPOSITES", "VERBS", "is_singular", "lemma_of", "third_person"]

OPPOSITES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accelerate": "slow",
        "activate": "inhibit",
        "aggravate": "alleviate",
        "alleviate": "aggravate",
        "augment": "diminish",
        "attenuate": "amplify",
        "amplify": "attenuate",
        "boost": "reduce",
        "decrease": "increase",
        "diminish": "increase",
        "downregulate": "upregulate",
        "elevate": "lower",
        "enhance": "reduce",
        "exacerbate": "alleviate",
        "facilitate": "hinder",
        "hinder": "facilitate",
        "impair": "improve",
        "improve": "impair",
        "increase": "decrease",
        "induce": "suppress",
        "inhibit": "promote",
        "lower": "raise",
        "promote": "inhibit",
        "raise": "lower",
        "reduce": "increase",
        "slow": "accelerate",
        "stimulate": "inhibit",
        "suppress": "induce",
        "upregulate": "downregulate",
        "weaken": "strengthen",
        "strengthen": "weaken",
        "worsen": "improve",
    }
)

_OTHERS: Final = """
    accumulate act affect allow alter arise block bind cause change clear combine confer contain contribute
    control convert correlate damage degrade delay depend derive determine differ disrupt drive eliminate
    enable enter exceed exert exhibit explain exploit express follow form generate give have help identify
    impact include indicate influence initiate interact interfere involve lack lead limit lose make mediate
    metabolize metabolise mimic modify modulate occur persist play possess precede predict predispose prevent
    produce protect provide reach regulate release remain represent require result reveal serve show support
    sustain target transform trigger undergo use vary yield
"""

VERBS: Final = frozenset({*OPPOSITES, *_OTHERS.split()})

# Forms that are as often nouns: "an increase in", "the causes of".
_ALSO_NOUNS: Final = """
    act boost cause change control damage decrease delay drive form help impact increase influence lack lead
    limit play raise release result show slow support target trigger use yield
"""
ALSO_NOUNS: Final = frozenset(_ALSO_NOUNS.split())

_IRREGULAR: Final = {"have": "has", "undergo": "undergoes"}


def third_person(lemma: str) -> str:
    """``affect`` → ``affects``."""
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_LEMMAS: Final = {third_person(lemma): lemma for lemma in VERBS} | {lemma: lemma for lemma in VERBS}


def lemma_of(word: str) -> str | None:
    """The verb of which a lower-case word is a present form, ``None`` where we know none."""
    return _LEMMAS.get(word)


def is_singular(word: str) -> bool:
    """Whether a present form goes with one subject: ``causes`` does, ``cause`` does not."""
    return word in _LEMMAS and _LEMMAS[word] != word
