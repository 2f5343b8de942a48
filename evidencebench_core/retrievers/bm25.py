"""BM25 over the sentences of one paper: the scores of rank-bm25's ``BM25Okapi``, quicker.

Only sentences that share a word with the hypothesis are scored, and a paper's words are counted once
for all questions about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log
from time import perf_counter
from types import MappingProxyType
from typing import Final, Literal

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import ranked

__all__ = ["TOKENISATIONS", "Bm25", "Tokenisation", "tokens_of"]

Tokenisation = Literal["word", "whitespace", "word-stop"]
TOKENISATIONS: Final[tuple[Tokenisation, ...]] = ("word", "whitespace", "word-stop")

_WORD: Final = re.compile(r"\w+")
# "no" and "not" are not among them: they turn a finding round
_STOP_WORDS: Final = frozenset(
    _WORD.findall("""
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each either few for from further
    had has have having he her here hers him his how however i if in into is it its itself may me might
    more most must my neither nor of off on once only or other our ours out over own same shall she
    should so some such than that the their theirs them then there these they this those through thus to
    too under until up upon us very was we were what when where whereas whether which while who whom
    whose why will with within would you your yours
    """)
)
_TINY: Final = 1e-9


def tokens_of(text: str, tokenisation: Tokenisation) -> list[str]:
    r"""The tokens of a text, lower-cased; may be none.

    ``word``: runs of letters, digits and underscores (``\w+``, so ``IL-6`` is ``il`` and ``6``).
    ``whitespace``: whatever stands between white space, punctuation included.
    ``word-stop``: as ``word``, without English function words.
    """
    lowered = text.lower()
    if tokenisation == "whitespace":
        return lowered.split()
    words = _WORD.findall(lowered)
    return [word for word in words if word not in _STOP_WORDS] if tokenisation == "word-stop" else words


class Bm25:
    """Okapi BM25, with the sentences of the query's paper as the whole corpus.

    Sentences that share no token with the hypothesis score 0; equal scores keep the order of the
    paper. Negative inverse document frequencies are replaced as rank-bm25 does, by ``epsilon``
    times the average one.

    Parameters
    ----------
    k1 : float
        How slowly repeated words saturate, 0 or more; at 0 only presence counts.
    b : float
        How much long sentences are discounted, 0 to 1.
    epsilon : float
        Floor of the inverse document frequency, relative to its average, 0 or more.
    tokenisation : {"word", "whitespace", "word-stop"}
        See `tokens_of`.
    """

    name = "bm25"

    def __init__(
        self,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
        tokenisation: Tokenisation = "word",
    ) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType(
            {"k1": k1, "b": b, "epsilon": epsilon, "tokenisation": tokenisation}
        )
        # rank-bm25 would divide 0 by 0 at a k1 of exactly 0: this is as near as it gets
        self._k1, self._b, self._epsilon = max(k1, _TINY), b, epsilon
        self._tokenisation: Tokenisation = tokenisation

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by BM25 score and select the best."""
        started = perf_counter()
        return ranked(query, self._scores(query), started)

    def _scores(self, query: Query) -> list[float]:
        words = _words_of(query.sentences, self._tokenisation)
        scores = [0.0] * len(words.sentences)
        if not words.mean_length:
            return scores
        wanted = tokens_of(query.hypothesis, self._tokenisation)
        weights = {word: self._weight(words, word) for word in wanted}
        # A sentence without a word of the hypothesis scores 0, so only the others are looked at. The
        # order of the arithmetic is rank-bm25's: scores are the same to the last digit.
        for index, sentence in enumerate(words.sentences):
            shared = weights.keys() & set(sentence)
            if not shared:
                continue
            norm = self._k1 * (1 - self._b + self._b * len(sentence) / words.mean_length)
            total = 0.0
            for word in wanted:
                if word in shared:
                    frequency = sentence.count(word)
                    total += weights[word] * (frequency * (self._k1 + 1) / (frequency + norm))
            scores[index] = total
        return scores

    def _weight(self, words: _Words, word: str) -> float:
        """The inverse document frequency, floored; 0 for a word that the paper lacks."""
        n_with = words.n_with.get(word, 0)
        if not n_with:
            return 0.0
        weight = _idf(len(words.sentences), n_with)
        return weight if weight >= 0 else self._epsilon * words.mean_idf


@dataclass(frozen=True, slots=True)
class _Words:
    """What of a paper's words does not hang on the question.

    ``n_with`` has the number of sentences of each word; ``mean_length`` is 0 for a paper without words.
    """

    sentences: tuple[list[str], ...]
    n_with: Mapping[str, int]
    mean_length: float
    mean_idf: float


@lru_cache(maxsize=16)  # a run asks about the same paper for task after task
def _words_of(sentences: tuple[str, ...], tokenisation: Tokenisation) -> _Words:
    tokens = tuple(tokens_of(sentence, tokenisation) for sentence in sentences)
    n_with: Counter[str] = Counter()
    for words in tokens:
        n_with.update(dict.fromkeys(words).keys())  # in the order of the paper
    if not n_with:
        return _Words(tokens, n_with, 0.0, 0.0)
    idfs = {count: _idf(len(tokens), count) for count in set(n_with.values())}
    total = 0.0
    for count in n_with.values():  # in this order and not by sum(), which rounds otherwise
        total += idfs[count]
    return _Words(tokens, n_with, sum(map(len, tokens)) / len(tokens), total / len(n_with))


def _idf(n_sentences: int, n_with: int) -> float:
    return log(n_sentences - n_with + 0.5) - log(n_with + 0.5)
