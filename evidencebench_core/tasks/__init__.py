"""The benchmark's tasks, and what a set of selections scores on them."""

from evidencebench_core.tasks.scoring import Missing, Score, published_results, score, validated_selection
from evidencebench_core.tasks.task import TASKS, Task, task_named
