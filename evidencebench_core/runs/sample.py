"""A random part of a dataset, papers whole, the same on every machine."""

from __future__ import annotations

import random
from dataclasses import dataclass

from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown


@dataclass(frozen=True, slots=True)
class Sample:
    """About ``n`` instances: papers are drawn until so many instances are together."""

    n: int
    seed: int = 0

    def __str__(self) -> str:
        return f"sample of {self.n}, seed {self.seed}"

    def ids(self, store: Store, dataset: DatasetInfo) -> tuple[str, ...]:
        """The instances drawn, in the order of the file."""
        if self.n < 1:
            raise SettingError("sample", f"is {shown(self.n)}", "Give a number of instances, 1 or more.")
        paper_ids = store.paper_ids(dataset)
        papers = sorted(set(paper_ids.values()))
        random.Random(f"sample {self.seed}").shuffle(papers)  # noqa: S311 - a reproducible draw
        by_paper: dict[str, list[str]] = {}
        for instance_id, paper in paper_ids.items():
            by_paper.setdefault(paper, []).append(instance_id)
        drawn = set[str]()
        for paper in papers:
            if len(drawn) >= self.n:
                break
            drawn.update(by_paper[paper])
        return tuple(instance_id for instance_id in paper_ids if instance_id in drawn)
