"""What a run is: what it is known by, and what the store says of it."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, Final, TypeAlias

from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers import OFFICIAL, Retrieval, Setting
from evidencebench_core.tasks import TASKS, Task, task_named

RETRIEVAL: Final = "retrieval"  # the kind of runs of a retriever over a dataset
Result: TypeAlias = Mapping[str, Any]
"""The result of a question to a model, JSON-able."""
Results: TypeAlias = Mapping[str, Mapping[str, Retrieval | Result | str]]
"""By unit and question: the result, or in one line why there is none."""


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
        n_instances = Counter(paper_ids.values())
        papers = sorted(n_instances)
        random.Random(f"sample {self.seed}").shuffle(papers)  # noqa: S311 - a reproducible draw
        n_before = accumulate((n_instances[paper] for paper in papers), initial=0)
        drawn = {paper for paper, n in zip(papers, n_before, strict=False) if n < self.n}
        return tuple(instance_id for instance_id, paper in paper_ids.items() if paper in drawn)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The identity of a run. Units are no part of it: a run gains them as they are asked for."""

    kind: str  # "retrieval", "reliability", "answers", "annotation", ...
    subject: str  # digest of what it is about; of a judge's run the id of the run judged
    settings: Mapping[str, Any]  # all that decides the results, JSON-able

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the digest."""
        return digest({"kind": self.kind, "subject": self.subject, "settings": dict(self.settings)})[:12]


def retrieval_spec(
    dataset_sha256: str,
    retriever: str,
    settings: Mapping[str, Setting],
    basis: Mapping[str, str],
    *,
    variant: tuple[str, str] | None = None,
    sample: Sample | None = None,
) -> RunSpec:
    """The run of a retriever over a dataset, a variant (its name and digest) of it, or a sample.

    It is known by the retriever's settings, and by the digests of all that its answers depend on besides (``basis``).
    """
    document: dict[str, Any] = {"retriever": retriever, "settings": dict(settings), "basis": dict(basis)}
    if variant:
        document["variant"], document["variant_digest"] = variant
    if sample:
        document["sample"] = asdict(sample)
    return RunSpec(RETRIEVAL, dataset_sha256, document)


@dataclass(frozen=True, slots=True, eq=False)
class RunInfo:
    """A run in the store; the fields from ``dataset`` on are of retrievers' runs.

    Its ``stamp`` is another one whenever a result has been written, so what is computed of a run may be kept under it:
    runs are equal by id, stamp and label.
    """

    id: str
    stamp: str
    kind: str
    subject: str
    settings: Mapping[str, Any]  # of a retriever's run those of the retriever, defaults included
    created_at: str  # ISO 8601, UTC
    versions: Mapping[str, str] = field(default_factory=dict)  # of packages, when it was begun
    answered: Mapping[str, int] = field(default_factory=dict)  # units with a result by question
    n_failed: int = 0  # pairs of unit and question whose last try failed
    label: str = ""  # the name that it was given, else one made of its settings
    dataset: str = ""
    retriever: str = ""
    basis: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""  # empty for a run over the originals
    sample: Sample | None = None  # of the dataset, where it is over one
    n_with_results: int = 0  # units with result aspects that have an answer for any focus
    n_trained_on: int = 0  # instances whose papers its model has learnt from: no score on them is an estimate

    def __repr__(self) -> str:
        return f"RunInfo({self.id!r}: {self.label} on {self.dataset or self.subject[:12]}, {self.n_answered:,} answers)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunInfo) and hash(self) == hash(other)

    def __hash__(self) -> int:
        return hash((self.id, self.stamp, self.label, self.dataset))

    @property
    def has_picks(self) -> bool:
        """Whether its results say which sentences it picked; of a run of scores nothing is known but its recalls."""
        return self.retriever != OFFICIAL

    @property
    def n_answered(self) -> int:
        return sum(self.answered.values())

    def question(self, task: str | Task) -> str | None:
        """The question whose answers a task is scored by; ``None`` where the run was asked none of that kind."""
        chosen = task_named(task)
        names = (chosen.name, chosen.focus, "")
        return next((name for name in names if name in self.answered), None)

    def n_answers(self, task: str | Task) -> int:
        """How many instances that a task asks about have an answer."""
        question = self.question(task)
        if question == "" and task_named(task).focus == "results":
            return self.n_with_results
        return 0 if question is None else self.answered[question]

    @property
    def tasks(self) -> Mapping[str, int]:
        """The tasks with a limit, and those asked by name, that have answers: how many. Rankings answer any K."""
        names = [name for name, task in TASKS.items() if task.budget is not None or name in self.answered]
        names += [name for name in self.answered if "@" in name and name not in TASKS]
        counts = {name: self.n_answers(name) for name in names if self.question(name) is not None}
        return {name: n for name, n in counts.items() if n}
