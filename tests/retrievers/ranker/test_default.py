"""Which retriever is asked where nobody chose one."""

from __future__ import annotations

from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.retrievers.ranker.default import (
    DEFAULT_RETRIEVERS,
    default_retriever,
    trained_model,
)
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.retrievers.ranker.small_model import small_model


def test_structure_until_a_model_is_trained() -> None:
    assert trained_model() is None
    assert default_retriever() == "structure"
    digest = write_model(small_model(), default_model_path())
    assert default_retriever() == "evidence-ranker"
    assert trained_model() is not None
    assert trained_model()[1] == digest  # type: ignore[index]


def test_a_file_that_cannot_be_read_is_no_model() -> None:
    default_model_path().write_text('{"format": "evidencebench-ranker 0"}')
    assert trained_model() is None
    assert default_retriever() == "structure"


def test_neither_asks_a_server() -> None:
    assert not any(RETRIEVERS[name].asks_server or RETRIEVERS[name].sees_gold for name in DEFAULT_RETRIEVERS)
