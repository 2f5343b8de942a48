"""One paper's report as one file: no script, no outside request, nothing of a text is markup."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from string import Template
from typing import Final

from evidencebench_core.export.report.input import ReportInput
from evidencebench_core.export.report.paper import aspects_html, paper_html
from evidencebench_core.export.report.picks import picks_html
from evidencebench_core.export.report.text import clipped, element, joined, preformatted, safe

__all__ = ["counted", "facts_table", "left_out_text", "moment", "page_of", "report_html", "versions_line"]

_NOTICE: Final = (
    "Highlights can miss evidence, and a highlighted sentence need not be evidence. "
    "Read the paper before you rely on it. This page is no medical advice."
)
_PLAIN_NOTICE: Final = (
    "A computer program chose these sentences. It can miss important evidence, and it can show sentences "
    "that are none. Read the paper before you rely on it. This page is no medical advice."
)
_LONGEST_DETAIL: Final = 20_000  # characters of a prompt or an answer


def report_html(report: ReportInput, plain: bool = False) -> str:
    """A report as an HTML page, whole in itself, for screens of any width, light and dark, and for paper.

    Parameters
    ----------
    report : ReportInput
    plain : bool
        For readers who are no researchers: larger type, plain words, no gold, scores or settings.

    Returns
    -------
    str
        The same for the same input. Every text in it is escaped; control characters and overrides of
        writing direction are written out (``[U+202E]``).
    """
    parts = (
        _head(report, plain),
        element("h2", _picks_title(report, plain)),
        picks_html(report, plain),
        "" if plain else aspects_html(report),
        "" if plain else _provenance(report),
        paper_html(report, plain),
        _foot(report, plain),
    )
    return page_of(report.hypothesis, joined(parts, "\n"), "report plain" if plain else "report")


def page_of(title: str, body: str, kind: str) -> str:
    """A page around a body that is markup; the title is text."""
    template, style = _sources()
    return template.substitute(title=safe(clipped(title, 150)), style=style, body=body, kind=kind)


@cache
def _sources() -> tuple[Template, str]:
    folder = files(__package__)
    template = Template(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return template, folder.joinpath("report.css").read_text(encoding="utf-8")


def counted(number: int, nouns: str) -> str:
    """``3 tables``, ``1 table``: the noun is given in the plural."""
    return f"{number:,} {nouns[:-1] if number == 1 and nouns.endswith('s') else nouns}"


def left_out_text(left_out: Mapping[str, int]) -> str:
    """``tables (3), figures (1)``: what there was at least one of."""
    return ", ".join(f"{name} ({number:,})" for name, number in left_out.items() if number)


def moment(created_at: str) -> str:
    """An ISO 8601 moment for people; anything else as it is."""
    try:
        when = datetime.fromisoformat(created_at)
    except ValueError:
        return created_at
    zone = f" {when.tzname()}" if when.tzinfo else ""
    return f"{when.day} {when:%B %Y, %H:%M}{zone}"


def facts_table(facts: Mapping[str, str], caption: str = "") -> str:
    """Names and values as a table."""
    rows = "\n".join(
        f'<tr><th scope="row">{safe(name)}</th><td dir="auto">{safe(value)}</td></tr>'
        for name, value in facts.items()
    )
    head = f"<caption>{safe(caption)}</caption>" if caption else ""
    return f'<table class="about">{head}<tbody>\n{rows}\n</tbody></table>'


def _head(report: ReportInput, plain: bool) -> str:
    kicker = joined(("Evidence in one paper", safe(moment(report.created_at))), " · ")
    title = report.title or report.paper_id or "A paper without a title"
    named = (report.source,) if plain else (report.source, report.paper_id)
    beside = " · ".join(safe(text) for text in named if text and text != title)
    facts = [f"<p>{_read(report)}</p>"]
    left_out = left_out_text(report.left_out)
    if left_out:
        facts.append(f"<p>Left out, and not searched: {safe(left_out)}.</p>")
    facts += [f'<p dir="auto">{safe(note)}</p>' for note in report.notes]
    return "\n".join(
        (
            "<header>",
            element("p", kicker, "kicker"),
            f'<h1 dir="auto">{safe(report.hypothesis)}</h1>',
            f'<p class="cited" dir="auto"><cite>{safe(title)}</cite></p>',
            element("div", joined((f'<p dir="auto">{beside}</p>' if beside else "", *facts), "\n"), "facts"),
            f'<aside class="notice"><p>{_PLAIN_NOTICE if plain else _NOTICE}</p></aside>',
            "</header>",
        )
    )


def _read(report: ReportInput) -> str:
    n_headings = report.sentence_types.count("section_name")
    headings = f", {counted(n_headings, 'headings')} among them" if n_headings else ""
    return f"{counted(len(report.sentences), 'sentences')} of the paper were searched{headings}."


def _picks_title(report: ReportInput, plain: bool) -> str:
    n_picks = len(report.picks)
    if plain:
        return (
            f"The {counted(n_picks, 'sentences')} to read first"
            if n_picks != 1
            else "The sentence to read first"
        )
    return f"{counted(n_picks, 'sentences')} picked, in this order"


def _provenance(report: ReportInput) -> str:
    facts = {
        "task": report.task,
        "budget": "no limit" if report.budget is None else f"K = {report.budget:,}",
        "retriever": report.retriever,
        **{f"· {name}": _setting(value) for name, value in report.settings.items()},
        "seconds": f"{report.retrieval.seconds:.2f}" if report.retrieval.seconds else "",
        "versions": versions_line(report.versions),
    }
    # A ranker's numbers stand beside the picks in words already.
    said = ("explanation",) if report.explanations else ()
    details = {
        name: text for name, text in report.retrieval.details.items() if text.strip() and name not in said
    }
    parts = [
        "<summary>How it was made, and how to make it again</summary>",
        facts_table({name: text for name, text in facts.items() if text}),
        f"<pre>{preformatted(report.command)}</pre>" if report.command else "",
        *(
            f"<h3>{safe(name)}</h3>\n<pre>{preformatted(clipped(text, _LONGEST_DETAIL))}</pre>"
            for name, text in details.items()
        ),
    ]
    return element("details", joined(parts, "\n"), "made")


def versions_line(versions: Mapping[str, str]) -> str:
    """``python 3.11.9, numpy 2.4.6``."""
    return ", ".join(f"{name} {text}" for name, text in versions.items())


def _setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _foot(report: ReportInput, plain: bool) -> str:
    version = report.versions.get("evidencebench-explorer", "")
    maker = safe(f"EvidenceBench Explorer {version}".strip())
    notice = f"<p>{_PLAIN_NOTICE}</p>" if plain else ""
    whole = "This file is whole in itself and asks nothing of the internet."
    return f"<footer>{notice}<p>Made with {maker}. {whole}</p></footer>"
