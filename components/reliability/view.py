"""A set of questions with its runs, as the page Reliability shows them."""

from __future__ import annotations

from dataclasses import dataclass

from components import resources
from evidencebench_core.analyses import Report
from evidencebench_core.reliability.card import reliability_report
from evidencebench_core.reliability.items import ItemSetInfo
from evidencebench_core.reliability.runs import task_of
from evidencebench_core.runs import RunInfo, judge_runs


@dataclass(frozen=True)
class View:
    """A set with its runs."""

    info: ItemSetInfo
    runs: tuple[RunInfo, ...]

    @property
    def cache_key(self) -> object:
        """Changes with every answer."""
        judged = [run for run in self.runs if task_of(run).judge]
        judges = [judge for run in judged for judge in judge_runs(resources.store(), run.id)]
        return self.info.name, self.info.sha256, [(run.id, run.stamp) for run in (*self.runs, *judges)]

    def report(self, run_id: str = "") -> Report:
        """What ``reliability score`` prints of the set, or of one run."""
        return resources.report(reliability_report, run_id or self.info.name, also=self)
