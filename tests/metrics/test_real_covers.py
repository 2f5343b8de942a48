"""The covers that the train set brings along, confirmed."""

from typing import Any

import pytest

from evidencebench_core.data import instance_from
from evidencebench_core.data.model import Focus
from evidencebench_core.metrics import aspect_recall, best_cover, greedy_cover, optimal_cover


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("focus", "task", "budget", "n"), [("all", "er@10", 10, 96), ("results", "result-er@5", 5, 95)]
)
def test_the_stored_selections_are_as_good_as_can_be(
    train_raw: dict[str, dict[str, Any]], focus: Focus, task: str, budget: int, n: int
) -> None:
    confirmed = greedy_needs_more = 0
    for name, raw in train_raw.items():
        instance = instance_from(name, raw)
        covers = instance.evidence.covers(focus)
        if not covers:
            continue
        n_optimal, stored = instance.evidence.optimal_for(focus) or 0, instance.stored[task]
        assert len(optimal_cover(covers)) == n_optimal, name
        assert aspect_recall(optimal_cover(covers), covers) == 1.0, name
        assert aspect_recall(best_cover(covers, budget), covers) == aspect_recall(stored, covers), name
        greedy_needs_more += len(greedy_cover(covers)) > n_optimal
        confirmed += 1
    assert confirmed == n
    assert focus == "results" or greedy_needs_more > 0  # so the solver was not idle
