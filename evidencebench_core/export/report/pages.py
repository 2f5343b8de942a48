"""Reports as pages whole in themselves: no script, no outside request, and no text is ever markup.

The templates beside this file escape whatever they print, after `one_line` has made it visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from evidencebench_core.annotation.provenance import PROPOSED_NOTE, has_proposed_aspects
from evidencebench_core.data.model import SUFFICIENT_NOTE, Aspect, Instance
from evidencebench_core.export.report.input import ReportInput
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.metrics import Gain, Mark, aspect_recall, marginal_gains, marks
from evidencebench_core.words import clipped_text, one_line, quantity, visible

NOTICE: Final = (
    "Highlights can miss evidence, and a highlighted sentence need not be evidence. "
    "Read the paper before you rely on it. This page is no medical advice."
)
_PLAIN_NOTICE: Final = (
    "A computer program chose these sentences. It can miss important evidence, and it can show sentences "
    "that are not evidence. Read the paper before you rely on it. This page is no medical advice."
)
_SYNTHETIC: Final = "The paper is synthetic: it was invented, and reports nothing real."
_GOLD_SIGN: Final = "◆"
_MISSED_SIGN: Final = "◇"
_LEGEND: Final[tuple[tuple[Mark, str, str], ...]] = (
    ("picked", "1", "picked, with its number"),
    ("both", "1", "picked, and covers a study aspect"),
    ("gold", _GOLD_SIGN, "covers an aspect that a pick covers too"),
    ("missed", _MISSED_SIGN, "covers an aspect that no pick covers"),
)
_MOST_PICKS: Final = 30  # of an instance on the page of a run


def report_html(report: ReportInput, plain: bool = False) -> str:
    """A report as an HTML page, whole in itself, for screens of any width, light and dark, and for paper.

    The same for the same input. Every text in it is escaped; control characters and overrides of writing
    direction are written out (``[U+202E]``). ``plain`` is for readers who are no researchers: larger type, plain
    words, no gold, scores or settings.
    """
    gains = marginal_gains(report.picks, report.covers)
    paper, title = report.instance, report.title
    if title is None:
        title = paper.sentences[0] if paper.sentence_types[:1] == ("section_name",) else ""
    cited = title or paper.paper_id or "A paper without a title"
    beside = (report.source,) if plain else (report.source, paper.paper_id)
    aspects = [] if plain else _aspects(report)
    recall = aspect_recall(report.picks, report.covers)
    marked = marks(report.picks, () if plain else report.covers, len(paper.sentences))
    return page_html(
        "report.html",
        title=paper.hypothesis,
        kind="report plain" if plain else "report",
        report=report,
        plain=plain,
        moment=moment(report.created_at),
        cited=cited,
        beside=" · ".join(text for text in beside if text and text != cited),
        n_headings=paper.sentence_types.count("section_name"),
        notes=(
            *[_SYNTHETIC] * paper.synthetic,
            *[SUFFICIENT_NOTE] * (paper.is_sufficient and not plain),
            *[PROPOSED_NOTE] * (has_proposed_aspects(paper) and not plain),
            *report.notes,
        ),
        left_out=left_out_text(report.left_out),
        notice=_PLAIN_NOTICE if plain else NOTICE,
        picks=[_pick(report, gain, plain) for gain in gains],
        aspects=aspects,
        n_found=sum(bool(finders) for _, finders in aspects),
        recall=None if recall is None else percent(recall),
        facts=_facts(report),
        # A ranker's numbers stand beside the picks in words already.
        details=[
            (name, text)
            for name, text in report.retrieval.details.items()
            if text.strip() and not (name == "explanation" and report.explanations)
        ],
        legend=[item for item in _LEGEND if item[0] in marked and not (item[0] == "picked" and plain)],
        sentences=_sentences(report, marked, plain),
        maker=f"EvidenceBench Explorer {report.versions.get('evidencebench-explorer', '')}".strip(),
    )


def left_out_text(left_out: Mapping[str, int]) -> str:
    """``tables (3), figures (1)``: what there was at least one of."""
    return ", ".join(f"{name} ({number:,})" for name, number in left_out.items() if number)


def page_html(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else one_line(str(value)),
    )
    environment.filters |= {
        "clipped": clipped_text,
        "quantity": quantity,
        "lines": _lines,
        "thousands": "{:,}".format,
    }
    return environment


def _lines(text: str) -> Markup:
    """The text with its lines kept, for ``<pre>``."""
    return escape(visible("\n".join(text.splitlines()).expandtabs(4)))


def moment(created_at: str) -> str:
    """An ISO 8601 moment for people; anything else as it is."""
    try:
        when = datetime.fromisoformat(created_at)
    except ValueError:
        return created_at
    zone = f" {when.tzname()}" if when.tzinfo else ""
    return f"{when.day} {when:%B %Y, %H:%M}{zone}"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def section_name(section: str) -> str:
    return section.strip() or "before the first heading"


def versions_line(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in versions.items())


def _pick(report: ReportInput, gain: Gain, plain: bool) -> dict[str, Any]:
    """A pick in its context: its neighbours in the section, and what it is worth.

    With gold that is the aspects it newly covers and repeats; its place and score in the ranking; and why it was
    picked where the retriever says. The plain variant has the section and the reason only.
    """
    index, paper = gain.sentence, report.instance
    is_heading = paper.sentence_types[index] == "section_name"
    where = "heading" if is_heading else section_name(paper.sections[index])
    new, repeated = (
        ", ".join(report.aspects[place].label for place in part) for part in (gain.new, gain.repeated)
    )
    place = f"{where} · page {report.pages[index]}" if index in report.pages else where
    worth = []
    if paper.evidence.aspects:
        worth.append("" if new else "adds nothing new" if repeated else "covers no study aspect")
        worth[0] += f", repeats {repeated}" if repeated else ""
        if gain.recall_so_far is not None:
            worth.append(f"Aspect Recall so far {percent(gain.recall_so_far)}")
    rank, score = places_and_scores(report.retrieval)
    if index in rank:
        worth.append(f"place {rank[index]} of {len(report.retrieval.ranking)} in the ranking")
    if index in score:
        worth.append(f"score {score[index]:.4g}")
    return {
        "index": index,
        "covering": not plain and bool(new or repeated),
        "where": place if plain else f"{place} · sentence {index}",
        "before": _neighbour(paper, index - 1, index),
        "after": _neighbour(paper, index + 1, index),
        "why": report.explanations.get(index, ""),
        "verdict": report.verdicts.get(index, ""),
        "adds": new,
        "meta": " · ".join(worth),
    }


def _neighbour(paper: Instance, index: int, pick: int) -> str | None:
    """A sentence beside a pick, if it is text of the same section."""
    if not 0 <= index < len(paper.sentences) or paper.sections[index] != paper.sections[pick]:
        return None
    return None if paper.sentence_types[index] == "section_name" else paper.sentences[index]


def _aspects(report: ReportInput) -> list[tuple[Aspect, list[int]]]:
    """The task's aspects, with the numbers of the picks that cover them."""
    number = {index: place for place, index in enumerate(report.picks, start=1)}
    return [
        (aspect, sorted(number[index] for index in aspect.sentence_indices if index in number))
        for aspect in report.aspects
    ]


def _sentences(report: ReportInput, marked: Iterable[Mark], plain: bool) -> list[dict[str, str]]:
    paper = report.instance
    number = {index: place for place, index in enumerate(report.picks, start=1)}
    labels: dict[int, list[str]] = {}
    for aspect in () if plain else report.aspects:
        for index in aspect.sentence_indices:
            labels.setdefault(index, []).append(aspect.label)
    rows = []
    for index, mark in enumerate(marked):
        kinds = (
            "s",
            mark if mark != "none" else "",
            "heading" * (paper.sentence_types[index] == "section_name"),
        )
        rows.append(
            {
                "css": " ".join(filter(None, kinds)),
                "sign": str(number.get(index) or {"gold": _GOLD_SIGN, "missed": _MISSED_SIGN}.get(mark, "")),
                "text": paper.sentences[index],
                "aspects": " ".join(labels.get(index, ())),
            }
        )
    return rows


def _facts(report: ReportInput) -> dict[str, str]:
    settings = {
        f"· {name}": ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in report.settings.items()
    }
    task, budget = report.task, report.budget
    if task is not None:
        budget = task.budget_for(report.instance.evidence)
    return {
        "task": "" if task is None else task.title,
        "budget": "no limit" if budget is None else f"K = {budget:,}",
        "retriever": report.retriever,
        **settings,
        "seconds": f"{report.retrieval.seconds:.2f}" if report.retrieval.seconds else "",
        "versions": versions_line(report.versions),
    }
