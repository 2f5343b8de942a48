"""The words of the papers about the aspects that a run missed or found."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from evidencebench_core.data import paper_texts
from evidencebench_core.data.sections import section_classes, section_titles
from evidencebench_core.data.store import Store
from evidencebench_core.retrievers.bm25 import tokens_of

_TEXT_COLUMNS: Final = (
    "type", "section", "heading", "types", "sections", "overlap", "overlap_sentence", "front_share",
)  # fmt: skip


def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text: lower-cased runs of letters and digits, no function words.

    As ``bm25 tokenisation=word-stop`` reads it, without stemming: "cancers" is another word than "cancer",
    and "IL-6" is two. "No" and "not" count.
    """
    return frozenset(tokens_of(text, "word-stop"))


def with_text(store: Store, outcomes: pd.DataFrame) -> pd.DataFrame:
    """Any rows of `aspect_outcomes` with what the papers' words say.

    Returns
    -------
    DataFrame
        With these columns in addition:

        - ``type``, ``section``, ``heading`` of the nearest covering sentence (``sentence``): its sentence
          type, its part of the paper (`sections.SectionClass`) and the title of its section (spec rule 15).
        - ``types``, ``sections``: tuples, those of every covering sentence, in the order of ``covering``.
        - ``overlap``: share (0 to 1) of the hypothesis' content words (`content_words`) that occur in the
          covering sentence with the most of them, ``overlap_sentence`` (the first of equals); NaN where
          the hypothesis has none. Missed aspects only: NaN for found ones.
        - ``front_share``: share of the picks that are headings or abstract sentences; NaN without picks.
    """
    by_instance: dict[str, list[int]] = {}
    for row, instance_id in enumerate(outcomes["instance"]):
        by_instance.setdefault(instance_id, []).append(row)
    keys = ("sentence", "covering", "picks", "missed")
    columns = list(zip(*(outcomes[key].tolist() for key in keys), strict=True))
    values: list[tuple[Any, ...]] = [()] * len(outcomes)
    for paper in paper_texts(store, outcomes.attrs["dataset"], by_instance):
        classes = section_classes(paper.sentences, paper.types)
        headings = section_titles(paper.sentences, paper.types)
        words: dict[int, frozenset[str]] = {}
        for instance_id, hypothesis in paper.hypotheses.items():
            asked = content_words(hypothesis)
            for row in by_instance[instance_id]:
                nearest, covering, picks, missed = columns[row]
                overlap: tuple[float, int | None] = (float("nan"), None)
                if missed and asked:
                    for index in covering:
                        if index not in words:
                            words[index] = content_words(paper.sentences[index])
                    best = max(covering, key=lambda index: len(asked & words[index]))
                    overlap = (len(asked & words[best]) / len(asked), best)
                front = sum(paper.types[pick] != "normal_paragraph" for pick in picks)
                values[row] = (
                    paper.types[nearest],
                    classes[nearest],
                    headings[nearest],
                    tuple([paper.types[index] for index in covering]),
                    tuple([classes[index] for index in covering]),
                    *overlap,
                    front / len(picks) if picks else float("nan"),
                )
    added = pd.DataFrame(values, columns=list(_TEXT_COLUMNS), index=outcomes.index)
    added = added.astype({"overlap": float, "overlap_sentence": "Int64", "front_share": float})
    found = pd.concat([outcomes, added], axis=1)
    found.attrs.update(outcomes.attrs)
    return found
