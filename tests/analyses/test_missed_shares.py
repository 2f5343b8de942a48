"""Shares of misses by bin, counted by hand."""

from __future__ import annotations

import math

import pandas as pd

from evidencebench_core.analyses.missed_report import bin_of, deciles_of, missed_shares

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


def test_an_aspect_counts_once_in_every_part_that_covers_it() -> None:
    assert shares("section") == {"abstract": (1, 2, 1), "results": (3, 3, 2)}


def test_tenths_and_numbers_of_covering_sentences() -> None:
    assert shares("decile") == {
        "0–10%": (1, 2, 1), "50–60%": (1, 1, 1), "60–70%": (1, 1, 1), "90–100%": (1, 1, 1),
    }  # fmt: skip
    assert shares("n_covering") == {"1": (1, 2, 2), "2": (2, 2, 2)}


def test_causes_are_shares_of_all_aspects() -> None:
    found = shares("cause")
    assert found["budget"] == (2, 4, 2)
    assert found["far"] == (1, 4, 2)
    assert found["near"] == (0, 4, 2)


def test_intervals_hold_the_share_and_need_two_papers() -> None:
    frame = missed_shares(FRAME, "n_covering").set_index("bin")
    # One of two aspects, one a paper: resamples of two papers give 0, 1/2 and 1.
    assert (frame.loc["1", "low"], frame.loc["1", "share"], frame.loc["1", "high"]) == (0.0, 0.5, 1.0)
    assert math.isnan(missed_shares(FRAME, "decile").set_index("bin").loc["0–10%", "low"])
    assert math.isnan(frame.loc["over 10", "share"])


def test_no_aspects_give_empty_bins() -> None:
    assert missed_shares(FRAME.iloc[:0], "section")["n_aspects"].sum() == 0


def test_the_aspects_behind_a_mark() -> None:
    assert list(bin_of(FRAME, "section", "abstract")) == [True, True, False, False]
    assert list(bin_of(FRAME, "cause", "budget")) == [True, False, False, True]


def test_the_last_sentence_is_in_the_last_tenth() -> None:
    assert deciles_of((0, 12), 13) == ("0–10%", "90–100%")  # 10 * 12 // 13 = 9
