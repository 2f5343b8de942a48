"""Windows over a paper, as EvidenceBench shows it to a model, and what the answers say of each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

Window = tuple[int, int]
"""A window's first sentence, and the one after its last."""

_LENGTH: Final = 10
_STRIDE: Final = 5
_ECHOED: Final = 5  # words
_ENOUGH: Final = 3


def windows(n_sentences: int) -> tuple[Window, ...]:
    """The windows of a paper; every sentence but the first five is in exactly two (EvidenceBench, appendix C)."""
    return tuple((start, min(start + _LENGTH, n_sentences)) for start in range(0, n_sentences, _STRIDE))


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What was answered about one aspect in one window."""

    window: Window
    sentences: frozenset[int] | None  # paper-wide; None where no answer could be read: that is not a no
    reasons: Mapping[int, str] = field(default_factory=dict)


def covering_sentences(answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that any window's answer names, ascending."""
    return tuple(sorted({index for answer in answers for index in answer.sentences or ()}))


def unjudged_sentences(n_sentences: int, answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that no answer is about: whether they cover the aspect is not known."""
    judged = {index for answer in answers if answer.sentences is not None for index in range(*answer.window)}
    return tuple(index for index in range(n_sentences) if index not in judged)


def echoed_sentences(
    sentences: Sequence[str], window: Window, chosen: Iterable[int], echoes: Mapping[int, str]
) -> frozenset[int] | None:
    """The sentences that an answer means, by the first words that it gives beside each chosen index.

    A model that counts within the window names other sentences than it quotes: words that begin exactly one other
    sentence of the window are taken for that one. Letters and digits are compared, case aside; three of five words
    suffice. Indices without words stay, those beyond the window do not. ``None`` where the words beside an index begin
    no sentence, or several, or nothing stays of what was chosen.
    """
    starts = {index: _words(sentences[index])[:_ECHOED] for index in range(*window)}
    meant = set[int]()
    for index in chosen:
        words = _words(echoes.get(index, ""))[:_ECHOED]
        others = [other for other, start in starts.items() if other != index and _begins(words, start)]
        if index in starts and (not words or _begins(words, starts[index])):
            meant.add(index)
        elif len(others) == 1:
            meant.add(others[0])
        elif index in starts:
            return None
    return frozenset(meant) or None


def _begins(words: Sequence[str], start: Sequence[str]) -> bool:
    same = sum(a == b for a, b in zip(words, start, strict=False))
    return bool(words) and bool(start) and same >= min(_ENOUGH, len(start))


def _words(text: str) -> list[str]:
    letters = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in letters if word]
