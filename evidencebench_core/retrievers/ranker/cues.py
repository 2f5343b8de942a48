"""Words and patterns that say what a sentence is for: a finding, an aim, a method, a figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

# a cue's words; * stands for any ending
_WORDS: Final = {
    "finding": "found observed showed shown revealed demonstrat* report* identified result results findings",
    "significance": "significan* statistical*",
    "association": "associat* correlat* relat* predict* risk risks odds hazard likel*",
    "conclusion": "conclu* suggest* indicat* summary therefore thus findings evidence support*",
    "aim": "aim aims aimed objective* purpose investigat* examin* determin* evaluat* assess* explor* hypothes*",
    "method": "measured enrolled recruited randomi* collected performed analysed analyzed included excluded "
    "obtained assay* questionnaire* regression anova kit according approved calculated",
    "people": "patient patients participant* subject subjects women men children adult adults cases controls "
    "individuals cohort mice rats infants volunteers population",
    "comparison": "higher lower increas* decreas* reduc* greater fewer compared versus vs than differ* improv* "
    "elevated",
    "negation": "no not nor neither without fail* lack*",
    "earlier work": "previous* prior literature earlier consistent agreement recent* studies",
    "hedge": "may might could possible possibly potential* appear* seem*",
    "first person": "we our us",
    "limitation": "limit* further future caution* bias*",
    "contrast": "however although but contrast while whereas",
    "design": "randomized randomised blind placebo trial cohort prospective* retrospective* longitudinal survey "
    "sectional vitro vivo model models",
}
# in the sentence as printed; each runs in linear time
_PATTERNS: Final = {
    "test statistic": re.compile(
        r"\b(?:[pP]\s*[<>=≤≥]|C\.?I\.?\b|[HOR]R\s*[=,:]|n\s*=|confidence interval)|±"
    ),
    "percentage": re.compile(r"%|\bper ?cent"),
    "citation": re.compile(r"\[\d|\bet al\b|\((?:19|20)\d\d\)|\(\d+[,–-]"),
    "figure or table": re.compile(r"\b(?:[Ff]ig(?:ure)?s?|[Tt]ables?)\b"),
    "head count": re.compile(
        r"\b\d{2,6}\s+(?:healthy |consecutive |eligible )?"
        r"(?:patients|participants|subjects|women|men|children|adults|cases|controls|individuals|mice|rats)\b"
    ),
}
_WHOLE: Final = {name: {word for word in words.split() if word[-1] != "*"} for name, words in _WORDS.items()}
_STEMS: Final = {
    name: tuple(word[:-1] for word in words.split() if word[-1] == "*") for name, words in _WORDS.items()
}


@lru_cache(maxsize=65_536)
def cues_of(token: str) -> tuple[str, ...]:
    """The names of the cues that a lower-case token is one of."""
    return tuple(name for name in _WORDS if token in _WHOLE[name] or token.startswith(_STEMS[name]))


def cue_counts(sentences: Sequence[str], tokens: Sequence[Sequence[str]]) -> dict[str, NDArray[np.float64]]:
    """How many of each cue every sentence has, by the cue's name."""
    counts = {name: np.zeros(len(sentences)) for name in _WORDS}
    for row, words in enumerate(tokens):
        for word in words:
            for name in cues_of(word):
                counts[name][row] += 1
    return counts | {name: occurrences(pattern, sentences) for name, pattern in _PATTERNS.items()}


def occurrences(pattern: re.Pattern[str], sentences: Sequence[str]) -> NDArray[np.float64]:
    """How often a pattern stands in each sentence."""
    return np.array([len(pattern.findall(sentence)) for sentence in sentences], dtype=np.float64)
