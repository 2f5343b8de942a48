"""Why a sentence was picked, in plain words, where the retriever says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm import reasons_in
from evidencebench_core.retrievers.ranker.reasons import why_texts

__all__ = ["explanations"]


def explanations(retrieval: Retrieval) -> dict[int, str]:
    """Why sentences were picked, by sentence index.

    A model says it in its own words; a ranker's ``explanation`` is put into words (`why_texts`); any other
    retriever may have under ``why`` a JSON object from sentence index to text. What is none of these is
    left out.
    """
    why = _objects(retrieval.details.get("why", ""))
    return {
        **reasons_in(retrieval),
        **why_texts(retrieval),
        **{index: str(text) for index, text in why.items()},
    }


def _objects(text: str) -> dict[int, Any]:
    """A JSON object whose keys are sentence indices; nothing where the text is none."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    if not isinstance(found, Mapping):
        return {}
    return {int(key): value for key, value in found.items() if str(key).isascii() and str(key).isdigit()}
