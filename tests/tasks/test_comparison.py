"""Two scores, paired by instance."""

import json

import pytest

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.tasks import TASKS, Score, compare_scores, score, task_named

ER = TASKS["er@optimal"]
TWO = EvidenceSet(5, (Aspect("a", (0,), True, "A1"), Aspect("b", (1,), True, "A2")), 2, 2)


def scored(recalls: dict[str, float]) -> Score:
    """Instances of two aspects, whose selections have these recalls: 0, 0.5 or 1."""
    picks = {0.0: [4], 0.5: [0, 4], 1.0: [0, 1]}
    gold = [(name, TWO) for name in ("p1", "p2", "p3", "p<4>")]
    return score(ER, gold, {name: picks[recall] for name, recall in recalls.items()})


A = scored({"p1": 1.0, "p2": 0.5, "p3": 0.5})
B = scored({"p2": 0.0, "p3": 0.5, "p1": 0.5, "p<4>": 1.0})


def test_by_hand() -> None:
    # differences 0.5, 0.5, 0: mean 1/3; flips of the two: 1, 0, 0, -1, of which two reach 1: p = 1/2
    comparison = compare_scores(A, B)
    assert (comparison.n, comparison.wins, comparison.ties, comparison.losses) == (3, 2, 1, 0)
    means = (comparison.mean_a, comparison.mean_b, comparison.mean_difference)
    assert means == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert comparison.p_value == 0.5
    assert (comparison.only_in_a, comparison.only_in_b) == ((), ("p<4>",))
    as_dict = comparison.as_dict()
    assert json.loads(json.dumps(as_dict)) == as_dict
    assert as_dict["task"] == "er@optimal"


def test_nothing_in_common() -> None:
    comparison = compare_scores(scored({"p1": 1.0}), scored({"p2": 1.0}))
    assert comparison.n == 0
    assert comparison.mean_difference is comparison.ci95 is comparison.p_value is None
    assert (comparison.only_in_a, comparison.only_in_b) == (("p1",), ("p2",))


def test_different_tasks_are_refused() -> None:
    other = score(task_named("er@3"), [("p1", TWO)], {"p1": [0]})
    with pytest.raises(SettingError, match=r"a is er@optimal, b is er@3"):
        compare_scores(A, other)


def test_as_a_table() -> None:
    comparison = compare_scores(A, B)
    row = comparison.to_pandas().iloc[0]
    assert (row.task, row.n, row.wins) == ("er@optimal", 3, 2)
    assert (row.low, row.high) == comparison.ci95
    assert compare_scores(scored({"p1": 1.0}), scored({"p2": 1.0})).to_pandas().low.isna().all()
