"""Words shared with a hypothesis, the rarer the better."""

import re
from pathlib import Path
from typing import Final, Literal

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
        index = self.index(query)
        if index is None:
            return ranking_by_score(np.zeros(len(query.sentences)))
        with np.errstate(invalid="ignore"):  # 0 / 0 for a sentence without words where b is 1
            return ranking_by_score(np.nan_to_num(index.get_scores(tokens_of(query.hypothesis))))

    def index(self, query: Query) -> BM25Okapi | None:
        """The paper's index; none for a paper without words."""
        corpus = [tokens_of(sentence) for sentence in query.sentences]
        # rank-bm25 would divide 0 by 0 at a k1 of exactly 0
        options = {"k1": max(self.settings.k1, 1e-9), "b": self.settings.b}
        return BM25Okapi(corpus, **options) if any(corpus) else None
