"""What a trained ranker goes by."""

from dataclasses import replace

import numpy as np
import pytest

from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.weighing import feature_weighing
from tests.retrievers.ranker.made_up import small_model

SENTENCES = ("One.", "Two.", "Three.", "Four.")
QUERY = Query("Tea.", SENTENCES, ("normal",) * 4, ("",) * 4, "all", None)
VECTORS = np.eye(5, 768, dtype=np.float32)


def test_by_hand() -> None:
    # The places in the paper are 0, 1/4, 2/4 and 3/4: mean 3/8, standard deviation sqrt(5)/8. A score is the
    # place over that deviation, so the distances from the mean are 3, 1, 1 and 3 eighths over sqrt(5)/8,
    # whose mean is 2/sqrt(5).
    found = feature_weighing(small_model(), [(QUERY, VECTORS), (QUERY, VECTORS)])
    assert (found.n_papers, found.n_sentences) == (2, 8)
    assert found.groups["place"] == pytest.approx(2 / 5**0.5, abs=1e-6)
    assert not any(moves for name, moves in found.groups.items() if name != "place")
    first, second = found.features[:2]
    assert (first.name, first.direction) == ("place in paper", pytest.approx(1.0))
    assert first.moves == pytest.approx(2 / 5**0.5, abs=1e-6)
    assert (second.moves, second.direction) == (0.0, None)
    # What is the same for the whole paper moves nothing, nor does no paper at all.
    found = feature_weighing(small_model("paper length"), [(replace(QUERY, focus="results"), VECTORS)])
    assert max(found.groups.values()) == pytest.approx(0.0, abs=1e-9)
    none = feature_weighing(small_model(), [])
    assert (none.n_papers, set(none.groups.values())) == (0, {0.0})
