"""Queries to try retrievers on."""

from collections.abc import Sequence

from evidencebench_core.data.model import SentenceType
from evidencebench_core.retrievers import Query

KINDS: dict[str, SentenceType] = {"s": "section_name", "a": "abstract", "n": "normal_paragraph"}


def make_query(
    sentences: Sequence[str], types: str = "", hypothesis: str = "Tea lowers blood pressure.", **rest: object
) -> Query:
    """Sentences (and their types, one letter each: s, a, n) to a query."""
    kinds = tuple(KINDS[letter] for letter in types or "n" * len(sentences))
    return Query(hypothesis, tuple(sentences), kinds, ("",) * len(sentences), **rest)  # type: ignore[arg-type]
