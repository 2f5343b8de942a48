"""The words that sentences share with a hypothesis, as the reader underlines them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from evidencebench_core.export.reader import SharedWords
from evidencebench_core.retrievers.base import Query, Retriever
from evidencebench_core.retrievers.bm25 import Bm25, Tokenisation, token_spans, tokens_of


def shared_words(query: Query, retriever: Retriever | None = None) -> SharedWords:
    """The words of the hypothesis in each sentence.

    With `Bm25` the weights of a sentence's words add up to its score. Without it, and for all others, every word but
    English function words weighs 1.
    """
    tokens: Tokenisation = "word" if isinstance(retriever, Bm25) else "word-stop"
    if isinstance(retriever, Bm25):
        weights, by = _word_weights(retriever, query), retriever.name
    else:
        words = dict.fromkeys(tokens_of(query.hypothesis, tokens), 1.0)
        weights, by = (words,) * len(query.sentences), ""
    sentences = []
    for sentence, known in zip(query.sentences, weights, strict=True):
        spans = token_spans(sentence, tokens)
        sentences.append([(start, end, known[token]) for token, start, end in spans if token in known])
    return SharedWords(tuple(sentences), by)


def _word_weights(retriever: Bm25, query: Query) -> tuple[Mapping[str, float], ...]:
    """For each sentence, by its words of the hypothesis, what one occurrence adds to its score.

    Occurrences of a word add equal parts of what they add together, which saturates.
    """
    weights: tuple[dict[str, float], ...] = tuple({} for _ in query.sentences)
    index = retriever.index(query)
    if index is None:
        return weights
    for word, n in Counter(tokens_of(query.hypothesis)).items():
        with np.errstate(invalid="ignore"):
            scores = n * index.get_scores([word])
        for of_sentence, counts, score in zip(weights, index.doc_freqs, scores, strict=True):
            if word in counts:
                of_sentence[word] = float(score) / counts[word]
    return weights
