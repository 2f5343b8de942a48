"""The picks of a retriever in a reader's own paper, and why: for JSON and for the report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from evidencebench_core.data.sections import section_classes
from evidencebench_core.export.report import ReportInput
from evidencebench_core.export.rows import versions
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.retrievers.llm import reasons_in
from evidencebench_core.retrievers.ranker.explanation import explanations_in
from evidencebench_core.retrievers.ranker.reasons import cue_reasons, why_texts
from evidencebench_core.words import enumerated

_MOST_WORDS: Final = 6  # that a reason names


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


def plain_explanations(paper: Paper, hypothesis: str, retrieval: Retrieval) -> dict[int, str]:
    """The reasons of a pick that a reader can check without being a researcher, by sentence index.

    The words that it shares with the hypothesis (function words aside; of many the rarest in the paper), where it
    stands, and what it does (`cue_reasons`), in sentences; a model's reason in its own words.
    """
    told, ranked = reasons_in(retrieval), explanations_in(retrieval)
    parts = section_classes(paper.sentences, paper.sentence_types)
    words_of = [frozenset(tokens_of(sentence, "word-stop")) for sentence in paper.sentences]
    n_with = Counter(chain.from_iterable(words_of))
    asked = dict.fromkeys(word for word in tokens_of(hypothesis, "word-stop") if len(word) > 1)
    texts = {}
    for index in retrieval.selection:
        rarest = sorted(asked.keys() & words_of[index], key=n_with.__getitem__)[:_MOST_WORDS]
        shared = [word for word in asked if word in rarest]
        words = f"word{'s' if len(shared) > 1 else ''} {enumerated(shared)}"
        said = [f"shares the {words} with the statement"] if shared else []
        if parts[index] != "other" and paper.sentence_types[index] != "section_name":
            said.append(f"stands in the {parts[index].capitalize()}")
        said += cue_reasons(ranked[index]) if index in ranked else ()
        model = [f"The language model says: {told[index]}"] if index in told else []
        texts[index] = " ".join((*model, *([f"It {enumerated(said)}."] if said else ())))
    return {index: text for index, text in texts.items() if text}


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


def paper_report(
    paper: Paper, hypothesis: str, retrieval: Retrieval, *, plain: bool = False, **others: Any
) -> ReportInput:
    """The report on the picks; ``others`` are the fields of `ReportInput` that the paper does not know.

    A ``plain`` one has the `plain_explanations`.
    """
    facts: dict[str, Any] = {
        "title": paper.title,
        "left_out": paper.left_out,
        "notes": paper.notes,
        "doubts": paper.doubts,
        "pages": paper.pages,
        "explanations": plain_explanations(paper, hypothesis, retrieval)
        if plain
        else explanations(retrieval),
        "versions": versions(),
    }
    return ReportInput(paper.instance(hypothesis), retrieval, **(facts | others))
