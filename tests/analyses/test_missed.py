"""The queue of misses, worked out by hand on two papers; shares of misses; the train set."""

import math
from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.missed import (
    content_words,
    finding,
    missed,
    missed_shares,
    outcomes,
    queue_of,
)
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.runs import score_run
from evidencebench_core.runs.store import keep_trained
from tests.analyses.stores import complete_run, missed_store, ranked, run_of
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
    frame = outcomes(store, run, "er@3")
    assert dict(zip(frame["aspect"], frame["missed"], strict=True)) == {
        "design": True,  # 2 and 5 are not picked
        "effect": False,
        "harm": True,
        "main": False,
    }
    skipped, unanswered, uncovered = frame.attrs["left_out"].values()
    assert (skipped, unanswered, uncovered) == (0, 1, 0)  # salt
    skipped, *_ = outcomes(store, run, "result-er@3").attrs["left_out"].values()
    assert skipped == 1  # salt has no result aspects


def test_distance_gap_and_picks(store: Store, run: str) -> None:
    harm = row_of(outcomes(store, run, "er@3"), "harm")
    assert (harm["best_rank"], harm["budget"], harm["distance"]) == (5, 3, 2)
    assert harm["gap"] == 4.0 - 1.5  # last pick (0) minus sentence 10
    assert (harm["n_adding"], harm["n_repeating"], harm["n_blank"]) == (1, 1, 1)
    assert harm["position"] == 10 / 12  # sentence 10 of 13
    assert (harm["covering"], harm["n_covering"], harm["label"], harm["is_result"]) == ((10,), 1, "A3", True)


def test_what_the_ranking_does_not_reach_is_undefined(store: Store, run: str) -> None:
    frame = outcomes(store, run, "er@3")
    design = row_of(frame, "design")
    assert pd.isna(design["best_rank"])
    assert pd.isna(design["distance"])
    assert pd.isna(design["gap"])
    assert design["sentence"] == 2  # the first in the paper
    # The queue: nearest first, results only by default.
    assert list(queue_of(frame, results_only=False)["aspect"]) == ["harm", "design"]
    assert list(queue_of(frame)["aspect"]) == ["harm"]


def test_other_runs_that_found_it(store: Store, run: str) -> None:
    other = run_of(store, "two", {"tea": {"er@3": ranked((10, 2, 0), 3)}, "salt": {"er@3": "failed"}})
    run_of(store, "oracle", {"tea": {"er@3": ranked((10, 2, 9), 3)}})  # sees the gold: does not count
    harm = row_of(outcomes(store, run, "er@3"), "harm")
    assert harm["found_by"] == (other,)
    assert harm["n_others"] == 1
    trained = run_of(store, "three", {"tea": {"er@3": ranked((10, 2, 9), 3)}})
    (info,) = store.datasets()
    keep_trained(store, trained, TrainedOn(info.sha256, ("tea",), ()))
    assert row_of(outcomes(store, run, "er@3"), "harm")["n_others"] == 1


def test_words_of_the_papers(store: Store, run: str) -> None:
    frame = outcomes(store, run, "er@3")
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
    harm = row_of(outcomes(store, run, "result-er@unconstrained"), "harm")
    assert pd.isna(harm["budget"])
    assert harm["distance"] == 3 - 1
    # An empty selection misses everything.
    run = run_of(store, "empty", {"tea": {"er@3": Retrieval((), (), ())}})
    frame = queue_of(outcomes(store, run, "er@3"))
    assert len(frame) == 3
    assert frame["front_share"].isna().all()


def test_a_run_without_answers_says_which_it_has(store: Store, run: str) -> None:
    with pytest.raises(UnknownNameError, match=r"result-er@3"):
        outcomes(store, run, "er@10")
    with pytest.raises(SettingError):
        outcomes(store, run, "er@none")


def test_an_aspect_that_nothing_covers_is_counted_not_listed(tmp_path: Path) -> None:
    store = store_with({"odd": raw_instance(6, {"x": [4], "y": []}, ["x", "y"])}, tmp_path)
    run = run_of(store, "one", {"odd": {"er@1": ranked((0, 4), 1)}})
    frame = outcomes(store, run, "er@1")
    assert list(frame["aspect"]) == ["x"]
    assert list(frame.attrs["left_out"].values()) == [0, 0, 1]


def test_the_report_and_its_finding(store: Store, run: str) -> None:
    report = missed(store, run, "er@3")
    (harm,) = report.as_dict()["tables"]["missed"]
    assert (harm["instance"], harm["aspect"], harm["cause"]) == ("tea", "harm", "budget")
    assert harm["causes"] == ["budget", "redundancy", "vocabulary", "front", "near"]
    assert finding(report.tables["shares"], "one") == (
        "one misses 1 of 3 result aspects: 1 rank just outside the budget."
    )
    assert len(missed(store, run, "er@3", results_only=False).tables["missed"]) == 2


# Two papers with two aspects each; a sentence in the abstract, the results, or both covers them.
FRAME = pd.DataFrame(
    {
        "paper": ["p1", "p1", "p2", "p2"],
        "missed": [True, False, True, True],
        "sections": [("abstract", "results"), ("abstract",), ("results", "results"), ("results",)],
        "covering": [(0, 99), (5,), (50, 51), (60,)],
        "n_covering": [2, 1, 2, 1],
        "n_sentences": [100, 100, 100, 100],
        "cause": ["budget", None, "far", "budget"],
    }
)


def shares(by: str) -> dict[str, tuple[int, int, int]]:
    frame = missed_shares(FRAME, by)
    return {
        row["bin"]: (row["n_missed"], row["n_aspects"], row["n_papers"])
        for row in frame.to_dict("records")
        if row["n_aspects"]
    }


def test_an_aspect_counts_once_in_every_bin_that_covers_it() -> None:
    assert shares("section") == {"abstract": (1, 2, 1), "results": (3, 3, 2)}
    assert shares("decile") == {
        "0–10%": (1, 2, 1), "50–60%": (1, 1, 1), "60–70%": (1, 1, 1), "90–100%": (1, 1, 1),
    }  # fmt: skip
    assert shares("n_covering") == {"1": (1, 2, 2), "2": (2, 2, 2)}
    found = shares("cause")  # of all aspects
    assert (found["budget"], found["far"], found["near"]) == ((2, 4, 2), (1, 4, 2), (0, 4, 2))


def test_intervals_hold_the_share_and_need_two_papers() -> None:
    frame = missed_shares(FRAME, "n_covering").set_index("bin")
    # One of two aspects, one a paper: resamples of two papers give 0, 1/2 and 1.
    assert (frame.loc["1", "low"], frame.loc["1", "share"], frame.loc["1", "high"]) == (0.0, 0.5, 1.0)
    assert math.isnan(missed_shares(FRAME, "decile").set_index("bin").loc["0–10%", "low"])
    assert math.isnan(frame.loc["over 10", "share"])


def test_no_aspects_give_empty_bins() -> None:
    assert missed_shares(FRAME.iloc[:0], "section")["n_aspects"].sum() == 0


@pytest.mark.realdata
def test_on_train_misses_and_recall_agree(train_store: Store) -> None:
    store = train_store
    run = complete_run(store, "train", "abstract-tail", tasks=("er@optimal",))
    frame = missed(store, run, "er@optimal", results_only=False).tables["missed"]
    recall = score_run(store, run, "er@optimal").per_instance
    assert len(frame) == 485
    rows = {str(name): group for name, group in frame.groupby("instance")}
    for instance_id, evidence in store.evidence_sets("train"):
        its_rows = rows.get(instance_id, frame[:0])
        assert len(its_rows) == round((1 - recall[instance_id]) * len(evidence.aspects))
        for row in its_rows[:1].itertuples():
            gains = marginal_gains(row.picks, evidence.covers("all"))
            assert row.n_adding == sum(bool(gain.new) for gain in gains)
            assert row.n_repeating == sum(bool(gain.repeated and not gain.new) for gain in gains)
    assert frame["cause"].notna().all()
