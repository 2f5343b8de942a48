"""The common part of retrievers by embeddings: instructions, and cosines that are the same every time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.table import Instruction

INSTRUCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "none": "",
        "er": "From a biomedical study, find the most telling details that together make up "
        "the evidence on this hypothesis: ",
        "result": "From a biomedical study, find the most telling outcomes, results and analyses "
        "that together make up the evidence on this hypothesis: ",
    }
)
"""The text before the hypothesis. Our wording, after the paper's appendix E.6."""


def instruction_text(instruction: Instruction, query: Query) -> str:
    """The text before the hypothesis: with ``auto`` the result one on the Result tasks, else the ER one."""
    if instruction == "auto":
        instruction = "result" if query.focus == "results" else "er"
    return INSTRUCTIONS[instruction]


def cosines(vectors: NDArray[np.float32]) -> list[float]:
    """Cosine of the first row with each of the others, rounded to six decimals; 0 for a vector of zeros."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    # summed row by row: a matrix product may give equal rows different last digits
    products = (wide[1:] * wide[0]).sum(axis=1)
    norms = lengths[1:] * lengths[0]
    values = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return [round(float(value), 6) for value in values]
