from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import retrieval_by_score, timed

Tokenisation = Literal["word", "whitespace", "word-stop"]

_WORD: Final = re.compile(r"\w+")
_BETWEEN_SPACES: Final = re.compile(r"\S+")
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


def token_spans(text: str, tokenisation: Tokenisation) -> list[tuple[str, int, int]]:
    """The same tokens, each with where it begins and ends in the text."""
    lowered = text.lower()
    # A capital dotted I becomes two characters; all else keeps its place.
    places = [place for place, letter in enumerate(text) for _ in letter.lower()]
    words = (_BETWEEN_SPACES if tokenisation == "whitespace" else _WORD).finditer(lowered)
    spans = [(word[0], places[word.start()], places[word.end() - 1] + 1) for word in words]
    return [span for span in spans if tokenisation != "word-stop" or span[0] not in _STOP_WORDS]


class Bm25:
    """Okapi BM25 by rank-bm25, with the sentences of the query's paper as the whole corpus.

    Sentences that share no token with the hypothesis score 0; equal scores keep the order of the
    paper. Negative inverse document frequencies are replaced by ``epsilon`` times the average one.
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
        self.tokenisation: Tokenisation = tokenisation

    @timed
    def retrieve(self, query: Query) -> Retrieval:
        """Rank by BM25 score and select the best."""
        given = (self.tokenisation, self._k1, self._b, self._epsilon)
        return retrieval_by_score(query, _scores_of(query.sentences, query.hypothesis, *given))

    def scores(self, sentences: Sequence[str], hypothesis: str) -> tuple[float, ...]:
        """BM25 scores of any sentences as one corpus, such as those of several papers; none of it is cached."""
        index = _index_of.__wrapped__(tuple(sentences), self.tokenisation, self._k1, self._b, self._epsilon)
        return _scores(index, len(sentences), hypothesis, self.tokenisation)

    def word_weights(self, query: Query) -> tuple[Mapping[str, float], ...]:
        """For each sentence, by its words of the hypothesis, what one occurrence adds to its score.

        Occurrences of a word add equal parts of what they add together, which saturates.
        """
        k1, b = self._k1, self._b
        index = _index_of(query.sentences, self.tokenisation, k1, b, self._epsilon)
        if index is None:
            return ({},) * len(query.sentences)
        asked = Counter(tokens_of(query.hypothesis, self.tokenisation))
        return tuple(
            {
                word: n * index.idf[word] * (k1 + 1) / (found[word] + k1 * (1 - b + b * length / index.avgdl))
                for word, n in asked.items()
                if word in found
            }
            for found, length in zip(index.doc_freqs, index.doc_len, strict=True)
        )


@lru_cache(maxsize=16)  # a run asks the same of a paper for task after task: only the budget differs
def _scores_of(
    sentences: tuple[str, ...],
    hypothesis: str,
    tokenisation: Tokenisation,
    k1: float,
    b: float,
    epsilon: float,
) -> tuple[float, ...]:
    index = _index_of(sentences, tokenisation, k1, b, epsilon)
    return _scores(index, len(sentences), hypothesis, tokenisation)


def _scores(index: Any, n_sentences: int, hypothesis: str, tokenisation: Tokenisation) -> tuple[float, ...]:
    if index is None:
        return (0.0,) * n_sentences
    with np.errstate(invalid="ignore"):  # 0 / 0 for a sentence without words where b is 1
        scores = index.get_scores(tokens_of(hypothesis, tokenisation))
    return tuple(np.nan_to_num(scores).tolist())


@lru_cache(maxsize=16)  # other hypotheses about the same paper
def _index_of(
    sentences: tuple[str, ...], tokenisation: Tokenisation, k1: float, b: float, epsilon: float
) -> Any:
    """The paper's ``BM25Okapi``, or ``None`` for a paper without words, which it cannot index."""
    from rank_bm25 import BM25Okapi

    corpus = [tokens_of(sentence, tokenisation) for sentence in sentences]
    return BM25Okapi(corpus, k1=k1, b=b, epsilon=epsilon) if any(corpus) else None
