"""Windows over a paper, as EvidenceBench shows it to a model, and what the answers say of each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

Window = tuple[int, int]
"""A window's first sentence, and the one after its last."""

LENGTH: Final = 10
STRIDE: Final = 5

_LINE: Final = re.compile(  # also "Index 6: words", "**S6**: words", "`6`: words" and "6 - words"
    r"""[\s>*_#`"'-]*+(?:(?:index|sentence|s)\s*+:?\s*+)?[\[(`*_"']*+(\d{1,6})[\])`*_"']*"""
    r"""(?:\s*[:)]|\s*\.(?!\d)|\s+[-–—])\s*(.+)""",
    re.IGNORECASE,
)
_ECHOED: Final = 5  # words
_ENOUGH: Final = 3
_MAX_LINE: Final = 2_000  # characters


def windows(n_sentences: int, length: int = LENGTH, stride: int = STRIDE) -> tuple[Window, ...]:
    """The windows of a paper; every sentence but the first five is in exactly two (EvidenceBench, appendix C)."""
    return tuple((start, min(start + length, n_sentences)) for start in range(0, n_sentences, stride))


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What was answered about one aspect in one window."""

    window: Window
    sentences: frozenset[int] = frozenset()  # paper-wide indices that cover the aspect
    failed: bool = False  # no answer, or none that could be read: that is not a no


def covering_sentences(answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that any window's answer names, ascending."""
    return tuple(sorted({index for answer in answers if not answer.failed for index in answer.sentences}))


def unjudged_sentences(n_sentences: int, answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that no answer is about: whether they cover the aspect is not known."""
    judged = {index for answer in answers if not answer.failed for index in range(*answer.window)}
    return tuple(index for index in range(n_sentences) if index not in judged)


# -- the echo check: a model that counts within the window names other sentences than it quotes -----


@dataclass(frozen=True, slots=True)
class EchoCheck:
    """Indices that stand after the check."""

    chosen: tuple[int, ...]  # ascending
    not_found: tuple[int, ...] = ()  # whose words begin no sentence, or several
    n_unknown: int = 0  # outside the window, and no sentence of it begins with their words


def echo_lines(answer: str) -> dict[int, str]:
    """By index the words of the lines ``index: its first five words - reason``; of an index the last line."""
    lines = (line[:_MAX_LINE] for line in answer.splitlines())
    return {int(match[1]): match[2] for match in map(_LINE.match, lines) if match}


def echo_check(
    sentences: Sequence[str], window: Window, chosen: Iterable[int], echoes: Mapping[int, str]
) -> EchoCheck:
    """Compare the words beside each chosen index with the beginning of its sentence.

    Letters and digits are compared, case aside; three of five words suffice. Words that begin exactly one other
    sentence of the window are taken for that one, so an index that counts within the window is corrected. Indices
    without words stay.
    """
    starts = {index: _words(sentences[index])[:_ECHOED] for index in range(*window)}
    standing: set[int] = set()
    not_found = []
    n_unknown = 0
    for index in dict.fromkeys(chosen):
        words = _words(echoes.get(index, ""))[:_ECHOED]
        others = [other for other, start in starts.items() if other != index and _begins(words, start)]
        if index in starts and (not words or _begins(words, starts[index])):
            standing.add(index)
        elif len(others) == 1:
            standing.add(others[0])
        elif index in starts:
            not_found.append(index)
        else:
            n_unknown += 1
    return EchoCheck(tuple(sorted(standing)), tuple(not_found), n_unknown)


def _begins(words: Sequence[str], start: Sequence[str]) -> bool:
    same = sum(a == b for a, b in zip(words, start, strict=False))
    return bool(words) and bool(start) and same >= min(_ENOUGH, len(start))


def _words(text: str) -> list[str]:
    letters = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in letters if word]
