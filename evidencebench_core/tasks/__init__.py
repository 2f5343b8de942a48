"""The benchmark's tasks, and what a set of selections scores on them."""

from evidencebench_core.tasks.comparison import ScoreComparison, compare_scores
from evidencebench_core.tasks.scoring import Missing, Score, recalls_of, score
from evidencebench_core.tasks.selection import validated_selection, validated_selections
from evidencebench_core.tasks.task import TASKS, Task, task_named

__all__ = [
    "TASKS",
    "Missing",
    "Score",
    "ScoreComparison",
    "Task",
    "compare_scores",
    "recalls_of",
    "score",
    "task_named",
    "validated_selection",
    "validated_selections",
]
