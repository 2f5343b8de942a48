"""How sentences become embeddings: by ONNX Runtime where that is exact enough, else by sentence-transformers."""

from evidencebench_core.retrievers.encoding.backend import (
    BACKENDS,
    ENOUGH,
    Agreement,
    Backend,
    BackendName,
    agreement,
    resolved,
)

__all__ = ["BACKENDS", "ENOUGH", "Agreement", "Backend", "BackendName", "agreement", "resolved"]
