"""Picks in several papers to take away: as a table, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from evidencebench_core.export.picks import explanations, pick_documents
from evidencebench_core.export.report.pages import NOTICE, moment, page_html, section_name, versions_line
from evidencebench_core.export.rows import versions
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Setting
from evidencebench_core.runs import PaperPicks, measure_of, measure_text
from evidencebench_core.words import quantity

_OPEN: Final = 3  # picks of a paper that are not folded


def across_frame(
    found: Sequence[PaperPicks], titles: Mapping[str, str], pages: Mapping[str, Mapping[int, int]]
) -> pd.DataFrame:
    """The picks in several papers, a row each, in the order of papers and picks; for `csv_text`.

    ``paper_place`` and ``pick`` count from 1; ``compared`` is the score by which papers are ordered, ``rank`` and
    ``score`` are the retriever's own; ``page`` is empty where it is not known. ``titles`` and ``pages`` (by sentence
    index) are by the papers' keys.
    """
    rows: list[dict[str, Any]] = []
    for paper_place, one in enumerate(found, start=1):
        rank, score = places_and_scores(one.retrieval)
        for pick, (index, compared) in enumerate(
            zip(one.retrieval.selection, one.compared, strict=True), start=1
        ):
            rows.append(
                {
                    "paper_place": paper_place,
                    "paper": titles.get(one.key, one.key),
                    "paper_id": one.instance.paper_id,
                    "pick": pick,
                    "sentence": index,
                    "section": one.instance.sections[index],
                    "page": pages.get(one.key, {}).get(index),
                    "compared": compared,
                    "rank": rank.get(index),
                    "score": score.get(index),
                    "text": one.instance.sentences[index],
                }
            )
    names = [
        "paper_place",
        "paper",
        "paper_id",
        "pick",
        "sentence",
        "section",
        "page",
        "compared",
        "rank",
        "score",
        "text",
    ]
    whole = dict.fromkeys(("page", "rank"), "Int64")
    return pd.DataFrame(rows, columns=names).astype(whole)


def across_documents(found: Sequence[PaperPicks], papers: Mapping[str, Paper]) -> list[dict[str, Any]]:
    """The same as JSON-able values, a paper each; ``papers`` by their keys."""
    return [
        {
            "paper": one.key,
            "paper_id": one.instance.paper_id,
            "title": papers[one.key].title,
            "n_sentences": len(one.instance.sentences),
            "best": one.best,
            "seconds": one.retrieval.seconds,
            "picks": [
                {**pick, "compared": compared}
                for pick, compared in zip(
                    pick_documents(papers[one.key], one.retrieval), one.compared, strict=True
                )
            ],
        }
        for one in found
    ]


def across_html(  # noqa: PLR0913 - what stands on the page
    found: Sequence[PaperPicks],
    hypothesis: str,
    titles: Mapping[str, str],
    pages: Mapping[str, Mapping[int, int]],
    *,
    retriever: str,
    settings: Mapping[str, Setting],
    budget: int,
    problems: Sequence[str] = (),
    command: str = "",
    created_at: str = "",
) -> str:
    """The picks in several papers as one HTML page like `report_html`'s, everything escaped.

    Parameters
    ----------
    found : sequence of PaperPicks
    hypothesis : str
    titles, pages
        As in `across_frame`.
    retriever : str
        Its name.
    settings : mapping of str to Setting
    budget : int
        K in each paper.
    problems : sequence of str
        What could not be read, a line each.
    command : str
        What makes the same again, quoted for a shell.
    created_at : str
        ISO 8601.
    """
    facts = {
        "budget": f"K = {budget:,} in each paper",
        "retriever": retriever,
        **{
            f"· {name}": ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for name, value in settings.items()
        },
        "versions": versions_line(versions()),
    }
    return page_html(
        "across.html",
        title=hypothesis,
        kind="report",
        hypothesis=hypothesis,
        moment=moment(created_at),
        n_papers=quantity(len(found), "paper"),
        n_sentences=quantity(sum(len(one.instance.sentences) for one in found), "sentence"),
        order=measure_text(retriever),
        notice=NOTICE,
        problems=problems,
        papers=[_paper(one, titles, pages.get(one.key, {}), measure_of(retriever)) for one in found],
        n_open=_OPEN,
        facts=facts,
        command=command,
    )


def _paper(
    one: PaperPicks, titles: Mapping[str, str], pages: Mapping[int, int], measure: str
) -> dict[str, Any]:
    why, instance = explanations(one.retrieval), one.instance
    return {
        "title": titles.get(one.key, one.key),
        "facts": f"{quantity(len(one.compared), 'pick')} of {quantity(len(instance.sentences), 'sentence')}",
        "best": "" if one.best is None else f"{measure} {one.best:.3g}",
        "picks": [
            {
                "text": instance.sentences[index],
                "where": section_name(instance.sections[index])
                + (f" · page {pages[index]}" if index in pages else "")
                + f" · sentence {index}",
                "why": why.get(index, ""),
                "compared": f"{measure} {compared:.3g}",
            }
            for index, compared in zip(one.retrieval.selection, one.compared, strict=True)
        ],
    }
