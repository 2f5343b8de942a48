"""Words shared with a hypothesis, the rarer the better."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field

from evidencebench_core.retrievers.base import Query, Retrieval, Retriever
from evidencebench_core.retrievers.ranking import ALL, retrieval_by_score

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


class Bm25(Retriever):
    """Okapi BM25 by rank-bm25, with the sentences of the query's paper as the whole corpus.

    Sentences that share no token with the hypothesis score 0; equal scores keep the order of the paper.
    """

    name = "bm25"
    summary = f"Words shared with the hypothesis, the rarer the better (BM25). {ALL}"

    k1: float = Field(1.5, ge=0, le=100, description="How slowly repeated words saturate.")
    b: float = Field(0.75, ge=0, le=1, description="How much long sentences are discounted.")

    def retrieve(self, query: Query) -> Retrieval:
        scores = _scores_of(query.sentences, query.hypothesis, self._saturation, self.b)
        return retrieval_by_score(query, scores)

    def word_weights(self, query: Query) -> tuple[Mapping[str, float], ...]:
        """For each sentence, by its words of the hypothesis, what one occurrence adds to its score.

        Occurrences of a word add equal parts of what they add together, which saturates.
        """
        k1, b = self._saturation, self.b
        index = _index_of(query.sentences, k1, b)
        if index is None:
            return ({},) * len(query.sentences)
        query_words = Counter(tokens_of(query.hypothesis))
        return tuple(
            {
                word: n
                * index.idf[word]
                * (k1 + 1)
                / (counts[word] + k1 * (1 - b + b * length / index.avgdl))
                for word, n in query_words.items()
                if word in counts
            }
            for counts, length in zip(index.doc_freqs, index.doc_len, strict=True)
        )

    @property
    def _saturation(self) -> float:
        """``k1``; rank-bm25 would divide 0 by 0 at exactly 0, and this is as near as it gets."""
        return max(self.k1, _TINY)


@lru_cache(maxsize=16)  # a run asks the same of a paper for task after task: only the budget differs
def _scores_of(sentences: tuple[str, ...], hypothesis: str, k1: float, b: float) -> tuple[float, ...]:
    index = _index_of(sentences, k1, b)
    if index is None:
        return (0.0,) * len(sentences)
    with np.errstate(invalid="ignore"):  # 0 / 0 for a sentence without words where b is 1
        scores = index.get_scores(tokens_of(hypothesis))
    return tuple(np.nan_to_num(scores).tolist())


@lru_cache(maxsize=16)  # other hypotheses about the same paper
def _index_of(sentences: tuple[str, ...], k1: float, b: float) -> Any:
    """The paper's ``BM25Okapi``, or ``None`` for a paper without words, which it cannot index."""
    from rank_bm25 import BM25Okapi

    corpus = [tokens_of(sentence) for sentence in sentences]
    return BM25Okapi(corpus, k1=k1, b=b) if any(corpus) else None
