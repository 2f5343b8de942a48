"""The identity of a run, and what the store knows of it."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, Final, TypeAlias

from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.notebook import Tabular
from evidencebench_core.retrievers import OFFICIAL, Retrieval, Setting
from evidencebench_core.tasks import TASKS, Task, task_named

RETRIEVAL: Final = "retrieval"  # the kind of runs of a retriever over a dataset
Result: TypeAlias = Mapping[str, Any]
"""The result of a question to a model, JSON-able."""
Results: TypeAlias = Mapping[str, Mapping[str, Retrieval | Result | str]]
"""By unit and question: the result, or the reason, in one line, why there is none."""


@dataclass(frozen=True, slots=True)
class Sample:
    """About ``n`` instances: papers are drawn until there are enough."""

    n: int
    seed: int = 0

    def __str__(self) -> str:
        return f"sample of {self.n}, seed {self.seed}"

    def ids(self, store: Store, dataset: DatasetInfo) -> tuple[str, ...]:
        """The instances drawn, in the order of the file."""
        if self.n < 1:
            raise SettingError(
                "sample", f"cannot be {shown(self.n)}", "Give a number of instances, 1 or more."
            )
        paper_ids = store.paper_ids(dataset)
        n_instances = Counter(paper_ids.values())
        papers = sorted(n_instances)
        random.Random(f"sample {self.seed}").shuffle(papers)  # noqa: S311 - a reproducible draw
        n_before = accumulate((n_instances[paper] for paper in papers), initial=0)
        drawn = {paper for paper, n in zip(papers, n_before, strict=False) if n < self.n}
        return tuple(instance_id for instance_id, paper in paper_ids.items() if paper in drawn)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The identity of a run. Its units are not part of it: more can be added later."""

    kind: str  # "retrieval", "reliability", "answers", "annotation", ...
    subject: str  # digest of what it is about; for a judge's run the id of the run that is judged
    settings: Mapping[str, Any]  # everything that determines the results, as JSON values

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunInfo(Tabular):
    """A run in the store; the fields from ``dataset`` on are for retrievers' runs.

    Its ``stamp`` is another one whenever a result has been written, so what is computed of a run may be kept under it:
    runs are equal by id, stamp and label.
    """

    id: str
    stamp: str
    kind: str
    subject: str
    settings: Mapping[str, Any]  # of the retriever, including defaults, or of the questions
    created_at: str  # ISO 8601, UTC
    versions: Mapping[str, str] = field(default_factory=dict)  # of packages, when the run was started
    answered: Mapping[str, int] = field(default_factory=dict)  # units with a result by question
    n_failed: int = 0  # pairs of unit and question whose last try failed
    label: str = ""  # its name, else one made from its settings
    dataset: str = ""
    retriever: str = ""
    basis: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""  # empty for a run over the originals
    sample: Sample | None = None  # None: the whole dataset
    n_with_results: int = 0  # units with result aspects that have an answer for any focus
    n_trained_on: int = 0  # instances whose papers its model was trained on, where scores are too good

    def __repr__(self) -> str:
        return f"RunInfo({self.id!r}: {self.label} on {self.dataset or self.subject[:12]}, {self.n_answered:,} answers)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunInfo) and hash(self) == hash(other)

    def __hash__(self) -> int:
        return hash((self.id, self.stamp, self.label, self.dataset))

    @property
    def has_picks(self) -> bool:
        """Whether it says which sentences were picked; an official run has nothing but recalls."""
        return self.retriever != OFFICIAL

    @property
    def n_answered(self) -> int:
        return sum(self.answered.values())

    def question(self, task: str | Task) -> str | None:
        """The question whose answers a task is scored on; ``None`` if the run has none."""
        chosen = task_named(task)
        names = (chosen.name, chosen.focus, "")
        return next((name for name in names if name in self.answered), None)

    def n_answers(self, task: str | Task) -> int:
        """How many of a task's instances have an answer."""
        question = self.question(task)
        if question == "" and task_named(task).focus == "results":
            return self.n_with_results
        return 0 if question is None else self.answered[question]

    @property
    def tasks(self) -> Mapping[str, int]:
        """The number of answers by task, of tasks with a limit and of those asked by name. Rankings answer any K."""
        names = [name for name, task in TASKS.items() if task.budget is not None or name in self.answered]
        names += [name for name in self.answered if "@" in name and name not in TASKS]
        counts = {name: self.n_answers(name) for name in names if self.question(name) is not None}
        return {name: n for name, n in counts.items() if n}
