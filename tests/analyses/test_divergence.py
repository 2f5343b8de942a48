"""How far two rankings diverge: by instance and by sentence."""

from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.divergence import divergence, rank_frame
from evidencebench_core.data import Store
from evidencebench_core.retrievers import Retrieval
from tests.analyses.stores import ranked, run_of
from tests.factories import raw_instance, store_with


@pytest.fixture
def store(tmp_path: Path) -> Store:
    raw = {name: raw_instance(6, {"w": [1], "x": [2, 3]}) for name in ("same", "apart", "turned", "alone")}
    return store_with(raw, tmp_path)


def test_instances_by_hand(store: Store) -> None:
    answers_a = {"same": (1, 2, 3), "apart": (0, 1, 2), "turned": (1, 2, 5), "alone": (1, 2, 3)}
    answers_b = {"same": (1, 2, 4), "apart": (3, 4, 5), "turned": (2, 1, 5)}
    a, b = (
        run_of(store, name, {one: {"er@2": ranked(ranking, 2)} for one, ranking in answers.items()})
        for name, answers in (("lead", answers_a), ("random", answers_b))
    )
    frame = divergence(store, a, b, "er@2").tables["instances"]
    # Depth 2. turned: overlaps 0 and 2 of 2, so RBO is (1 - p) / p * (0 * p + 1 * p^2) + 1 * p^2
    # = 0.1 * 0.9 + 0.81 = 0.9. What stands behind the picks (3, 4 of same) does not count.
    assert frame["id"].tolist() == ["apart", "turned", "same"]
    assert frame["divergence"].tolist() == pytest.approx([1.0, 0.1, 0.0])
    assert frame["overlap"].tolist() == [0.0, 1.0, 1.0]
    # apart: A picks 0 and 1 and finds w, B picks 3 and 4 and finds x.
    assert frame.loc[0, ["recall_a", "recall_b", "difference"]].tolist() == [0.5, 0.5, 0.0]
    mirrored = divergence(store, b, a, "er@2").tables["instances"]
    assert mirrored["divergence"].tolist() == frame["divergence"].tolist()
    assert divergence(store, a, a, "er@2").tables["instances"]["divergence"].tolist() == [0.0] * 4


def test_who_ranked_nothing_diverges_by_nothing_known(store: Store) -> None:
    a = run_of(store, "lead", {"same": {"er@2": ranked((1, 2), 2)}, "apart": {"er@2": ranked((1, 2), 2)}})
    b = run_of(store, "random", {"same": {"er@2": Retrieval((), (), ())}, "apart": {"er@2": ranked((2,), 2)}})
    frame = divergence(store, a, b, "er@2").tables["instances"]
    assert frame["id"].tolist() == ["apart", "same"]  # the undefined comes last
    assert pd.isna(frame.loc[1, "divergence"])
    assert frame.loc[1, "overlap"] == 0.0


def test_sentences_by_hand() -> None:
    # A picks 7 8 9, B picks 9 5 6; 5 is 6th with A, 8 is 5th with B, 7 and 6 are not ranked by the other.
    a = Retrieval((7, 8, 9, 1, 2, 5), (), (7, 8, 9))
    b = Retrieval((9, 5, 6, 1, 8), (), (9, 5, 6))
    frame = rank_frame(a, b)
    # Apart: 7 is 1st and 6th (behind B's last), 6 is 7th and 3rd, 5 is 6th and 2nd, 8 is 2nd and 5th.
    assert frame["sentence"].tolist() == [7, 5, 6, 8, 9]
    assert frame["rank_a"].tolist() == [1, 6, pd.NA, 2, 3]
    assert frame["rank_b"].tolist() == [pd.NA, 2, 3, 5, 1]
    assert frame["differs"].tolist() == [True] * 4 + [False]
    assert frame["picked_a"].tolist() == [True, False, False, True, True]
    assert rank_frame(a, a)["sentence"].tolist() == [7, 8, 9]
    assert rank_frame(Retrieval((), (), ()), Retrieval((), (), ())).empty
