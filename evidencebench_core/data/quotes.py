"""Where quotes stand in a paper's sentences: letters and digits are compared, whatever stands between them."""

from collections.abc import Sequence
from itertools import accumulate, pairwise


class QuoteFinder:
    """Finds quotes in the sentences of a paper."""

    def __init__(self, sentences: Sequence[str]) -> None:
        parts = [letters(sentence) for sentence in sentences]
        self._text = "".join(parts)
        self._extents = list(pairwise(accumulate(map(len, parts), initial=0)))

    def find(self, quote: str) -> tuple[int, ...]:
        """The sentences of its first occurrence (`sentences_in`); empty if it is not in the paper."""
        wanted = letters(quote)
        start = self._text.find(wanted) if wanted else -1
        return sentences_in(self._extents, (start, start + len(wanted))) if start >= 0 else ()


def sentences_in(extents: Sequence[tuple[int, int]], span: tuple[int, int]) -> tuple[int, ...]:
    """The sentences that lie at least half in the span, or hold at least half of it."""
    start, stop = span
    sentences = []
    for index, (first, end) in enumerate(extents):
        shared = min(stop, end) - max(start, first)
        if shared > 0 and (2 * shared >= end - first or 2 * shared >= stop - start):
            sentences.append(index)
    return tuple(sentences)


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))
