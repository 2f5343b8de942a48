"""The cross-validation of ``train-ranker`` as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.output import interval, p_value, percent, print_table
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.runs import RANKER, CrossValidation
from evidencebench_core.stats import holm, paired
from evidencebench_core.tasks import task_named
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.tasks import Score

_OWN: Final = "structure"


def pairs(found: CrossValidation, others: Mapping[str, Mapping[str, Score]]) -> list[dict[str, Any]]:
    """The ranker minus each of the others on every task, paired by instance, with Holm's correction; as JSON.

    Papers are drawn whole, and change sign whole. The retrievers that are not ours to train or to set (bm25,
    dense, hybrid, abstract-tail) are one family of tests; ``structure``, the ranker's own variant without
    training, is another. ``others`` are their scores by task.
    """
    rows = []
    for other, scores in others.items():
        for task, score in scores.items():
            a, b = found.scores[RANKER][task].per_instance, score.per_instance
            both = [name for name in a if name in b]
            pair = paired(
                [a[name] for name in both],
                [b[name] for name in both],
                [found.paper_of[name] for name in both],
            )
            low, high = pair.difference.low, pair.difference.high
            rows.append(
                {
                    "other": other,
                    "task": task,
                    "n": pair.n,
                    "difference": pair.difference.value,
                    "ci95": None if low is None else [low, high],
                    "p": pair.p,
                    "p_holm": None,
                    **{name: getattr(pair, name) for name in ("wins", "ties", "losses")},
                }
            )
    for own in (False, True):
        family = [row for row in rows if (row["other"] == _OWN) == own]
        for row, corrected in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = corrected
    return rows


def _others(found: CrossValidation) -> dict[str, Mapping[str, Score]]:
    return {name: scores for name, scores in found.scores.items() if name != RANKER}


def validation_document(found: CrossValidation) -> dict[str, Any]:
    """The cross-validation as JSON-able values."""
    left_out = ("per_instance", "skipped", "missing")
    document: dict[str, Any] = {
        "folds": found.n_folds,
        "cross_validated": [
            {"retriever": name}
            | {key: value for key, value in score.as_dict().items() if key not in left_out}
            for name, scores in found.scores.items()
            for score in scores.values()
        ],
        "comparisons": pairs(found, _others(found)),
    }
    return document


def print_validation(found: CrossValidation, dataset: str) -> None:
    """The tables."""
    print(
        one_line(
            f"Aspect Recall in % on {dataset}, {quantity(len(found.paper_of), 'instance')} of "
            f"{quantity(len(set(found.paper_of.values())), 'paper')}; {RANKER} cross-validated by paper in "
            f"{found.n_folds} folds"
        )
    )
    _print_scores(found.scores)
    if any(score.sufficient for score in found.scores[RANKER].values()):
        print(SUFFICIENT_NOTE)
    print(f"\n{RANKER} minus each other, paired by instance, papers drawn whole")
    _print_pairs(pairs(found, _others(found)))


def _print_scores(scores: Mapping[str, Mapping[str, Score]]) -> None:
    def cell(score: Score) -> str:
        recall = percent(score.aspect_recall)
        return f"{recall} [{interval(score.ci95)}]"

    tasks = scores[RANKER].values()
    headers = ["retriever", *(f"{score.task.title} (n {score.n_scored:,})" for score in tasks)]
    rows = [[name, *map(cell, by_task.values())] for name, by_task in scores.items()]
    print_table(headers, rows, right=headers[1:])


def _print_pairs(rows: Sequence[Mapping[str, Any]]) -> None:
    numbers = ("difference", "95% interval", "p", "p (Holm)", "wins/ties/losses")
    print_table(
        ("without or against", "task", *numbers),
        [
            (
                row["other"],
                task_named(row["task"]).title,
                percent(row["difference"]),
                interval(row["ci95"]),
                p_value(row["p"]),
                p_value(row["p_holm"]),
                f"{row['wins']}/{row['ties']}/{row['losses']}",
            )
            for row in rows
        ],
        right=numbers,
    )
    own = sum(row["other"] == _OWN for row in rows)
    apart = f", and for the {own} with {_OWN} apart" if own else ""
    print(f"p by paired randomisation; p (Holm) allows for the {len(rows) - own} comparisons{apart}.")
