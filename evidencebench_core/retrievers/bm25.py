"""Words shared with a hypothesis, the rarer the better."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from math import log
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field
from rank_bm25 import BM25Okapi

from evidencebench_core.retrievers.base import ALL, Query, Retrieval, Retriever, ranking_by_score
from evidencebench_core.retrievers.settings import Settings

Tokenisation = Literal["word", "word-stop"]

_WORD: Final = re.compile(r"\w+")
# "no" and "not" are not among them: they turn a finding round
_STOP_WORDS: Final = frozenset(Path(__file__).with_name("stop_words.txt").read_text("utf-8").split())
_ASCII: Final = "".join(chr(code) if _WORD.match(chr(code)) else " " for code in range(128))


def tokens_of(text: str, tokenisation: Tokenisation = "word") -> list[str]:
    r"""The tokens of a text, lower-cased: runs of letters, digits and underscores (``IL-6`` is ``il`` and ``6``).

    ``word-stop`` leaves English function words out.
    """
    lowered = text.lower()
    words = lowered.translate(_ASCII).split() if lowered.isascii() else _WORD.findall(lowered)
    return [word for word in words if word not in _STOP_WORDS] if tokenisation == "word-stop" else words


def token_spans(text: str, tokenisation: Tokenisation = "word") -> list[tuple[str, int, int]]:
    """The same tokens, each with where it begins and ends in the text."""
    lowered = text.lower()
    # A capital dotted I becomes two characters; all else keeps its place.
    places = [place for place, letter in enumerate(text) for _ in letter.lower()]
    words = _WORD.finditer(lowered)
    spans = [(word[0], places[word.start()], places[word.end() - 1] + 1) for word in words]
    return [span for span in spans if tokenisation == "word" or span[0] not in _STOP_WORDS]


class Bm25Settings(Settings):
    k1: float = Field(1.5, ge=0, le=100, description="How slowly repeated words saturate.")
    b: float = Field(0.75, ge=0, le=1, description="How much long sentences are discounted.")


class Bm25(Retriever):
    """Okapi BM25 by rank-bm25, with the sentences of the query's paper as the whole corpus.

    Sentences that share no token with the hypothesis score 0; equal scores keep the order of the paper.
    """

    name = "bm25"
    summary = f"Words shared with the hypothesis, the rarer the better (BM25). {ALL}"
    settings_class = Bm25Settings

    def rank(self, query: Query) -> Retrieval:
        index, words = self._index(query)
        if index is None:
            return ranking_by_score(np.zeros(len(query.sentences)))
        with np.errstate(invalid="ignore"):  # 0 / 0 for a sentence without words where b is 1
            return ranking_by_score(np.nan_to_num(index.get_scores(words)))

    def word_weights(self, query: Query) -> tuple[Mapping[str, float], ...]:
        """For each sentence, by its words of the hypothesis, what one occurrence adds to its score.

        Occurrences of a word add equal parts of what they add together, which saturates.
        """
        weights: tuple[dict[str, float], ...] = tuple({} for _ in query.sentences)
        index, words = self._index(query)
        for word, n in Counter(words).items():
            with np.errstate(invalid="ignore"):
                scores = n * index.get_scores([word])
            for of_sentence, counts, score in zip(weights, index.doc_freqs, scores, strict=True):
                if word in counts:
                    of_sentence[word] = float(score) / counts[word]
        return weights

    def _index(self, query: Query) -> tuple[Any, list[str]]:
        """The paper's index, none for one without words, and the words of the hypothesis that the paper has."""
        corpus = [tokens_of(sentence) for sentence in query.sentences]
        if not any(corpus):
            return None, []
        words = tokens_of(query.hypothesis)
        # rank-bm25 would divide 0 by 0 at a k1 of exactly 0
        index = _Index(corpus, set(words), k1=max(self.settings.k1, 1e-9), b=self.settings.b)
        return index, [word for word in words if word in index.idf]


class _Index(BM25Okapi):  # type: ignore[misc]
    """rank-bm25's, which counts only what a hypothesis needs: the same scores in half the time."""

    def __init__(self, corpus: Sequence[Sequence[str]], words: Set[str], **options: float) -> None:
        self.words = words
        super().__init__(corpus, **options)

    def _initialize(self, corpus: Sequence[Sequence[str]]) -> Counter[str]:
        distinct = [dict.fromkeys(tokens) for tokens in corpus]
        self.doc_freqs = [
            {word: tokens.count(word) for word in self.words & its_words.keys()}
            for tokens, its_words in zip(corpus, distinct, strict=True)
        ]
        self.doc_len = [len(tokens) for tokens in corpus]
        self.corpus_size, self.avgdl = len(corpus), sum(self.doc_len) / len(corpus)
        return Counter(chain.from_iterable(distinct))

    def _calc_idf(self, nd: Counter[str]) -> None:
        by_count = {n: log(self.corpus_size - n + 0.5) - log(n + 0.5) for n in set(nd.values())}
        self.average_idf = sum(by_count[n] for n in nd.values()) / len(nd)
        floor = self.epsilon * self.average_idf
        values = {n: floor if idf < 0 else idf for n, idf in by_count.items()}
        self.idf = {word: values[nd[word]] for word in self.words if word in nd}
