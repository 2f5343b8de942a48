"""The report: queue, shares, notes, and the real data once."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.missed_report import (
    bin_names,
    bin_of,
    missed_report,
    missed_shares,
    notes_report,
)
from evidencebench_core.data import Store
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import score_run
from evidencebench_core.runs.notes import Note, NoteStore
from tests.analyses.stores import complete_run, missed_store, run_of

PICKS = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), (12, 1, 0))


def test_the_queue_its_shares_and_what_was_left_out(tmp_path: Path) -> None:
    store = missed_store(tmp_path)
    run = run_of(store, "one", {"tea": {"er@3": PICKS}})
    report = missed_report(store, run, "er@3")
    (harm,) = report.as_dict()["tables"]["missed"]
    assert (harm["instance"], harm["aspect"], harm["cause"]) == ("tea", "harm", "budget")
    assert harm["causes"] == ["budget", "redundancy", "vocabulary", "front", "near"]
    said = " ".join(report.notes)
    assert "1 of 3 result aspects in 1 instances are missed" in said
    assert "1 missed aspect is no result aspects and not shown" in said
    assert "1 instance is without an answer and left out" in said
    assert len(missed_report(store, run, "er@3", results_only=False).tables["missed"]) == 2
    json.dumps(report.as_dict(), allow_nan=False)


def test_notes_are_keyed_by_instance_and_aspect(tmp_path: Path) -> None:
    store = missed_store(tmp_path)
    run = run_of(store, "one", {"tea": {"er@3": PICKS}})
    for text in ("first", "second"):
        NoteStore(store).add(
            Note(
                run_id=run,
                task="er@3",
                instance_id="tea",
                aspect_id="harm",
                author="ml",
                cause="budget",
                tags=("a", "b"),
                text=text,
            )
        )
    report = notes_report(store, run[:5], "er@3")
    (row,) = report.tables["notes"].to_dict("records")
    assert list(row)[:2] == ["instance_id", "aspect_id"]
    assert (row["text"], row["tags"]) == ("second", "a; b")
    assert "1 older ones" in report.notes[0]


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
    frame = missed_shares(FRAME, by)  # type: ignore[arg-type]
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


def test_the_aspects_behind_a_mark() -> None:
    assert missed_shares(FRAME.iloc[:0], "section")["n_aspects"].sum() == 0  # no aspects give empty bins
    assert list(bin_of(FRAME, "section", ["abstract"])) == [True, True, False, False]
    assert list(bin_of(FRAME, "cause", ["budget"])) == [True, False, False, True]
    edges = FRAME.iloc[:1].assign(
        covering=[(0, 12)], n_sentences=13
    )  # the last is in the last tenth: 10 * 12 // 13 = 9
    assert [name for name in bin_names("decile") if bin_of(edges, "decile", [name])] == ["0–10%", "90–100%"]


@pytest.mark.realdata
def test_on_train_misses_and_recall_agree(train_store: Store) -> None:
    store = train_store
    run = complete_run(store, "train", "abstract-tail", tasks=("er@optimal",))
    frame = missed_report(store, run, "er@optimal", results_only=False).tables["missed"]
    recall = score_run(store, run, "er@optimal").per_instance
    assert len(frame) == 485
    rows = {str(name): group for name, group in frame.groupby("instance")}
    for instance_id, evidence in store.evidence_sets("train"):
        missed = rows.get(instance_id, frame[:0])
        assert len(missed) == round((1 - recall[instance_id]) * len(evidence.aspects))
        for row in missed[:1].itertuples():
            gains = marginal_gains(row.picks, evidence.covers("all"))
            assert row.n_adding == sum(bool(gain.new) for gain in gains)
            assert row.n_repeating == sum(bool(gain.repeated and not gain.new) for gain in gains)
    assert frame["cause"].notna().all()
