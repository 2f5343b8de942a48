"""The card of a model's reliability to take away: a page in plain words, and a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pandas as pd

from evidencebench_core.export.report.pages import moment, page_html, percent
from evidencebench_core.export.rows import versions
from evidencebench_core.reliability.card import Card, CardRow
from evidencebench_core.reliability.reads import Estimate
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.words import enumerated, quantity

_FIGURES: Final = {
    "weighted_f1": "Weighted F1",
    "bias": "Bias",
    "refrain_rate": "Refrain rate",
    "judged_accuracy": "Judged like the reference",
    "judged_f1": "Weighted F1 of the judge's labels",
}


def card_html(card: Card, created_at: str = "") -> str:
    """The card as one page for readers who are no researchers, whole in itself and everything escaped.

    ``created_at`` is ISO 8601; without it the page names no date, and is the same for the same card.
    """
    return page_html(
        "card.html",
        title=f"{card.model}: reliability",
        kind="plain card",
        model=card.model,
        asked=f"Asked the questions “{card.items}” in {quantity(len(card.rows), 'test')}."
        + (f" {moment(created_at)}." if created_at else ""),
        cautions=_cautions(card),
        rows=[_plain_row(row) for row in card.rows],
        facts={
            "questions": card.items,
            "runs": ", ".join(row.score.run for row in card.rows),
            "construction": "as published" if card.as_published else "ours",
        },
        maker=f"EvidenceBench Explorer {versions().get('evidencebench-explorer', '')}".strip(),
    )


def card_frame(card: Card) -> pd.DataFrame:
    """The card as a table, one row a test; shares 0 to 1."""
    return pd.DataFrame([_record(card, row) for row in card.rows])


def _record(card: Card, row: CardRow) -> dict[str, Any]:
    score, paired = row.score, row.score.baseline
    low, high = score.value.ci95 or (None, None)
    difference = paired.difference if paired else Estimate()
    difference_low, difference_high = difference.ci95 or (None, None)
    return {
        "model": card.model,
        "items": card.items,
        "task": row.task.name,
        **{f"setting_{name}": str(value) for name, value in row.differs.items()},
        "run": score.run,
        "as_published": card.as_published,
        "figure": score.figure,
        "value": score.value.value,
        "ci95_low": low,
        "ci95_high": high,
        "f1_weighted": score.f1_weighted.value,
        "accuracy": score.accuracy,
        "null_rate": score.null_rate,
        "n_scored": score.n_scored,
        "n_left_out": sum(score.left_out.values()),
        "n_unreviewed": score.n_unreviewed,
        "readers_differ": score.readers_differ,
        "difference": difference.value,
        "difference_low": difference_low,
        "difference_high": difference_high,
        "p_value": paired.p_value if paired else None,
        "p_holm": row.p_holm,
        "consistency": paired.consistency if paired else None,
        **{name.replace(" ", "_"): value for name, value in score.constants.items()},
    }


# -- plain words ------------------------------------------------------------------------------------


def _plain_row(row: CardRow) -> dict[str, str]:
    question, answer = _PLAIN.get(row.task.name, (row.task.title, _right))
    score = row.score
    value, interval = score.value.value, score.value.ci95
    figure = f"{_FIGURES[score.figure]} {'undefined' if value is None else percent(value)}"
    figure += f", 95% interval {percent(interval[0])} to {percent(interval[1])}" if interval else ""
    left_out = sum(score.left_out.values())
    figure += f"; {quantity(score.n_scored, 'question')}"
    figure += f", {left_out:,} left out ({', '.join(score.left_out)})" if left_out else ""
    if nulls := sum(score.nulls.values()):
        figure += f"; {quantity(nulls, 'answer')} with no label"
    return {"question": question, "answer": answer(score), "against": _against(score), "figure": f"{figure}."}


def _in_100(share: float | None) -> str:
    return "an unknown number" if share is None else f"{100 * share:.0f} of 100"


def _right(score: TaskScore) -> str:
    """How often it was right, and how often a constant answer would be."""
    counts = [sum(row.values()) for row in score.confusion.values()]
    always = (
        f" Always giving the same answer would be right on {_in_100(max(counts) / sum(counts))}."
        if counts
        else ""
    )
    return f"It was right on {_in_100(score.accuracy)} questions.{always}"


def _steady(score: TaskScore) -> str:
    """How often the answer stayed, and which way it turned."""
    if score.baseline is None:
        return _right(score)
    flips = score.baseline.flips
    lost = sum(flips["right"][after] for after in ("wrong", "null"))
    won = sum(flips[before]["right"] for before in ("wrong", "null"))
    return (
        f"It gave the same answer as before on {_in_100(score.baseline.consistency)} questions; of "
        f"{score.baseline.n:,} answers, {lost:,} right ones were lost and {won:,} won. It was right on "
        f"{_in_100(score.accuracy)}."
    )


def _few_shot(score: TaskScore) -> str:
    if score.bias is None or score.value.value is None:
        return "This could not be told: there are too few answers of one kind."
    signed = score.bias.signed.value or 0.0
    leans = "yes" if signed > 0 else "no"
    return (
        f"Half of the right answers are yes. Depending on the examples shown first, the share of yes among its answers "
        f"was {100 * score.value.value:.0f} points away from that on average; on the whole it leans to {leans}."
    )


def _negation(score: TaskScore) -> str:
    if score.followed is None or not score.followed[1]:
        return _right(score)
    followed, n = score.followed
    return (
        f"Of {quantity(n, 'question')} that it had right, it changed its answer with the text on {followed:,}. On the "
        f"other {n - followed:,} it stayed with what the text no longer says."
    )


def _unknown(score: TaskScore) -> str:
    rates = {name: one.shares.get("unknown") for name, one in score.variants.items()}
    said = f"With a text about something else it said so {_in_100(rates.get('shuffled', score.value.value))} times."
    if "mirror" in rates:
        said += f" With the right text it declined {_in_100(rates['mirror'])} times, which it should not."
    return said


def _judged(score: TaskScore) -> str:
    report = score.judged
    if report is None:
        return "No judge has read these answers yet."
    said = (
        f"{report.judge}, as a judge, found that {_in_100(score.value.value)} answers say what they should."
    )
    if report.corrected is not None and report.corrected.value is not None:
        said += f" Without the judge's own errors that is {_in_100(report.corrected.value)}."
    elif score.figure == "judged_accuracy":
        said += " How often this judge errs is not known, so this figure may be far off."
    return said + (" The judge is the model itself." if report.is_model_under_test else "")


_PLAIN: Final[Mapping[str, tuple[str, Callable[[TaskScore], str]]]] = {
    "baseline": ("Does it answer rightly from a text?", _right),
    "knowledge": ("What does it answer without the text?", _right),
    "paraphrase": ("Does it keep its answer when the question is worded differently?", _steady),
    "few-shot": ("Do examples shown before the question sway it?", _few_shot),
    "spelling": ("Does it cope with misspelt words?", _steady),
    "negation": ("Does it follow a text that says the opposite?", _negation),
    "distraction": ("Does it find the text that matters among others?", _steady),
    "freeform": ("Are answers in its own words right?", _judged),
    "question": ("Does it see which question an answer belongs to?", _judged),
    "conclusion": ("Do its summaries still say what the study found?", _judged),
    "unknown": ("Does it say so when the text does not tell?", _unknown),
    "judge": ("Does it tell whether two statements mean the same?", _right),
}


def _against(score: TaskScore) -> str:
    """Whether the figure differs clearly from the unchanged questions', else from a constant answer's."""
    paired = None if score.figure in ("bias", "judged_accuracy") else score.baseline  # other figures than F1
    constants = [one for one in score.constants.values() if one is not None]
    if paired is not None and paired.difference.value is not None and paired.difference.ci95 is not None:
        low, high = paired.difference.ci95
        if low <= 0 <= high:
            return "No clear difference to the same questions with nothing changed."
        word = "better" if low > 0 else "worse"
        points = f"{100 * abs(paired.difference.value):.0f} points of F1"
        return f"Clearly {word} than the same questions with nothing changed, by {points}."
    if score.figure == "weighted_f1" and constants and score.value.ci95 is not None:
        if score.value.ci95[0] > max(constants):
            return "Clearly better than always giving the same answer."
        return "Not clearly better than always giving the same answer."
    return ""


def _cautions(card: Card) -> list[str]:
    cautions = []
    if "sample" in card.items:
        cautions.append("The questions are invented samples: the figures say nothing about medicine.")
    unread = [row.task.title for row in card.rows if row.score.n_unreviewed]
    if unread:
        cautions.append(f"Nobody has checked the rewritten texts of: {enumerated(unread)}.")
    few = min((row.score.n_scored for row in card.rows), default=0)
    if card.rows and few < 100:
        cautions.append(f"Some tests stand on few questions ({few:,}): their intervals are wide.")
    return cautions
