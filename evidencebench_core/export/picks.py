"""What a retriever picked of a reader's own paper, and why: for JSON and for the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evidencebench_core.export.report import ReportInput
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.export.used import versions
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm import reasons_in
from evidencebench_core.retrievers.ranker.reasons import why_texts


def explanations(retrieval: Retrieval) -> dict[int, str]:
    """Why sentences were picked, by sentence index.

    A model says it in its own words; a ranker's ``explanation`` is put into words (`why_texts`); any other
    retriever may have under ``why`` a JSON object from sentence index to text. Anything else is left out.
    """
    try:
        why = json.loads(retrieval.details.get("why", "{}"))
    except ValueError:
        why = {}
    pairs = why.items() if isinstance(why, Mapping) else ()
    texts = {int(key): str(text) for key, text in pairs if key.isascii() and key.isdigit()}
    return {**reasons_in(retrieval), **why_texts(retrieval), **texts}


def pick_documents(paper: Paper, retrieval: Retrieval) -> list[dict[str, Any]]:
    """The picks as JSON-able values, in their order; ``page`` of a PDF, ``why`` where the retriever says it."""
    rank, score = places_and_scores(retrieval)
    why, pages = explanations(retrieval), paper.pages
    return [
        {
            "sentence": index,
            "section": paper.sections[index],
            "type": paper.sentence_types[index],
            "text": paper.sentences[index],
            "rank": rank.get(index),
            "score": score.get(index),
            **({"page": pages[index]} if index in pages else {}),
            **({"why": why[index]} if index in why else {}),
        }
        for index in retrieval.selection
    ]


def paper_report(paper: Paper, hypothesis: str, retrieval: Retrieval, **others: Any) -> ReportInput:
    """The report on the picks; ``others`` are the fields of `ReportInput` that the paper does not know."""
    facts: dict[str, Any] = {
        "title": paper.title,
        "left_out": paper.left_out,
        "notes": paper.notes,
        "doubts": paper.doubts,
        "pages": paper.pages,
        "explanations": explanations(retrieval),
        "versions": versions(),
    }
    return ReportInput(paper.instance(hypothesis), retrieval, **(facts | others))
