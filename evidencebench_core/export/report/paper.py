"""The whole paper with its marks, folded behind the picks, and the table of study aspects."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from evidencebench_core.export.report.input import ReportInput
from evidencebench_core.export.report.picks import percent
from evidencebench_core.export.report.text import element, safe
from evidencebench_core.metrics import Mark, aspect_recall, marks

__all__ = ["aspects_html", "paper_html"]

_GOLD_SIGN: Final = "◆"
_MISSED_SIGN: Final = "◇"
_LEGEND: Final[Mapping[Mark, tuple[str, str]]] = MappingProxyType(
    {
        "picked": ("1", "picked, with its number"),
        "both": ("1", "picked, and covers a study aspect"),
        "gold": (_GOLD_SIGN, "covers an aspect that a pick covers too"),
        "missed": (_MISSED_SIGN, "covers an aspect that no pick covers"),
    }
)


def paper_html(report: ReportInput, plain: bool) -> str:
    """The paper as a folded list of sentences, opened by a click, by a link to a sentence, and in print."""
    shown = None if plain else report.evidence
    marked = marks(report.picks, report.covers if shown else (), len(report.sentences))
    number = {index: place for place, index in enumerate(report.picks, start=1)}
    aspects = _labels_by_sentence(report) if shown else {}
    legend = "".join(
        f'<span class="{mark}"><i class="sign" style="font-style:normal">{sign}</i>{what}</span>'
        for mark, (sign, what) in _LEGEND.items()
        if mark in marked and not (mark == "picked" and plain)
    )
    lines = "\n".join(
        _sentence_html(report, index, mark, number.get(index), aspects.get(index, ""), plain)
        for index, mark in enumerate(marked)
    )
    count = f"{len(report.sentences):,} sentences"
    return (
        f'<details class="paper">\n<summary>The whole paper, with the picks marked <small>{count}</small></summary>\n'
        f'{element("div", legend, "legend") if legend else ""}\n<ol class="sentences">\n{lines}\n</ol>\n</details>'
    )


def _sentence_html(
    report: ReportInput, index: int, mark: Mark, number: int | None, aspects: str, plain: bool
) -> str:
    css = ["s", mark] if mark != "none" else ["s"]
    if report.sentence_types[index] == "section_name":
        css.append("heading")
    sign = str(number or {"gold": _GOLD_SIGN, "missed": _MISSED_SIGN}.get(mark, ""))
    of = f'<span class="sign">{sign}</span>' if sign else ""
    behind = f'<span class="aspects">{safe(aspects)}</span>' if aspects else ""
    no = "" if plain else str(index)
    return (
        f'<li class="{" ".join(css)}" id="s{index}"><span class="no">{no}</span><span class="of">{of}</span>'
        f'<span class="t" dir="auto">{safe(report.sentences[index])}{behind}</span></li>'
    )


def _labels_by_sentence(report: ReportInput) -> dict[int, str]:
    labels: dict[int, str] = {}
    for label, cover in zip(report.labels, report.covers, strict=True):
        for index in cover:
            labels[index] = f"{labels[index]} {label}" if index in labels else label
    return labels


def aspects_html(report: ReportInput) -> str:
    """With gold: every study aspect of the task, the sentences that cover it, and the pick that found it."""
    if report.evidence is None or not report.covers:
        return ""
    number = {index: place for place, index in enumerate(report.picks, start=1)}
    rows, n_found = [], 0
    for aspect in report.evidence.focused(report.focus):
        finders = sorted(number[index] for index in aspect.sentence_indices if index in number)
        n_found += bool(finders)
        found = f"pick {', '.join(map(str, finders))}" if finders else "missed"
        where = ", ".join(f'<a href="#s{index}">{index}</a>' for index in aspect.sentence_indices)
        kind = " (result)" if aspect.is_result else ""
        rows.append(
            f'<tr><th scope="row">{safe(aspect.label)}{kind}</th><td dir="auto">{safe(aspect.text or "")}</td>'
            f'<td class="where">{where or "none"}</td><td class="by">{found}</td></tr>'
        )
    recall = aspect_recall(report.picks, report.covers)
    summary = f"Each with the sentences that cover it. {n_found} of {len(rows)} are found"
    if recall is not None:
        summary += f": Aspect Recall {percent(recall)}"
    head = (
        '<thead><tr><th scope="col">aspect</th><th scope="col"></th><th scope="col" class="where">sentences</th>'
        '<th scope="col" class="by">found by</th></tr></thead>'
    )
    return (
        f'<h2>Study aspects</h2>\n<table class="found"><caption>{summary}.</caption>{head}<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table>"
    )
