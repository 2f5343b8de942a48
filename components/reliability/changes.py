"""The changes in a text, word by word, as Markdown: taken away struck through, added in bold on a ground."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from components.widgets.markdown import literal

_WORDS: Final = re.compile(r"\S+|\n\n+")
_NEAR: Final = 12  # unchanged words shown on each side of a change


def changed_text(before: str, after: str, whole: bool = False) -> str:
    """The second text with what it has more, less and other than the first; unchanged stretches are shortened.

    Paragraphs stay. Empty where nothing differs.
    """
    if before.split() == after.split():
        return ""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    return " ".join(_parts(old, new, whole)).strip()


def _parts(old: list[str], new: list[str], whole: bool) -> Iterator[str]:
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (kind, i, j, k, end) in enumerate(steps):
        if kind == "equal":
            first, last = place == 0, place == len(steps) - 1
            yield from _unchanged(new[k:end], 0 if first else _NEAR, 0 if last else _NEAR, whole)
            continue
        if gone := _text(old[i:j], "~~", "~~"):
            yield gone
        if came := _text(new[k:end], ":blue-background[**", "**]"):
            yield came


def _unchanged(words: list[str], left: int, right: int, whole: bool) -> Iterator[str]:
    if whole or len(words) <= left + right + 1:
        yield _text(words)
        return
    yield from (_text(words[:left]), "…", _text(words[len(words) - right :]))


def _text(words: list[str], opens: str = "", closes: str = "") -> str:
    """The words, each stretch between two paragraphs' ends marked by itself."""
    stretches = " ".join(words).split("\n\n")
    return "\n\n".join(f"{opens}{literal(one.strip())}{closes}" if one.strip() else "" for one in stretches)
