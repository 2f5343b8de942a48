"""The licence of an article: its Creative Commons name, from an address or the words of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LICENCES: Final = (
    "public domain", "CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA", "CC BY-ND", "CC BY-NC-ND",
)  # fmt: skip

_ADDRESS: Final = re.compile(
    r"creativecommons\.org/+(?:licen[cs]es/+(?P<by>by(?:-nc)?(?:-sa|-nd)?)\b|publicdomain/+(?P<free>zero|mark)\b)",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(
    r"(?:creative\s+commons|\bCC)[\s:-]+(?:attribution|BY)\b"
    r"(?P<more>(?:(?:[\s,/-]|\band\b|\d\.\d)+(?:non-?\s?commercial|NC|share-?\s?alike|SA|no-?\s?deriv\w*|ND)\b)*)",
    re.IGNORECASE,
)
_FREE: Final = re.compile(r"\bCC0\b|creative\s+commons\s+(?:public\s+domain|zero)", re.IGNORECASE)


def licence_in(texts: Iterable[str]) -> str:
    """One of `LICENCES`: an address anywhere goes before words, the first before later ones; ``""`` for none."""
    texts = [text for text in texts if text]
    for text in texts:
        if match := _ADDRESS.search(text):
            if match["free"]:
                return "CC0" if match["free"].casefold() == "zero" else "public domain"
            return f"CC {match['by'].upper()}"
    for text in texts:
        if match := _WORDS.search(text):
            more = match["more"].casefold()
            name = "CC BY-NC" if "commercial" in more or "nc" in more else "CC BY"
            if "deriv" in more or "nd" in more:
                return f"{name}-ND"
            return f"{name}-SA" if "alike" in more or "sa" in more else name
        if _FREE.search(text):
            return "CC0"
    return ""


def allows_changed_copies(licence: str) -> bool:
    """Whether a changed copy of the paper, such as its sentences in a list, may be passed on."""
    return licence in LICENCES and not licence.endswith("-ND")
