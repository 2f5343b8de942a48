"""The figures of RAmBLA's tasks: of each what it is a share of, its value with its interval, and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from evidencebench_core.stats import Estimate, bootstrap, cochran_q, label_units, share, weighted_f1
from evidencebench_core.words import p_text

if TYPE_CHECKING:
    from evidencebench_core.reliability.score import Comparison, TaskScore

Measure = Callable[[pd.DataFrame, Sequence[str]], Estimate]
"""From answers (columns ``item, unit, variant, expected, label, state``) and the labels there are."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a task is scored by, 0 to 1."""

    title: str
    of: str  # its denominator
    measure: Measure
    words: Callable[[TaskScore], str]  # the result, for readers who are no researchers
    of_variant: tuple[str, Measure] | None = None  # where that of a variant is another: its title, and it
    p_value: Callable[[pd.DataFrame], float | None] | None = None  # where it needs no baseline

    @property
    def variant_title(self) -> str:
        return self.of_variant[0] if self.of_variant else self.title


# -- values -------------------------------------------------------------------------------------------


def weighted_f1_of(answers: pd.DataFrame, labels: Sequence[str]) -> Estimate:
    # The interval does not depend on the order of the items.
    answers = answers.sort_values(["expected", "label", "unit"], ascending=[False, True, True])
    units = pd.factorize(answers["unit"])[0]
    return bootstrap(label_tables(answers, labels), weighted_f1, units, n=answers["item"].nunique())


def label_tables(answers: pd.DataFrame, labels: Sequence[str]) -> np.ndarray:
    """The table of each answer, expected by read label, a single 1."""
    read = [label if label in labels else None for label in answers["label"]]
    return label_units(answers["expected"].tolist(), read, labels)


def _share_of(label: str) -> Measure:
    return lambda answers, _: share(answers["label"] == label, answers["unit"])


def _share_of_yes(answers: pd.DataFrame, _: Sequence[str]) -> Estimate:
    return _share_of("yes")(answers[answers["label"].notna()], ())


def _bias(answers: pd.DataFrame, labels: Sequence[str]) -> Estimate:
    """Mean over orders of how far the share of yes is from a half; none where gold has one label only.

    Without an interval, as in the paper: a draw adds its own noise to a distance.
    """
    n, distances = answers["item"].nunique(), []
    for _, of_order in answers.groupby("variant", sort=False):
        yes = _share_of_yes(of_order, labels).value
        if yes is None or of_order["expected"].nunique() < len(labels):
            return Estimate(None, n=n)
        distances.append(abs(yes - 0.5))
    return Estimate(float(np.mean(distances)), n=n)


def _alike_in_all_orders(answers: pd.DataFrame) -> float | None:
    """Cochran's Q over the items with a label in every order."""
    table = answers.pivot(index="item", columns="variant", values="label").dropna()
    return cochran_q((table == "yes").astype(float)) if len(table) else None


# -- words --------------------------------------------------------------------------------------------


def _words_of_labels(score: TaskScore) -> str:
    if score.judge:
        return _words_of_judge(score)
    top = score.headline
    n_right = int((top["state"] == "right").sum())
    words = [f"It was right on {n_right:,} of {len(top):,} answers."]
    if score.baseline is None:
        most = int(top["expected"].value_counts().max())
        words.append(f"Always giving the same answer would be right on {most:,}.")
    else:
        words.append(_words_of_comparison(score.baseline))
    if top["label"].nunique() == 1 and len(top) > 1:
        words.insert(0, f"It never said anything but {top['label'].dropna().iloc[0]}.")
    if (top["wording"] != "").any():
        writer = str(score.spec.settings["writer"] or score.spec.model)
        words.append(f"The new wordings are by {_model_name(writer, score.spec.model)}.")
    return " ".join(words)


def _words_of_comparison(against: Comparison) -> str:
    if against.followed:
        n_followed, n_before = against.followed
        return f"Of {n_before:,} that it had right before, it changed {n_followed:,} with the text."
    lost = against.moves.loc["right", ["wrong", "null"]].sum()
    won = against.moves.loc[["wrong", "null"], "right"].sum()
    return f"Against the same questions unchanged, {lost:,} right answers were lost and {won:,} won."


def _model_name(model: str, asked: str) -> str:
    return f"{model}, which is the model itself" if model == asked else model


def _words_of_judge(score: TaskScore) -> str:
    n_right = int((score.headline["state"] == "right").sum())
    judge = _model_name(score.judge, score.spec.model)
    return f"Judged by {judge}: {n_right:,} of {len(score.headline):,} answers say what they should."


def _words_of_bias(score: TaskScore) -> str:
    if score.value.value is None:
        return "Too few answers of one kind to tell."
    expected = score.answers.groupby("variant", sort=False)["expected"]
    halves = expected.apply(lambda labels: (labels == "yes").mean() == 0.5).all()
    right = "Half of the right answers are yes" if halves else "The right answers are not half yes, half no"
    by_order = score.variants.dropna(subset=["value"]).sort_values("value")
    least, most = by_order.iloc[0], by_order.iloc[-1]
    return (
        f"{right}. By the order of the examples it said yes to {100 * least['value']:.1f}% ({least['variant']}) up to "
        f"{100 * most['value']:.1f}% ({most['variant']}), on average {100 * score.value.value:.1f} points from a half. "
        f"p that the order makes no difference: {p_text(score.p)}."
    )


def _words_of_refusals(score: TaskScore) -> str:
    top, mirror = score.headline, score.answers[score.answers["variant"] == "mirror"]
    n_unknown, n_declined = (int((answers["label"] == "unknown").sum()) for answers in (top, mirror))
    return (
        f"With a text about something else it said so {n_unknown:,} of {len(top):,} times; with the right text it "
        f"declined {n_declined:,} of {len(mirror):,} times, which it should not."
    )


WEIGHTED_F1: Final = Figure(
    title="Weighted F1",
    of="F1 of each label, weighted by how often it is right; what is unread, or unknown to a judge, is a miss",
    measure=weighted_f1_of,
    words=_words_of_labels,
)
BIAS: Final = Figure(
    title="Bias",
    of="distance from a half of the share of yes among the answers yes and no, mean over orders",
    measure=_bias,
    words=_words_of_bias,
    of_variant=("Share of yes", _share_of_yes),
    p_value=_alike_in_all_orders,
)
REFRAIN_RATE: Final = Figure(
    title="Refrain rate",
    of="answers unknown / all answers to a text about something else, unread ones too",
    measure=_share_of("unknown"),
    words=_words_of_refusals,
)
JUDGED_ACCURACY: Final = Figure(
    title="Judged like the reference",
    of="texts that a judge finds like the reference / all texts, unread and empty ones too",
    measure=_share_of("yes"),
    words=_words_of_judge,
)
