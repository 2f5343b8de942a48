"""Two wordings side by side, with the words that differ marked."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from components.widgets.markdown import literal

__all__ = ["changed_words", "marked_words"]

_AROUND: Final = ".,;:()[]\"'“”‘’"
_LONGEST: Final = 1_000  # words that are compared; longer texts are shown without marks


def changed_words(original: str, draft: str) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """For every word (between blanks) of both texts whether the other does not have it there.

    Case, and punctuation around a word, make no difference.
    """
    before, after = original.split(), draft.split()
    if len(before) + len(after) > _LONGEST:
        return (False,) * len(before), (False,) * len(after)
    marks = [True] * len(before), [True] * len(after)
    for one, other, size in SequenceMatcher(
        None, _plain(before), _plain(after), autojunk=False
    ).get_matching_blocks():
        marks[0][one : one + size] = [False] * size
        marks[1][other : other + size] = [False] * size
    return tuple(marks[0]), tuple(marks[1])


def marked_words(original: str, draft: str) -> tuple[str, str]:
    """Both texts as Markdown; words that differ are bold on a coloured ground, the texts nothing but text."""
    before, after = changed_words(original, draft)
    return _marked(original.split(), before, "gray"), _marked(draft.split(), after, "orange")


def _plain(words: Sequence[str]) -> list[str]:
    return [word.strip(_AROUND).casefold() or word for word in words]


def _marked(words: Sequence[str], changed: Sequence[bool], colour: str) -> str:
    runs: list[tuple[bool, list[str]]] = []
    for word, mark in zip(words, changed, strict=True):
        if runs and runs[-1][0] == mark:
            runs[-1][1].append(word)
        else:
            runs.append((mark, [word]))
    texts = ((mark, literal(" ".join(run))) for mark, run in runs)
    return " ".join(f":{colour}-background[**{text}**]" if mark else text for mark, text in texts)
