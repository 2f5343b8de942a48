"""Retrievers by embeddings, made here or by a server: the cosine of the hypothesis' with each sentence's."""

import base64
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from evidencebench_core.llm.client import LLM
from evidencebench_core.retrievers.base import (
    ALL,
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    ranking_by_score,
)
from evidencebench_core.retrievers.encoding import ENCODER_HELP, Encoder, TrainedOn
from evidencebench_core.retrievers.settings import Settings

_SENT: Final = 64  # texts in a request


class DenseSettings(Settings):
    model: str = Field("minilm", min_length=1, description=ENCODER_HELP)


class Dense(Retriever):
    """Cosines of embeddings that are computed here, rounded to six decimals: below, the arithmetic of a batch decides.

    A model with prompts of its own for queries and documents is given those.
    """

    name = "dense"
    summary = f"Cosine similarity of sentence embeddings, computed here. {ALL}"
    settings_class = DenseSettings

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        self.encoder = Encoder(self.settings.model)
        self.basis = {"model": self.encoder.identity}
        self.training = TrainedOn.read(self.settings.model)

    def rank(self, query: Query) -> Retrieval:
        return ranking_by_score(cosines(self.encoder.vectors(query.hypothesis, query.sentences)))


class EmbeddingsSettings(Settings):
    model: str | None = Field(None, description="The model, as the server calls it. It has to be named.")


class Embeddings(ServedRetriever):
    """The same with embeddings of a server's, by ``/v1/embeddings``."""

    name = "embeddings"
    summary = f"Cosine similarity of sentence embeddings, computed by an OpenAI-compatible server. {ALL}"
    settings_class = EmbeddingsSettings

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        started = perf_counter()
        vectors = await embeddings(llm, self.settings.model, (query.hypothesis, *query.sentences))
        return replace(ranking_by_score(cosines(vectors)), seconds=perf_counter() - started)


async def embeddings(llm: LLM, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector for each text, the first of which, a hypothesis, is sent alone: a paper is asked for once."""
    from evidencebench_core.llm.answers import Call, valid_text
    from evidencebench_core.llm.client import gather

    inputs = [valid_text(text) or " " for text in texts]  # servers refuse an empty text
    parts = [inputs[:1], *(inputs[i : i + _SENT] for i in range(1, len(inputs), _SENT))]
    calls = [Call({"model": model, "input": part}, path="embeddings") for part in parts]
    answers = await gather(*map(llm.answer, calls))
    if not all(answer.text for answer in answers):  # a rehearsal
        return np.zeros((len(texts), 1), dtype=np.float32)
    content = b"".join(base64.b64decode(answer.text) for answer in answers)
    return np.frombuffer(content, dtype="<f4").reshape(len(texts), -1)


def cosines(vectors: NDArray[np.float32]) -> list[float]:
    """Cosine of the first row with each of the others, rounded to six decimals; 0 for a vector of zeros."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    # summed row by row: a matrix product may give equal rows different last digits
    products = (wide[1:] * wide[0]).sum(axis=1)
    norms = lengths[1:] * lengths[0]
    values = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return [round(float(value), 6) for value in values]
