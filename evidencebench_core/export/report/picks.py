"""The picks in their order, each in its context, and what each is worth."""

from __future__ import annotations

from typing import Final

from evidencebench_core.export.report.input import ReportInput
from evidencebench_core.export.report.text import element, joined, safe
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.metrics import Gain, marginal_gains

__all__ = ["percent", "picks_html", "section_name"]

_NO_PICKS: Final = "<p>No sentence was picked.</p>"


def picks_html(report: ReportInput, plain: bool) -> str:
    """An ordered list; a sentence before and after each pick, its section, and what it adds.

    With gold that is the aspects it newly covers and repeats; without, its place and score in the ranking,
    and why it was picked where the retriever says. The plain variant has the section and the reason only.
    """
    gains = marginal_gains(report.picks, report.covers)
    items = (_pick_html(report, number, gain, plain) for number, gain in enumerate(gains, start=1))
    return element("ol", "\n".join(items), "picks") if gains else _NO_PICKS


def section_name(section: str) -> str:
    """A section's title for people; text before the first heading has none."""
    return section.strip() or "before the first heading"


def percent(share: float) -> str:
    """A share of 0 to 1 in percent, one decimal."""
    return f"{100 * share:.1f}%"


def _pick_html(report: ReportInput, number: int, gain: Gain, plain: bool) -> str:
    index = gain.sentence
    covering = not plain and bool(gain.new or gain.repeated)
    where = section_name(report.sections[index])
    if report.sentence_types[index] == "section_name":
        where = "heading"
    if not plain:
        where = f"{where} · sentence {index}"
    link = f'<a class="number" href="#s{index}" aria-label="Pick {number}, in the paper">{number}</a>'
    why = report.explanations.get(index, "")
    return element(
        "li",
        joined(
            (
                link,
                element("p", safe(where), "context-of", dir="auto"),
                _context(report, index - 1, index),
                f'<blockquote dir="auto"><mark>{safe(report.sentences[index])}</mark></blockquote>',
                _context(report, index + 1, index),
                element("p", safe(why), "why", dir="auto") if why else "",
                "" if plain else element("p", _meta(report, gain), "meta"),
            ),
            "\n",
        ),
        "pick both" if covering else "pick",
    )


def _context(report: ReportInput, index: int, pick: int) -> str:
    """A neighbour of a pick, if it is text of the same section."""
    if not 0 <= index < len(report.sentences):
        return ""
    if report.sentence_types[index] == "section_name" or report.sections[index] != report.sections[pick]:
        return ""
    return element("p", safe(report.sentences[index]), "context", dir="auto")


def _meta(report: ReportInput, gain: Gain) -> str:
    parts = []
    if report.evidence is not None:
        parts += [_gain(report.labels, gain)]
        if gain.recall_so_far is not None:
            parts.append(f"Aspect Recall so far {percent(gain.recall_so_far)}")
    rank, score = places_and_scores(report.retrieval)
    if gain.sentence in rank:
        parts.append(f"place {rank[gain.sentence]} of {len(report.retrieval.ranking)} in the ranking")
    if gain.sentence in score:
        parts.append(f"score {score[gain.sentence]:.4g}")
    return " · ".join(parts)


def _gain(labels: tuple[str, ...], gain: Gain) -> str:
    new = safe(", ".join(labels[position] for position in gain.new))
    repeated = safe(", ".join(labels[position] for position in gain.repeated))
    if not new and not repeated:
        return "covers no study aspect"
    return joined(
        (f"<b>adds {new}</b>" if new else "adds nothing new", f"repeats {repeated}" * bool(repeated)), ", "
    )
