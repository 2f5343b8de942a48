"""Scores as small tables for notebooks. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from evidencebench_core.data.model import SUFFICIENT_NOTE

if TYPE_CHECKING:
    from evidencebench_core.tasks.comparison import ScoreComparison
    from evidencebench_core.tasks.scoring import Score


_NAMED_AT_MOST = 5
_NONE = "–"


def score_html(score: Score) -> str:
    """A table of the score: percent with one decimal and interval, and how many instances are behind it."""
    rows = [
        ("Aspect Recall", _percent(score.aspect_recall, score.ci95)),
        ("standard error", _percent(score.standard_error)),
        ("ceiling", score.ceiling_text.replace("%", " %") or _NONE),
        ("random expectation", _percent(score.random_expectation)),
        ("scored", _count(score.n_scored, ())),
        ("skipped", _count(score.n_skipped, [f"{i}: {reason}" for i, reason in score.skipped.items()])),
        ("missing", _count(score.n_missing, score.missing)),
        ("empty selections", _count(score.n_empty, ())),
        *[("note", SUFFICIENT_NOTE)] * score.sufficient,
    ]
    note = "" if score.denominator == "all" else ", over coverable aspects"
    return _table(score.task.title + note, rows)


def comparison_html(comparison: ScoreComparison) -> str:
    """A table of the comparison: means in percent, their difference with interval and p-value."""
    p_value = comparison.p_value
    rows = [
        ("Aspect Recall of a", _percent(comparison.mean_a)),
        ("Aspect Recall of b", _percent(comparison.mean_b)),
        ("a − b", _percent(comparison.mean_difference, comparison.ci95)),
        ("p-value", _NONE if p_value is None else f"{p_value:.4f}" if p_value >= 1e-4 else "< 0.0001"),
        ("wins / ties / losses", f"{comparison.wins} / {comparison.ties} / {comparison.losses}"),
        ("scored in both", _count(comparison.n, ())),
        ("only in a", _count(len(comparison.only_in_a), comparison.only_in_a)),
        ("only in b", _count(len(comparison.only_in_b), comparison.only_in_b)),
        *[("note", SUFFICIENT_NOTE)] * comparison.sufficient,
    ]
    return _table(f"{comparison.task.title}, a against b", rows)


def _percent(share: float | None, interval: tuple[float, float] | None = None) -> str:
    if share is None:
        return _NONE
    text = f"{100 * share:.1f} %"
    return text if interval is None else f"{text} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _count(count: int, named: Sequence[str]) -> str:
    if not named:
        return f"{count:,}"
    more = "; …" if len(named) > _NAMED_AT_MOST else ""
    return f"{count:,} ({'; '.join(named[:_NAMED_AT_MOST])}{more})"


def _table(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows
    )
    return f"<table><caption>{escape(caption)}</caption><tbody>{body}</tbody></table>"
