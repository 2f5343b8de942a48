"""BM25 over the sentences of one paper, by rank-bm25's ``BM25Okapi``."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
        # rank-bm25 divides by (frequency + k1 * ...): a k1 of exactly 0 would give 0/0 for absent words
        self._k1, self._b, self._epsilon = max(k1, _TINY), b, epsilon
        self._tokenisation: Tokenisation = tokenisation

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by BM25 score and select the best."""
        started = perf_counter()
        return ranked(query, self._scores(query), started)

    def _scores(self, query: Query) -> list[float]:
        corpus = [tokens_of(sentence, self._tokenisation) for sentence in query.sentences]
        if not any(corpus):  # rank-bm25 divides by the number of words
            return [0.0] * len(corpus)
        import numpy as np
        from rank_bm25 import BM25Okapi

        index = BM25Okapi(corpus, k1=self._k1, b=self._b, epsilon=self._epsilon)
        with np.errstate(invalid="ignore"):  # 0/0 for a sentence without words at b = 1
            scores = index.get_scores(tokens_of(query.hypothesis, self._tokenisation))
        return [float(score) for score in np.nan_to_num(scores, nan=0.0)]
