"""Quotes of a paper to the sentences of its candidate pool (construction rule 107)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

Extent = tuple[int, int]


def sentences_in(extents: Sequence[Extent], span: Extent) -> tuple[int, ...]:
    """The sentences of which at least half lies in a span, or in which at least half of the span lies.

    ``extents`` are where each sentence begins and ends; all ends are exclusive.
    """
    start, stop = span
    found = []
    for index, (first, end) in enumerate(extents):
        shared = min(stop, end) - max(start, first)
        if shared > 0 and (2 * shared >= end - first or 2 * shared >= stop - start):
            found.append(index)
    return tuple(found)


class QuoteFinder:
    """Where quotes stand in a pool: letters and digits are compared, whatever stands between them."""

    def __init__(self, sentences: Sequence[str]) -> None:
        parts = [_letters(sentence) for sentence in sentences]
        self._text = "".join(parts)
        self._extents = list(pairwise(accumulate(map(len, parts), initial=0)))

    def find(self, quote: str) -> tuple[int, ...]:
        """The sentences of its first occurrence (`sentences_in`); none where it is not in the pool."""
        letters = _letters(quote)
        start = self._text.find(letters) if letters else -1
        return () if start < 0 else sentences_in(self._extents, (start, start + len(letters)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
