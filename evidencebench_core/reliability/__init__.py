"""RAmBLA's tests of a language model: does it read the text, keep to it, and say when it cannot know."""

from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task
