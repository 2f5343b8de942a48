"""The words that sentences share with a hypothesis, and what each adds to a score."""

from __future__ import annotations

from dataclasses import dataclass

from evidencebench_core.retrievers.base import Query, Retriever
from evidencebench_core.retrievers.bm25 import Bm25, Tokenisation, token_spans, tokens_of


@dataclass(frozen=True, slots=True)
class SharedWord:
    """A word of the hypothesis where it stands in a sentence: characters ``start`` to ``end``, and its weight."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The shared words of a paper."""

    sentences: tuple[tuple[SharedWord, ...], ...]  # of each sentence, in the order of its text
    scored_by: str = ""  # the retriever to whose score the weights add up; empty where each word weighs 1


def shared_words(query: Query, retriever: Retriever | None = None) -> SharedWords:
    """The words of the hypothesis in each sentence.

    With `Bm25` the weights of a sentence's words add up to its score. Without it, and for all others, every word but
    English function words weighs 1.
    """
    tokenisation: Tokenisation = "word" if isinstance(retriever, Bm25) else "word-stop"
    if isinstance(retriever, Bm25):
        weights = retriever.word_weights(query)
    else:
        words = dict.fromkeys(tokens_of(query.hypothesis, tokenisation), 1.0)
        weights = (words,) * len(query.sentences)
    return SharedWords(
        tuple(
            tuple(
                SharedWord(start, end, known[token])
                for token, start, end in token_spans(sentence, tokenisation)
                if token in known
            )
            for sentence, known in zip(query.sentences, weights, strict=True)
        ),
        retriever.name if isinstance(retriever, Bm25) else "",
    )
