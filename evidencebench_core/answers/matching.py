"""Predicted nuggets against gold ones: similarities, pairs one to one, what they come to (spec rules 13 to 21).

Pairs are kept by index, never by text: the same words twice are two nuggets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import SettingError, shown

Matcher = Literal["cosine", "mixture"]
Assignment = Literal["greedy", "optimal"]
Support = Literal["support", "partial", "none"]

THRESHOLD: Final = 0.6267  # of the authors' code, on p for MiniLM and a mixture that is not released
CREDIT: Final[Mapping[Support, float]] = {"support": 1.0, "partial": 0.5, "none": 0.0}

_AT_ONCE: Final = 10_000  # pairs

_Floats = NDArray[np.float64]


def similarities(predicted: Sequence[str], gold: Sequence[str], model: str = "minilm") -> _Floats:
    """Cosines of shape (predicted, gold), each text embedded alone; 0 for a vector of zeros and for an empty text."""
    pairs = [(one, other) for one in predicted for other in gold]
    return pair_cosines(pairs, model).reshape(len(predicted), len(gold))


def pair_cosines(pairs: Sequence[tuple[str, str]], model: str = "minilm") -> _Floats:
    """The cosine of each pair of texts, in their order."""
    from evidencebench_core.retrievers.encoding import embeddings

    cosines = np.zeros(len(pairs))
    texts = list(dict.fromkeys(one for pair in pairs for one in pair if one.strip()))
    there = [place for place, pair in enumerate(pairs) if pair[0].strip() and pair[1].strip()]
    if not there:
        return cosines
    vectors = embeddings(model, texts)[0].astype(np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    unit = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
    places = {text: place for place, text in enumerate(texts)}
    for start in range(0, len(there), _AT_ONCE):
        some = there[start : start + _AT_ONCE]
        left, right = (unit[[places[pairs[at][side]] for at in some]] for side in (0, 1))
        # summed pair by pair: a matrix product may give equal texts different last digits
        cosines[some] = (left * right).sum(axis=1).round(6)
    return cosines


@dataclass(frozen=True, slots=True)
class Match:
    """A predicted and a gold nugget that say the same: their indices, p (or the cosine) and the cosine."""

    predicted: int
    gold: int
    p: float
    similarity: float


def matches(
    p: _Floats,
    similarity: _Floats | None = None,
    threshold: float = THRESHOLD,
    assignment: Assignment = "greedy",
) -> tuple[Match, ...]:
    """Pairs one to one, the surest first.

    Parameters
    ----------
    p, similarity : arrays of shape (predicted, gold)
        What the threshold is of, and the cosines that decide ties; without them there is no tie to decide but by
        index.
    threshold : float
        A pair counts from here on.
    assignment : {"greedy", "optimal"}
        Greedy takes the surest pair first, so that a lower threshold only adds pairs; optimal has the largest sum of
        p, where what is below the threshold counts 0.
    """
    p = np.asarray(p, dtype=np.float64)
    cosines = p if similarity is None else np.asarray(similarity, dtype=np.float64)
    if p.ndim != 2 or cosines.shape != p.shape:
        raise SettingError(
            "similarities", f"have the shapes {p.shape} and {cosines.shape}", "Give one matrix each."
        )
    if assignment == "optimal":
        from scipy.optimize import linear_sum_assignment

        worth = np.where(p >= threshold, p, 0.0)
        pairs = [
            (int(i), int(j)) for i, j in zip(*linear_sum_assignment(-worth), strict=True) if worth[i, j] > 0
        ]
        pairs.sort(key=lambda pair: (-p[pair], -cosines[pair], pair))
    elif assignment == "greedy":
        rows, columns = np.nonzero(p >= threshold)
        order = np.lexsort((columns, rows, -cosines[rows, columns], -p[rows, columns]))
        pairs, left, right = [], set[int](), set[int]()
        for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
            if i not in left and j not in right:
                pairs.append((i, j))
                left.add(i)
                right.add(j)
    else:
        raise SettingError("assignment", f"is {shown(assignment)}", "Choices are: greedy, optimal.")
    return tuple(Match(i, j, float(p[i, j]), float(cosines[i, j])) for i, j in pairs)


@dataclass(frozen=True, slots=True)
class NuggetScore:
    """Of one answer: how many nuggets match. ``n_gold`` is ``None`` where the question has no gold nuggets."""

    n_matched: int
    n_predicted: int
    n_gold: int | None
    similarity: float | None = None  # mean cosine of the matched pairs

    @property
    def precision(self) -> float | None:
        """Matched of the predicted; ``None`` without any, or without gold."""
        return self.n_matched / self.n_predicted if self.n_predicted and self.n_gold else None

    @property
    def recall(self) -> float | None:
        """Matched of the gold; ``None`` without gold."""
        return self.n_matched / self.n_gold if self.n_gold else None

    @property
    def f1(self) -> float | None:
        """2M / (P + G); ``None`` without gold."""
        return 2 * self.n_matched / (self.n_predicted + self.n_gold) if self.n_gold else None

    @property
    def counting(self) -> float | None:
        """The recall at threshold 0, min(P, G) / G: what counting alone gives."""
        return min(self.n_predicted, self.n_gold) / self.n_gold if self.n_gold else None


def nugget_score(found: Sequence[Match], n_predicted: int, n_gold: int | None) -> NuggetScore:
    """The score of an answer from its matches."""
    mean = fsum(one.similarity for one in found) / len(found) if found else None
    return NuggetScore(len(found), n_predicted, n_gold, mean)


def mean_nugget_scores(scores: Iterable[NuggetScore]) -> dict[str, Any]:
    """Unweighted means over questions of what is defined, each with its n.

    ``f_of_means`` is the harmonic mean of mean precision and mean recall, as table 1 of the paper has it; ``counting``
    the recall that counting alone gives.
    """
    every = list(scores)
    names = ("precision", "recall", "f1", "counting", "similarity")
    defined = {name: [one for score in every if (one := getattr(score, name)) is not None] for name in names}
    means = {name: fsum(values) / len(values) if values else None for name, values in defined.items()}
    precision, recall = means["precision"], means["recall"]
    both = None if precision is None or recall is None else precision + recall
    f_of_means = None if both is None else 2 * precision * recall / both if both else 0.0  # type: ignore[operator]
    counts = {f"n_{name}": len(values) for name, values in defined.items()}
    return {
        **means,
        "f_of_means": f_of_means,
        "n": len(every),
        **counts,
        "n_without_gold": sum(one.n_gold is None for one in every),
        "n_empty_gold": sum(one.n_gold == 0 for one in every),
        "n_without_nuggets": sum(not one.n_predicted for one in every),
    }


def threshold_curve(
    answers: Sequence[tuple[Sequence[Match], int, int | None]],
) -> list[dict[str, float | None]]:
    """Mean recall, precision and similarity at every distinct p, from the highest down.

    Each answer comes with its greedy matches at threshold 0, and its numbers of predicted and gold nuggets: greedy
    at a higher threshold is a beginning of them.
    """
    every = sorted({one.p for found, _, _ in answers for one in found}, reverse=True)
    curve = []
    for value in (
        every
        if len(every) <= 200
        else [every[place] for place in np.linspace(0, len(every) - 1, 200, dtype=int)]
    ):
        scores = [
            nugget_score([one for one in found if one.p >= value], n_predicted, n_gold)
            for found, n_predicted, n_gold in answers
        ]
        means = mean_nugget_scores(scores)
        curve.append(
            {"threshold": value} | {name: means[name] for name in ("recall", "precision", "similarity")}
        )
    return curve


def judged_recall(supports: Sequence[Support | None], strict: bool = False) -> float | None:
    """Recall by a judge who said of each gold nugget whether the answer supports it; what is not judged counts 0.

    Partial support counts a half, and with ``strict`` nothing. ``None`` without gold nuggets.
    """
    worth = [CREDIT[one] if one and not (strict and one == "partial") else 0.0 for one in supports]
    return fsum(worth) / len(worth) if worth else None
