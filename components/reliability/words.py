"""Figures of reliability in words, each with what it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from components.app.page import percent
from components.widgets.markdown import literal
from evidencebench_core.reliability.card import Card
from evidencebench_core.reliability.paired import Paired
from evidencebench_core.reliability.reads import Estimate
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.words import enumerated, quantity

UNREAD: Final = "*"  # beside a figure that stands on wordings which nobody has read

FIGURES: Final = {
    "weighted_f1": "weighted F1",
    "bias": "bias",
    "refrain_rate": "refrain rate",
    "judged_accuracy": "judged like the reference",
    "judged_f1": "weighted F1 of the judge's labels",
}


def estimate_text(estimate: Estimate, signed: bool = False) -> str:
    """``83.6% (81.0 to 86.1)``, signed in points; a dash where there is none."""
    if estimate.value is None:
        return "–"
    value, interval = 100 * estimate.value, estimate.ci95
    text = f"{round(value, 1) + 0.0:+.1f}" if signed else f"{value:.1f}%"
    return text if interval is None else f"{text} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"


def figure_text(score: TaskScore) -> str:
    """The one figure of the task, with its interval and n."""
    name = FIGURES.get(score.figure, score.figure)
    value, interval = score.value.value, score.value.ci95
    if value is None:
        return f"{name} is undefined here (n = {score.n_scored:,})."
    bounds = f", 95% interval {100 * interval[0]:.1f} to {100 * interval[1]:.1f}" if interval else ""
    return f"{name} **{percent(value)}**{bounds}, n = {quantity(score.n_scored, 'item')}."


def constants_text(score: TaskScore) -> str:
    """The same figure of a constant answer, and of the annotators, where they are known."""
    best = max(score.constants.items(), key=lambda item: item[1] or 0.0, default=None)
    known = dict([best] if best else [])
    if score.figure == "weighted_f1":  # theirs is that, whatever the task's figure is
        known |= {f"an annotator {name}": value for name, value in score.annotators.items()}
    named = ", ".join(
        f"{literal(name)} {percent(value)}" for name, value in known.items() if value is not None
    )
    return f"For comparison: {named}." if named else ""


def constant_text(score: TaskScore) -> str | None:
    """The highest figure that a constant answer gets."""
    name, value = max(score.constants.items(), key=lambda item: item[1] or 0.0, default=("", None))
    return None if value is None else f"{name} {percent(value)}"


def paired_text(score: TaskScore) -> str:
    """The difference to the baseline, as Markdown; empty without one."""
    paired = score.baseline
    return "" if paired is None else f"Against the baseline: {difference_text(paired)}"


def difference_text(paired: Paired) -> str:
    """A paired difference with its interval, p-value and n."""
    if paired.difference.value is None:
        return f"the difference is undefined (n = {paired.n:,} pairs)."
    chance = "" if paired.p_value is None else f", p {p_text(paired.p_value)}"
    unpaired = f"; {paired.n_unpaired:,} without a counterpart are left out" if paired.n_unpaired else ""
    return (
        f"**{estimate_text(paired.difference, signed=True)} points** of {FIGURES.get(paired.figure, paired.figure)}"
        f"{chance} (sign-flip test of right and wrong), n = {paired.n:,} pairs{unpaired}."
    )


def p_text(p_value: float) -> str:
    """``= 0.0312``, or ``≤ 0.0001``, the smallest that 10,000 draws can give."""
    return "≤ 0.0001" if p_value <= 1 / 10_001 + 1e-12 else f"= {p_value:.4f}"


def standing_text(score: TaskScore) -> str:
    """The basis of the figure: n, what was left out, reader, seed, construction, and whether wordings were read."""
    settings = score.settings
    asked = quantity(score.n_probes, "answer")
    parts = [f"{score.n_scored:,} of {quantity(score.n_items, 'item')} scored, by {asked}"]
    if out := reasons_text(score.left_out):
        parts.append(f"left out: {out}")
    if nulls := reasons_text(score.nulls):
        parts.append(f"without a label: {nulls}")
    reader = "RAmBLA's own reader" if score.as_published else "our reader"
    parts.append(f"{reader} (the other one reads {score.readers_differ:,} otherwise)")
    if "seed" in settings:
        parts.append(f"seed {settings['seed']}")
    parts.append("as published" if score.as_published else "our construction")
    if score.n_unreviewed:
        parts.append(f"{quantity(score.n_unreviewed, 'wording')} that nobody has read")
    return f"{'; '.join(parts)}."


def unread_text(cards: Iterable[Card]) -> str:
    """The tests that stand on wordings which nobody has read; empty where there are none."""
    tests = {row.task.title: None for card in cards for row in card.rows if row.score.n_unreviewed}
    return f"{UNREAD} Nobody has read the wordings of: {enumerated(list(tests))}." if tests else ""


def left_out_text(card: Card) -> str:
    """The items left out of all tests, then of single ones, by reason."""
    by_reason: dict[str, list[str]] = {}
    for row in card.rows:
        for reason, n in row.score.left_out.items():
            by_reason.setdefault(f"{n:,} {reason.replace('_', ' ')}", []).append(row.task.title)
    parts = [
        f"{literal(words)} ({'all tests' if len(tests) == len(card.rows) else enumerated(tests)})"
        for words, tests in by_reason.items()
    ]
    return f"Left out: {'; '.join(parts)}." if parts else ""


def reasons_text(reasons: Mapping[str, int]) -> str:
    """``12 cut off, 3 refusal``, as Markdown."""
    return ", ".join(f"{n:,} {literal(reason.replace('_', ' '))}" for reason, n in reasons.items() if n)
