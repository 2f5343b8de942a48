"""Words and patterns that say what a sentence is for, such as a finding or a method; ``cues.toml`` has them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_WORDS: Final = {name: words.split() for name, words in _TABLES["words"].items()}
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _TABLES["patterns"].items()}
_WHOLE: Final = {name: {word for word in words if word[-1] != "*"} for name, words in _WORDS.items()}
_STEMS: Final = {name: tuple(w[:-1] for w in words if w[-1] == "*") for name, words in _WORDS.items()}


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
