"""The queue of misses, worked out by hand on two papers."""

from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.missed import (
    aspect_outcomes,
    queue_of,
)
from evidencebench_core.analyses.missed_text import content_words, with_text
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.trained import keep_trained
from tests.analyses.stores import missed_store, ranked, run_of
from tests.factories import raw_instance, store_with


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return missed_store(tmp_path)


@pytest.fixture
def run(store: Store) -> str:
    """Picks 12, 1, 0: 12 covers effect and main, 1 repeats main, 0 covers nothing. Harm (10) ranks fifth."""
    picks = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), (12, 1, 0))
    return run_of(store, "one", {"tea": {"er@3": picks, "result-er@3": picks}})


def row_of(frame: pd.DataFrame, aspect: str) -> dict[str, object]:
    return {str(k): v for k, v in frame[frame["aspect"] == aspect].to_dict("records")[0].items()}


def test_found_and_missed_aspects_with_what_was_left_out(store: Store, run: str) -> None:
    frame = aspect_outcomes(store, run, "er@3")
    assert dict(zip(frame["aspect"], frame["missed"], strict=True)) == {
        "design": True,  # 2 and 5 are not picked
        "effect": False,
        "harm": True,
        "main": False,
    }
    assert frame.attrs["n_unanswered"] == 1  # salt
    assert frame.attrs["n_skipped"] == frame.attrs["n_uncoverable"] == 0
    assert aspect_outcomes(store, run, "result-er@3").attrs["n_skipped"] == 1  # salt has no result aspects


def test_distance_gap_and_picks(store: Store, run: str) -> None:
    harm = row_of(aspect_outcomes(store, run, "er@3"), "harm")
    assert (harm["best_rank"], harm["budget"], harm["distance"]) == (5, 3, 2)
    assert harm["gap"] == 4.0 - 1.5  # last pick (0) minus sentence 10
    assert (harm["n_adding"], harm["n_repeating"], harm["n_blank"]) == (1, 1, 1)
    assert harm["position"] == 10 / 12  # sentence 10 of 13
    assert (harm["covering"], harm["n_covering"], harm["label"], harm["is_result"]) == ((10,), 1, "A3", True)


def test_what_the_ranking_does_not_reach_is_undefined(store: Store, run: str) -> None:
    frame = aspect_outcomes(store, run, "er@3")
    design = row_of(frame, "design")
    assert design["best_rank"] is design["distance"] is None
    assert pd.isna(design["gap"])
    assert design["sentence"] == 2  # the first in the paper
    # The queue: nearest first, results only by default.
    assert list(queue_of(frame, results_only=False)["aspect"]) == ["harm", "design"]
    assert list(queue_of(frame)["aspect"]) == ["harm"]


def test_other_runs_that_found_it(store: Store, run: str) -> None:
    other = run_of(store, "two", {"tea": {"er@3": ranked((10, 2, 0), 3)}, "salt": {"er@3": "failed"}})
    run_of(store, "oracle", {"tea": {"er@3": ranked((10, 2, 9), 3)}})  # sees the gold: does not count
    harm = row_of(aspect_outcomes(store, run, "er@3"), "harm")
    assert harm["found_by"] == (other,)
    assert harm["n_others"] == 1
    trained = run_of(store, "three", {"tea": {"er@3": ranked((10, 2, 9), 3)}})
    (info,) = store.datasets()
    keep_trained(store, trained, TrainedOn(info.sha256, ("tea",), ()))
    assert row_of(aspect_outcomes(store, run, "er@3"), "harm")["n_others"] == 1


def test_words_of_the_papers(store: Store, run: str) -> None:
    frame = with_text(store, aspect_outcomes(store, run, "er@3"))
    design, harm = row_of(frame, "design"), row_of(frame, "harm")
    assert (design["type"], design["section"]) == ("abstract", "abstract")
    assert design["sections"] == ("abstract", "methods")
    # The hypothesis has tea, lowers, blood, pressure: sentence 2 shares none, sentence 5 "tea".
    assert design["overlap"] == 0.25
    assert design["overlap_sentence"] == 5
    assert (harm["section"], harm["heading"], harm["overlap"]) == ("results", "RESULTS", 0.0)
    assert harm["front_share"] == pytest.approx(2 / 3)  # of 12, 1, 0 an abstract sentence and a heading
    assert pd.isna(row_of(frame, "effect")["overlap"])  # found
    assert content_words("The IL-6 of Tea, no tea") == {"il", "6", "tea", "no"}


def test_without_a_budget_distance_is_from_the_last_pick(store: Store) -> None:
    run = run_of(store, "one", {"tea": {"result-er@unconstrained": Retrieval((12, 9, 10), (3, 2, 1), (12,))}})
    harm = row_of(aspect_outcomes(store, run, "result-er@unconstrained"), "harm")
    assert (harm["budget"], harm["distance"]) == (None, 3 - 1)
    # An empty selection misses everything.
    run = run_of(store, "empty", {"tea": {"er@3": Retrieval((), (), ())}})
    frame = with_text(store, queue_of(aspect_outcomes(store, run, "er@3")))
    assert len(frame) == 3
    assert frame["front_share"].isna().all()


def test_a_run_without_answers_says_which_it_has(store: Store, run: str) -> None:
    with pytest.raises(UnknownNameError, match=r"result-er@3"):
        aspect_outcomes(store, run, "er@10")
    with pytest.raises(SettingError):
        aspect_outcomes(store, run, "er@none")


def test_an_aspect_that_nothing_covers_is_counted_not_listed(tmp_path: Path) -> None:
    store = store_with({"odd": raw_instance(6, {"x": [4], "y": []}, ["x", "y"])}, tmp_path)
    run = run_of(store, "one", {"odd": {"er@1": ranked((0, 4), 1)}})
    frame = aspect_outcomes(store, run, "er@1")
    assert list(frame["aspect"]) == ["x"]
    assert frame.attrs["n_uncoverable"] == 1


def test_outcomes_follow_the_answer_that_stands(store: Store, run: str) -> None:
    found = Retrieval((10, 0), (2.0, 1.0), (10, 0))
    for replace, missed in ((False, True), (True, False)):
        RunStore(store).add(run, {"tea": {"er@3": found}}, replace)
        harm = row_of(aspect_outcomes(store, run, "er@3"), "harm")
        assert (harm["missed"], harm["best_rank"]) == (missed, 5 if missed else 1)
    with store.write() as db:
        db.execute("DELETE FROM retrievals WHERE task = 'er@3'")
    with store.read() as db:
        assert db.execute("SELECT DISTINCT task FROM nearest_sentences").fetchall() == [("result-er@3",)]
