"""Names of tasks."""

import dataclasses

import pytest

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.tasks import TASKS, Task, task_named

EVIDENCE = EvidenceSet(30, (Aspect("a", (1, 2), False, "A1"), Aspect("b", (3,), True, "A2")), 2, 1)
BARE = dataclasses.replace(EVIDENCE, results_optimal=None)


@pytest.mark.parametrize(
    ("name", "title", "budget", "of_bare"),
    [
        ("er@optimal", "ER@Optimal", 2, 2),
        ("er@10", "ER@10", 10, 10),
        ("result-er@optimal", "Result-ER@Optimal", 1, None),  # without result aspects
        ("result-er@5", "Result-ER@5", 5, 5),
        ("result-er@unconstrained", "Result-ER Unconstrained", None, None),
        ("er@3", "ER@3", 3, 3),
    ],
)
def test_title_and_budget(name: str, title: str, budget: int | None, of_bare: int | None) -> None:
    task = task_named(name)
    assert (task.name, task.title) == (name, title)
    assert (task.budget_for(EVIDENCE), task.budget_for(BARE)) == (budget, of_bare)


def test_any_k_is_a_task() -> None:
    assert task_named("er@7") == Task("er@7", "all", 7)
    assert task_named(" Result-ER@250 ") == Task("result-er@250", "results", 250)
    assert task_named("ER@Optimal") is TASKS["er@optimal"]
    assert [TASKS[name].budget_text for name in TASKS] == [
        "optimal K", "K = 10", "optimal K", "K = 5", "no limit",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["", "er", "er@", "er@0", "er@-1", "er@1.5", "er@01", "er@٣", "er@unconstrained", "er@" + "9" * 5000],
)
def test_any_other_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        task_named(name)
    assert all(known in caught.value.remedy for known in TASKS)
    assert len(str(caught.value)) < 250
