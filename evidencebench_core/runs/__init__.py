"""Runs: one retriever, with its settings, over one dataset.

`execute` does the work and keeps raw retrievals, `RunStore` reads them back, `score_run`,
`compare_runs` and `leaderboard` compute from them.
"""

from __future__ import annotations

from evidencebench_core.runs.execute import DEFAULT_TASKS, Progress, execute
from evidencebench_core.runs.predictions import predictions_from
from evidencebench_core.runs.results import (
    LeaderboardRow,
    compare_runs,
    leaderboard,
    score_predictions,
    score_run,
)
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.store import RunInfo, RunStore, run_label

__all__ = [
    "DEFAULT_TASKS",
    "LeaderboardRow",
    "Progress",
    "RunInfo",
    "RunSpec",
    "RunStore",
    "compare_runs",
    "execute",
    "leaderboard",
    "predictions_from",
    "run_label",
    "score_predictions",
    "score_run",
]
