"""The covers that the train set brings along, confirmed."""

from typing import Any

import pytest

from evidencebench_core.metrics import aspect_recall, best_cover, greedy_cover, optimal_cover

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize(("prefix", "budget", "n"), [("", 10, 96), ("results_", 5, 95)])
def test_the_stored_selections_are_as_good_as_can_be(
    train_raw: dict[str, dict[str, Any]], prefix: str, budget: int, n: int
) -> None:
    ids_key, optimal_key, fixed_key = (
        f"{prefix}{key}"
        for key in (
            "aspect_list_ids",
            "evidence_retrieval_at_optimal_evaluation",
            f"evidence_retrieval_at_{budget}_evaluation",
        )
    )
    confirmed = greedy_needs_more = 0
    for name, raw in train_raw.items():
        if raw[ids_key] is None:
            continue
        covers = [frozenset(raw["aspect2sentence_indices"][aspect]) for aspect in raw[ids_key]]
        stored = raw[optimal_key]
        assert len(optimal_cover(covers)) == stored["optimal"], name
        assert len(stored["one_selection_of_sentences"]) == stored["optimal"], name
        assert aspect_recall(optimal_cover(covers), covers) == 1.0, name
        assert aspect_recall(stored["one_selection_of_sentences"], covers) == 1.0, name
        at_k = raw[fixed_key]["one_selection_of_sentences"]
        assert len(at_k) <= budget, name
        assert aspect_recall(best_cover(covers, budget), covers) == aspect_recall(at_k, covers), name
        greedy_needs_more += len(greedy_cover(covers)) > stored["optimal"]
        confirmed += 1
    assert confirmed == n
    assert prefix or greedy_needs_more > 0  # so the solver was not idle
