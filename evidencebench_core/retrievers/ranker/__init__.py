"""A local ranker that reads a paper's structure, words and meaning, and learns from gold evidence."""

from __future__ import annotations

from typing import Final

__all__ = ["CROSS_VALIDATED"]

CROSS_VALIDATED: Final = "cross-validated"
"""The setting ``model`` of a run whose answers ``train-ranker`` got from models of other folds."""
