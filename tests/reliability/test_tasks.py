"""The table of tasks and their settings."""

from __future__ import annotations

import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task, task_settings


def test_the_tasks_in_the_order_of_the_specification() -> None:
    numbers = [task.number for task in RELIABILITY_TASKS.values()]
    assert numbers == ["T1", "T1k", "T2", "T3", "T4", "T5", "T6", "T7, T10", "T8", "T9", "T11", "T12"]
    assert reliability_task("T10") is reliability_task("freeform")
    with pytest.raises(SettingError, match="Did you mean 'few-shot'"):
        reliability_task("fewshot")


@pytest.mark.parametrize("name", RELIABILITY_TASKS)
def test_a_task_is_whole(name: str) -> None:
    task = reliability_task(name)
    assert set(task.published) <= set(task.settings)
    assert task_settings(task, as_published=True) == task_settings(task, {"as_published": True})
    assert bool(task.labels) != bool(task.judge_prompt)


def test_the_papers_settings_cannot_be_changed() -> None:
    spelling = reliability_task("spelling")
    assert task_settings(spelling, {"errors": "3, 5"})["errors"] == ("3", "5")
    assert task_settings(spelling, as_published=True)["errors"] == ("1", "3", "10", "20", "50")
    with pytest.raises(SettingError, match="seed is 123 in the paper's construction, not 7"):
        task_settings(spelling, {"seed": 7}, as_published=True)
    with pytest.raises(SettingError, match="Did you mean 'errors'"):
        task_settings(spelling, {"error": 7})
