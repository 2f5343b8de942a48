from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import retrieval_by_score

Tokenisation = Literal["word", "word-stop"]

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
_FLOOR: Final = 0.25  # of the mean idf: what a word in more than half of the sentences weighs


def tokens_of(text: str, tokenisation: Tokenisation = "word") -> list[str]:
    r"""The tokens of a text, lower-cased: runs of letters, digits and underscores (``IL-6`` is ``il`` and ``6``).

    ``word-stop`` leaves English function words out.
    """
    words = _WORD.findall(text.lower())
    return [word for word in words if word not in _STOP_WORDS] if tokenisation == "word-stop" else words


def token_spans(text: str, tokenisation: Tokenisation = "word") -> list[tuple[str, int, int]]:
    """The same tokens, each with where it begins and ends in the text."""
    lowered = text.lower()
    # A capital dotted I becomes two characters; all else keeps its place.
    places = [place for place, letter in enumerate(text) for _ in letter.lower()]
    words = _WORD.finditer(lowered)
    spans = [(word[0], places[word.start()], places[word.end() - 1] + 1) for word in words]
    return [span for span in spans if tokenisation == "word" or span[0] not in _STOP_WORDS]


class Bm25:
    """Okapi BM25 as rank-bm25 computes it, with the sentences of the query's paper as the whole corpus.

    Sentences that share no token with the hypothesis score 0; equal scores keep the order of the paper.
    """

    name = "bm25"

    def __init__(self, *, k1: float = 1.5, b: float = 0.75) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({"k1": k1, "b": b})
        # a k1 of exactly 0 would divide 0 by 0: this is as near as it gets
        self._k1, self._b = max(k1, _TINY), b

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by BM25 score and select the best."""
        return retrieval_by_score(query, _scores_of(query.sentences, query.hypothesis, self._k1, self._b))

    def word_weights(self, query: Query) -> tuple[Mapping[str, float], ...]:
        """For each sentence, by its words of the hypothesis, what one occurrence adds to its score.

        Occurrences of a word add equal parts of what they add together, which saturates.
        """
        asked = Counter(tokens_of(query.hypothesis))
        index = _index_of(query.sentences)
        norms = index.norms(self._k1, self._b)
        weights: list[dict[str, float]] = [{} for _ in query.sentences]
        for word, counts in index.counts(asked).items():
            for place in np.flatnonzero(counts):
                part = asked[word] * index.idf[word] * (self._k1 + 1) / (counts[place] + norms[place])
                weights[place][word] = float(part)
        return tuple(weights)


@dataclass(frozen=True, slots=True)
class _Index:
    """The words of a paper's sentences."""

    sentences: tuple[list[str], ...]
    lengths: NDArray[np.float64]  # in words
    idf: Mapping[str, float]

    def norms(self, k1: float, b: float) -> NDArray[np.float64]:
        """What the count of a word is set against, by sentence."""
        return k1 * (1 - b + b * self.lengths / (self.lengths.mean() or 1.0))

    def counts(self, words: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        """How often each word is in each sentence, of those that are in the paper."""
        counts = {word: np.zeros(len(self.sentences)) for word in words if word in self.idf}
        for place, sentence in enumerate(self.sentences):
            for word in counts.keys() & sentence:
                counts[word][place] = sentence.count(word)
        return counts


@lru_cache(maxsize=16)  # other hypotheses about the same paper
def _index_of(sentences: tuple[str, ...]) -> _Index:
    words = tuple(tokens_of(sentence) for sentence in sentences)
    n_with = Counter(chain.from_iterable(map(dict.fromkeys, words)))  # sentences that have the word
    idfs = {n: log(len(words) - n + 0.5) - log(n + 0.5) for n in set(n_with.values())}
    mean = np.cumsum([idfs[n] for n in n_with.values()] or [0.0])[-1] / (len(n_with) or 1)
    idf = {word: idfs[n] if idfs[n] >= 0 else _FLOOR * mean for word, n in n_with.items()}
    return _Index(words, np.array([len(sentence) for sentence in words], dtype=float), idf)


@lru_cache(maxsize=16)  # a run asks the same of a paper for task after task: only the budget differs
def _scores_of(sentences: tuple[str, ...], hypothesis: str, k1: float, b: float) -> NDArray[np.float64]:
    index, words = _index_of(sentences), tokens_of(hypothesis)
    norms, counts = index.norms(k1, b), index.counts(words)
    scores = np.zeros(len(sentences))
    with np.errstate(invalid="ignore"):  # 0 / 0 for a sentence without words where b is 1
        for word in words:
            if word in counts:
                scores += index.idf[word] * (counts[word] * (k1 + 1) / (counts[word] + norms))
    return np.nan_to_num(scores)
