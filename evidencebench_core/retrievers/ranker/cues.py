"""Words and patterns that say what a sentence is for: a finding, an aim, a method, a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
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
)
"""A cue's words; ``*`` stands for any ending."""

SIGNS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "test statistic": re.compile(
            r"\b[pP]\s*[<>=≤≥]|\bC\.?I\.?\b|\b[HOR]R\s*[=,:]|±|\bn\s*=|\bconfidence interval"
        ),
        "percentage": re.compile(r"%|\bper ?cent"),
        "citation": re.compile(r"\[\d|\bet al\b|\((?:19|20)\d\d\)|\(\d+[,–-]"),
        "figure or table": re.compile(r"\b(?:[Ff]ig(?:ure)?s?|[Tt]ables?)\b"),
        "head count": re.compile(
            r"\b\d{2,6}\s+(?:healthy |consecutive |eligible )?"
            r"(?:patients|participants|subjects|women|men|children|adults|cases|controls|individuals|mice|rats)\b"
        ),
    }
)
"""A cue's pattern in the sentence as printed; each runs in linear time."""

CUE_NAMES: Final = (*WORDS, *SIGNS)

_WHOLE: Final = {
    name: frozenset(word for word in words.split() if not word.endswith("*")) for name, words in WORDS.items()
}
_STEMS: Final = {
    name: tuple(word[:-1] for word in words.split() if word.endswith("*")) for name, words in WORDS.items()
}


@lru_cache(maxsize=65_536)
def cues_of(token: str) -> tuple[int, ...]:
    """The places in `CUE_NAMES` of the word cues that a lower-case token is one of."""
    return tuple(
        place
        for place, name in enumerate(WORDS)
        if token in _WHOLE[name] or (_STEMS[name] and token.startswith(_STEMS[name]))
    )
