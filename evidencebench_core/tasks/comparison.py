"""Two scores on one task, paired by instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import compare_paired

if TYPE_CHECKING:
    from evidencebench_core.tasks.scoring import Score
    from evidencebench_core.tasks.task import Task

__all__ = ["ScoreComparison", "compare_scores"]


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """System a against system b on one task, over the instances that both were scored on.

    Attributes
    ----------
    task : Task
    n : int
        Instances scored in both.
    mean_a, mean_b, mean_difference : float or None
        Aspect Recall over those instances, 0 to 1; the difference is a minus b. ``None`` without any.
    ci95 : (low, high) or None
        Paired bootstrap interval of the mean difference; ``None`` for fewer than two instances.
    p_value : float or None
        Two-sided paired randomisation test; ``None`` for fewer than two instances.
    wins, ties, losses : int
        Instances on which a is above, level with, and below b.
    only_in_a, only_in_b : tuple of str
        Ids of the instances scored in one only; they count for nothing here.
    """

    task: Task
    n: int
    mean_a: float | None
    mean_b: float | None
    mean_difference: float | None
    ci95: tuple[float, float] | None
    p_value: float | None
    wins: int
    ties: int
    losses: int
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "task": self.task.name,
            "n": self.n,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            "mean_difference": self.mean_difference,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "p_value": self.p_value,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "only_in_a": list(self.only_in_a),
            "only_in_b": list(self.only_in_b),
        }

    def _repr_html_(self) -> str:
        """A small table, escaped, for notebooks."""
        from evidencebench_core.tasks.html import comparison_html

        return comparison_html(self)


def compare_scores(a: Score, b: Score, seed: int = 0) -> ScoreComparison:
    """Compare two scores, paired over the instances scored in both.

    Raises
    ------
    SettingError
        If they are of different tasks or denominators, so that their recalls mean different things.
    """
    if (a.task, a.denominator) != (b.task, b.denominator):
        raise SettingError(
            "compare_scores",
            f"a is {a.task.name} over {a.denominator} aspects, b is {b.task.name} over {b.denominator}",
            "Compare two scores of one task and one denominator.",
        )
    import numpy as np

    both = [instance_id for instance_id in a.per_instance if instance_id in b.per_instance]
    paired = compare_paired(
        [a.per_instance[instance_id] for instance_id in both],
        [b.per_instance[instance_id] for instance_id in both],
        np.random.default_rng(seed),
    )
    return ScoreComparison(
        task=a.task,
        n=paired.n,
        mean_a=paired.mean_a,
        mean_b=paired.mean_b,
        mean_difference=paired.mean_difference,
        ci95=paired.ci95,
        p_value=paired.p_value,
        wins=paired.wins,
        ties=paired.ties,
        losses=paired.losses,
        only_in_a=tuple(i for i in a.per_instance if i not in b.per_instance),
        only_in_b=tuple(i for i in b.per_instance if i not in a.per_instance),
    )
