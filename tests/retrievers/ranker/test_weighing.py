"""What a trained ranker goes by."""

from dataclasses import replace

import numpy as np
import pytest

from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.weighing import feature_weighing
from tests.retrievers.ranker.made_up import small_model

SENTENCES = ("One.", "Two.", "Three.", "Four.")
QUERY = Query("Tea.", SENTENCES, ("normal",) * 4, ("",) * 4, "all", None)
VECTORS = np.eye(5, 384, dtype=np.float32)


def test_by_hand() -> None:
    # The places in the paper are 0, 1/4, 2/4 and 3/4: mean 3/8, standard deviation sqrt(5)/8. A score is the
    # place over that deviation, so the distances from the mean are 3, 1, 1 and 3 eighths over sqrt(5)/8,
    # whose mean is 2/sqrt(5).
    found = feature_weighing(small_model(), [(QUERY, VECTORS), (QUERY, VECTORS)])
    assert (found.n_papers, found.n_sentences) == (2, 8)
    assert found.groups["place"] == pytest.approx(2 / 5**0.5, abs=1e-6)
    assert {name: moves for name, moves in found.groups.items() if name != "place"} == dict.fromkeys(
        set(found.groups) - {"place"}, 0.0
    )
    first, second = found.features[:2]
    assert (first.name, first.direction) == ("place in paper", pytest.approx(1.0))
    assert first.moves == pytest.approx(2 / 5**0.5, abs=1e-6)
    assert (second.moves, second.direction) == (0.0, None)


def test_what_is_the_same_for_the_whole_paper_moves_nothing() -> None:
    found = feature_weighing(small_model("paper length"), [(replace(QUERY, focus="results"), VECTORS)])
    assert max(found.groups.values()) == pytest.approx(0.0, abs=1e-9)


def test_no_paper_at_all() -> None:
    found = feature_weighing(small_model(), [])
    assert found.n_papers == 0
    assert set(found.groups.values()) == {0.0}
