"""Whether an answer's words stand where its indices say: it catches a model that counts within the window (rule 24)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evidencebench_core.construction.windows import Window

_LINE: Final = re.compile(  # also "Index 6: words", "**S6**: words", "`6`: words" and "6 - words"
    r"""[\s>*_#`"'-]*+(?:(?:index|sentence|s)\s*+:?\s*+)?[\[(`*_"']*+(\d{1,6})[\])`*_"']*"""
    r"""(?:\s*[:)]|\s*\.(?!\d)|\s+[-–—])\s*(.+)""",
    re.IGNORECASE,
)
_WORDS: Final = 5
_ENOUGH: Final = 3
_MOST_LINE: Final = 2_000  # characters


@dataclass(frozen=True, slots=True)
class EchoCheck:
    """Indices that stand after the check."""

    chosen: tuple[int, ...]  # ascending
    n_mended: int = 0  # taken for the sentence that the words are from
    unfound: tuple[int, ...] = ()  # whose words begin no sentence, or several: the look fails
    n_without: int = 0  # chosen without words
    n_unknown: int = 0  # outside the window, and no sentence of it begins with their words

    @property
    def failed(self) -> bool:
        return bool(self.unfound)


def echo_lines(answer: str) -> dict[int, str]:
    """By index the words of the lines ``index: its first five words - reason``; of an index the last line."""
    lines = (line[:_MOST_LINE] for line in answer.splitlines())
    return {int(match[1]): match[2] for match in map(_LINE.match, lines) if match}


def echo_check(
    sentences: Sequence[str], window: Window, chosen: Iterable[int], echoes: Mapping[int, str]
) -> EchoCheck:
    """Compare the words beside each chosen index with the beginning of its sentence.

    Letters and digits are compared, case aside; three of five words suffice. Words that begin exactly one other
    sentence of the window are taken for that one, so an index that counts within the window is mended whether it
    lies in the window or not. Indices without words are kept and counted; outside the window they are unknown.
    """
    starts = {index: _words(sentences[index])[:_WORDS] for index in range(*window)}
    kept: set[int] = set()
    unfound = []
    n_mended = n_without = n_unknown = 0
    for index in dict.fromkeys(chosen):
        words = _words(echoes.get(index, ""))[:_WORDS]
        others = [one for one, start in starts.items() if one != index and words and _begins(words, start)]
        if index in starts and (not words or _begins(words, starts[index])):
            n_without += not words
            kept.add(index)
        elif len(others) == 1:
            n_mended += 1
            kept.add(others[0])
        elif index in starts:
            unfound.append(index)
        else:
            n_unknown += 1
    return EchoCheck(tuple(sorted(kept)), n_mended, tuple(unfound), n_without, n_unknown)


def _begins(words: Sequence[str], start: Sequence[str]) -> bool:
    same = sum(a == b for a, b in zip(words, start, strict=False))
    return bool(start) and same >= min(_ENOUGH, len(start))


def _words(text: str) -> list[str]:
    letters = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in letters if word]
