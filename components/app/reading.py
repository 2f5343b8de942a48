"""The reading of *Browse* and *Your paper*: a paper and a hypothesis, and gold where there is one."""

from __future__ import annotations

from dataclasses import dataclass

from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.retrievers import Query, query_of
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper, the hypothesis that it is searched for, and the task, which says how many may be picked."""

    instance: Instance  # a reader's own paper has no aspects
    hypothesis: str
    task: Task
    content: str  # hash of the dataset's content, or of the text of a reader's own paper
    dataset: DatasetInfo | None = None  # none for a reader's own paper

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Tells it from other readings, whatever its paper is called."""
        return (self.content, self.instance.id if self.dataset else "", self.task.name, self.hypothesis)

    def query(self) -> Query:
        """The question to retrievers; the gold stays behind."""
        budget = self.task.budget_for(self.instance.evidence)
        return query_of(self.instance, self.task.focus, budget, self.hypothesis)
