"""RAmBLA's tests of a language model: does it read, does it keep to what it read, does it say when it cannot know."""

from __future__ import annotations

from evidencebench_core.reliability.items import Item, ItemSet
from evidencebench_core.reliability.tasks import (
    RELIABILITY_TASKS,
    ReliabilityTask,
    reliability_task,
    task_settings,
)

__all__ = [
    "RELIABILITY_TASKS",
    "Item",
    "ItemSet",
    "ReliabilityTask",
    "reliability_task",
    "task_settings",
]
