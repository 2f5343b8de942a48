"""RAmBLA's tests of a language model: does it read, does it keep to what it read, does it say when it cannot know."""

from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task
