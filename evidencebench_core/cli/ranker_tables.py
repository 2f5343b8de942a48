"""What ``train-ranker`` found, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.output import interval, percent, plain, print_table
from evidencebench_core.runs import RANKER, CrossValidation
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.stats import PairedComparison
    from evidencebench_core.tasks import Score

_OWN: Final = "structure"


@dataclass(frozen=True, slots=True)
class Pair:
    """The ranker against another, on a task.

    Attributes
    ----------
    other, task : str
    found : PairedComparison
        Papers are drawn whole, and change sign whole.
    p_holm : float or None
        Corrected for the pairs of its family; see `pairs`.
    """

    other: str
    task: str
    found: PairedComparison
    p_holm: float | None

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "other": self.other,
            "task": self.task,
            "n": self.found.n,
            "difference": self.found.mean_difference,
            "ci95": None if self.found.ci95 is None else list(self.found.ci95),
            "p": self.found.p_value,
            "p_holm": self.p_holm,
            "wins": self.found.wins,
            "ties": self.found.ties,
            "losses": self.found.losses,
        }


def pairs(
    whole: Mapping[str, Score], others: Mapping[str, Mapping[str, Score]], papers: Mapping[str, str]
) -> list[Pair]:
    """The ranker minus each of the others on every task, paired by instance, with Holm's correction.

    The retrievers that are not ours to train or to set (bm25, dense, hybrid, abstract-tail) are one family of
    tests; ``structure``, the ranker's own variant without training, is another.

    Parameters
    ----------
    whole : mapping of str to Score
        The ranker's, by task name.
    others : mapping of str to mapping of str to Score
    papers : mapping of str to str
        Paper id by instance id.
    """
    import numpy as np

    from evidencebench_core.stats import compare_paired, holm

    compared: list[tuple[str, str, PairedComparison]] = []
    for other, scores in others.items():
        for task, score in scores.items():
            a, b = whole[task].per_instance, score.per_instance
            both = [name for name in a if name in b]
            found = compare_paired(
                [a[name] for name in both],
                [b[name] for name in both],
                np.random.default_rng(0),
                clusters=[papers[name] for name in both],
            )
            compared.append((other, task, found))
    corrected: dict[int, float | None] = {}
    for own in (False, True):
        places = [place for place, one in enumerate(compared) if (one[0] == _OWN) == own]
        corrected |= dict(zip(places, holm([compared[place][2].p_value for place in places]), strict=True))
    return [Pair(*one, corrected[place]) for place, one in enumerate(compared)]


def validation_document(found: CrossValidation) -> dict[str, Any]:
    """The cross-validation as JSON-able values."""
    others = {name: scores for name, scores in found.scores.items() if name != RANKER}
    document: dict[str, Any] = {
        "folds": found.n_folds,
        "cross_validated": [
            {"retriever": name, **_score_document(score)}
            for name, scores in found.scores.items()
            for score in scores.values()
        ],
        "comparisons": [pair.as_dict() for pair in pairs(found.scores[RANKER], others, found.paper_of)],
    }
    if found.ablation_scores:
        document["ablation"] = [
            {**pair.as_dict(), "aspect_recall": found.ablation_scores[pair.other][pair.task].aspect_recall}
            for pair in pairs(found.scores[RANKER], found.ablation_scores, found.paper_of)
        ]
    return document


def _score_document(score: Score) -> dict[str, Any]:
    left_out = ("per_instance", "skipped", "missing")
    return {key: value for key, value in score.as_dict().items() if key not in left_out}


def print_validation(found: CrossValidation, dataset: str) -> None:
    """The tables."""
    print(
        plain(
            f"Aspect Recall in % on {dataset}, {quantity(len(found.paper_of), 'instance')} of "
            f"{quantity(len(set(found.paper_of.values())), 'paper')}; {RANKER} cross-validated by paper in "
            f"{found.n_folds} folds"
        )
    )
    _print_scores(found.scores)
    print()
    print(f"{RANKER} minus each other, paired by instance, papers drawn whole")
    others = {name: scores for name, scores in found.scores.items() if name != RANKER}
    _print_pairs(pairs(found.scores[RANKER], others, found.paper_of))
    if found.ablation_scores:
        print()
        print("The ranker without one part at a time, cross-validated on the same folds")
        _print_scores({RANKER: found.scores[RANKER], **found.ablation_scores}, intervals=False)
        print()
        print("The whole ranker minus the ranker without the part")
        _print_pairs(pairs(found.scores[RANKER], found.ablation_scores, found.paper_of))


def _print_scores(scores: Mapping[str, Mapping[str, Score]], intervals: bool = True) -> None:
    tasks = list(scores[RANKER].values())
    headers = ["retriever", *(f"{score.task.title} (n {score.n_scored:,})" for score in tasks)]
    rows = [
        [
            name,
            *(
                f"{percent(score.aspect_recall)} [{interval(score.ci95)}]"
                if intervals
                else percent(score.aspect_recall)
                for score in by_task.values()
            ),
        ]
        for name, by_task in scores.items()
    ]
    print_table(headers, rows, right=headers[1:])


def _print_pairs(found: Sequence[Pair]) -> None:
    from evidencebench_core.tasks import task_named

    headers = (
        "without or against",
        "task",
        "difference",
        "95% interval",
        "p",
        "p (Holm)",
        "wins/ties/losses",
    )
    print_table(
        headers,
        [
            (
                pair.other,
                task_named(pair.task).title,
                percent(pair.found.mean_difference),
                interval(pair.found.ci95),
                "–" if pair.found.p_value is None else f"{pair.found.p_value:.4f}",
                "–" if pair.p_holm is None else f"{pair.p_holm:.4f}",
                f"{pair.found.wins}/{pair.found.ties}/{pair.found.losses}",
            )
            for pair in found
        ],
        right=headers[2:],
    )
    own = sum(pair.other == _OWN for pair in found)
    apart = f", and for the {own} with {_OWN} apart" if own else ""
    print(f"p by paired randomisation; p (Holm) allows for the {len(found) - own} comparisons{apart}.")
