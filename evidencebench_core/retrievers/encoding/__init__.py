"""Sentences become embeddings: the packaged MiniLM by ONNX Runtime, any other model by sentence-transformers."""

from evidencebench_core.retrievers.encoding.cache import EmbeddingCache, cache_folder
from evidencebench_core.retrievers.encoding.encoder import are_embedded, embeddings, layered_embeddings
from evidencebench_core.retrievers.encoding.inference import nli_logits
from evidencebench_core.retrievers.encoding.models import (
    Backend,
    Model,
    check_model_name,
    minilm_folder,
    model_named,
)
from evidencebench_core.retrievers.encoding.transformer import new_transformer

__all__ = [
    "Backend",
    "EmbeddingCache",
    "Model",
    "are_embedded",
    "cache_folder",
    "check_model_name",
    "embeddings",
    "layered_embeddings",
    "minilm_folder",
    "model_named",
    "new_transformer",
    "nli_logits",
]
