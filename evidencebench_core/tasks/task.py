"""The questions that a retriever is asked: which aspects, with how many sentences."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.errors import SettingError, shown


@dataclass(frozen=True, slots=True)
class Task:
    """One of the benchmark's tasks, or one like them with another budget.

    ``name`` is as on the command line (``er@optimal``, ``result-er@5``), ``focus`` says which aspects count,
    ``budget`` how many sentences may be selected: K, ``"optimal"`` (that of each instance), or ``None`` for no limit.
    """

    name: str
    focus: Focus
    budget: int | Literal["optimal"] | None

    @property
    def title(self) -> str:
        """The name as the paper writes it: ``ER@Optimal``, ``Result-ER Unconstrained``."""
        family = "ER" if self.focus == "all" else "Result-ER"
        if self.budget is None:
            return f"{family} Unconstrained"
        return f"{family}@{'Optimal' if self.budget == 'optimal' else self.budget}"

    @property
    def budget_text(self) -> str:
        """``K = 10``, ``optimal K``, or ``no limit``."""
        if self.budget is None:
            return "no limit"
        return "optimal K" if self.budget == "optimal" else f"K = {self.budget}"

    def budget_for(self, evidence: EvidenceSet) -> int | None:
        """How many sentences may be selected for this instance; ``None``: no limit, or it has nothing to cover."""
        return evidence.optimal_for(self.focus) if self.budget == "optimal" else self.budget

    @property
    def skip_reason(self) -> str:
        """Why an instance without aspects of the focus has nothing to cover."""
        return "it has no result aspects" if self.focus == "results" else "it has no aspects"


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {
        "er@optimal": Task("er@optimal", "all", "optimal"),
        "er@10": Task("er@10", "all", 10),
        "result-er@optimal": Task("result-er@optimal", "results", "optimal"),
        "result-er@5": Task("result-er@5", "results", 5),
        "result-er@unconstrained": Task("result-er@unconstrained", "results", None),
    }
)
_AT_K: Final = re.compile(r"(er|result-er)@([1-9][0-9]{0,8})")


def task_named(name: str | Task) -> Task:
    """The task of that name: one of `TASKS`, or ``er@K`` or ``result-er@K`` for any K of 1 or more.

    Case, and space around the name, make no difference; a task is itself. `SettingError` for any other name,
    saying which there are.
    """
    if isinstance(name, Task):
        return name
    plain = name.strip().lower()
    if plain in TASKS:
        return TASKS[plain]
    match = _AT_K.fullmatch(plain)
    if match is None:
        remedy = f"Tasks are: {', '.join(TASKS)}, and er@K or result-er@K for any K from 1 up."
        raise SettingError(f"task {shown(name)}", "is not known", remedy)
    return Task(plain, "all" if match[1] == "er" else "results", int(match[2]))
