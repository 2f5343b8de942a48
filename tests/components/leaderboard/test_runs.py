"""The columns of outcomes."""

from __future__ import annotations

from components.leaderboard.runs import OUTCOME_COLUMNS
from evidencebench_core.retrievers.llm import OUTCOME_KINDS, OutcomeCounts


def test_every_count_of_outcomes_has_a_column_and_the_kinds_come_first() -> None:
    assert sorted(OUTCOME_COLUMNS) == sorted(OutcomeCounts().as_dict())
    assert list(OUTCOME_COLUMNS)[: len(OUTCOME_KINDS)] == list(OUTCOME_KINDS)
