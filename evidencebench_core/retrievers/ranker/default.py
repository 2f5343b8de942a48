"""Which retriever is asked where nobody chose one, and whether the trained one can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from evidencebench_core.errors import RetrieverError

if TYPE_CHECKING:
    from evidencebench_core.retrievers.ranker.model import RankerModel

__all__ = ["DEFAULT_RETRIEVERS", "default_retriever", "trained_model"]

DEFAULT_RETRIEVERS: Final = ("evidence-ranker", "structure")
"""The first needs a trained model; the second does not."""


def trained_model() -> tuple[RankerModel, str] | None:
    """The model that ``evidence-ranker`` would use, and its digest; ``None`` while there is none to be read."""
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model

    path = default_model_path()
    if not path.is_file():
        return None
    try:
        return read_model(path)
    except RetrieverError:
        return None


def default_retriever() -> Literal["evidence-ranker", "structure"]:
    """``"evidence-ranker"`` where a trained model is at its place and can be read, else ``"structure"``."""
    return "structure" if trained_model() is None else "evidence-ranker"
