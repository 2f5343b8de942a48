"""The words that sentences share with a hypothesis, and what each adds to a score."""

from __future__ import annotations

from dataclasses import dataclass

from evidencebench_core.retrievers.base import Query, Retriever
from evidencebench_core.retrievers.bm25 import Bm25, Tokenisation, token_spans, tokens_of


@dataclass(frozen=True, slots=True)
class SharedWords:
    sentences: tuple[list[tuple[int, int, float]], ...]  # of each: characters from and to, weight
    by: str = ""  # the retriever to whose score the weights add up; empty where each word weighs 1


def shared_words(query: Query, retriever: Retriever | None = None) -> SharedWords:
    """The words of the hypothesis in each sentence.

    With `Bm25` the weights of a sentence's words add up to its score. Without it, and for all others, every word but
    English function words weighs 1.
    """
    tokens: Tokenisation = "word" if isinstance(retriever, Bm25) else "word-stop"
    if isinstance(retriever, Bm25):
        weights, by = retriever.word_weights(query), retriever.name
    else:
        words = dict.fromkeys(tokens_of(query.hypothesis, tokens), 1.0)
        weights, by = (words,) * len(query.sentences), ""
    sentences = []
    for sentence, known in zip(query.sentences, weights, strict=True):
        spans = token_spans(sentence, tokens)
        sentences.append([(start, end, known[token]) for token, start, end in spans if token in known])
    return SharedWords(tuple(sentences), by)
