"""How the verbs that score print scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evidencebench_core.cli.output import counted, interval, listed, percent, plain, print_table

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm import OutcomeCounts
    from evidencebench_core.tasks import Score

__all__ = ["print_outcomes", "print_scores"]

_HEADERS = ("task", "recall %", "95% interval", "SE", "ceiling", "random", "scored", "skipped", "missing")


def print_scores(scores: Sequence[Score]) -> None:
    """A line a task, then which instances were left out and why."""
    print_table(
        _HEADERS,
        [
            (
                score.task.title,
                percent(score.aspect_recall),
                interval(score.ci95),
                percent(score.standard_error),
                percent(score.ceiling),
                percent(score.random_expectation),
                f"{score.n_scored:,}",
                f"{score.n_skipped:,}",
                f"{score.n_missing:,}",
            )
            for score in scores
        ],
        right=_HEADERS[1:],
    )
    for score in scores:
        for line in _left_out(score):
            print(plain(f"{score.task.title}: {line}"))


def print_outcomes(outcomes: Mapping[str, OutcomeCounts], tasks: Sequence[str] | None = None) -> None:
    """A line a task that says what came back from the model; nothing for runs that asked none."""
    from evidencebench_core.tasks import task_named

    for name, counts in outcomes.items():
        if tasks is None or name in tasks:
            print(plain(f"{task_named(name).title}: the model gave {counts}"))


def _left_out(score: Score) -> list[str]:
    lines = []
    for reason in dict.fromkeys(score.skipped.values()):
        ids = [instance_id for instance_id, why in score.skipped.items() if why == reason]
        lines.append(f"{counted(len(ids), 'instance')} skipped, {reason}: {listed(ids)}")
    if score.missing:
        scored_zero = set(score.missing) <= score.per_instance.keys()
        treatment = "scored 0" if scored_zero else "left out of the mean"
        lines.append(
            f"{counted(score.n_missing, 'instance')} without an answer, {treatment}: {listed(score.missing)}"
        )
    if score.n_empty:
        lines.append(f"{counted(score.n_empty, 'empty selection')}, scored 0")
    return lines
