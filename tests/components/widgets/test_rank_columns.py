"""Two rankings in columns: what stands where, and the marks."""

from __future__ import annotations

import json

import pytest

from components.widgets.rank_columns import column_data
from evidencebench_core.analyses.divergence import rank_frame
from evidencebench_core.data.format import parse_instance
from evidencebench_core.retrievers import Retrieval
from tests.factories import raw_instance

HOSTILE = "</script><img src=x onerror=alert(1)> **bold** \u202e"
SENTENCES = [f"Sentence {n}." for n in range(7)] + [HOSTILE, "Last."]
# A picks 7 0 8, B picks 8 5; 5 is 5th with A, 0 is 4th with B, 7 it does not rank.
ANSWERS = [
    ("A bm25", Retrieval((7, 0, 8, 1, 5), (), (7, 0, 8))),
    ("B dense", Retrieval((8, 5, 1, 0), (), (8, 5))),
]


@pytest.fixture(scope="module")
def data() -> dict[bool, dict]:
    instance = parse_instance("i", raw_instance(SENTENCES, {"w": [0, 8], "x": [5], "y": [7]}, ["x", "y"]))
    frame = rank_frame(*(answer for _, answer in ANSWERS))
    return {
        grouped: column_data(instance, ANSWERS, frame, focus, grouped=grouped)
        for grouped, focus in ((True, "all"), (False, "results"))
    }


def test_the_differences_stand_first_and_picks_before_the_others(data: dict[bool, dict]) -> None:
    one, both = data[True]["groups"]
    assert (one["title"], both["title"]) == ("Picked by one only: 3", "Picked by both: 1")
    assert one["columns"] == [[7, 0, 5], [5, 0, 7]]  # not ranked comes last
    assert both["columns"] == [[8], [8]]
    (whole,) = data[False]["groups"]
    assert whole["columns"] == [[7, 0, 8, 5], [8, 5, 0, 7]]


def test_a_sentence_has_its_ranks_its_marks_and_the_aspects_of_the_task(data: dict[bool, dict]) -> None:
    sentences = data[True]["sentences"]
    assert sentences["7"]["text"] == HOSTILE  # as data; the browser writes it as text
    assert sentences["7"]["ranks"] == [1, None]
    assert sentences["7"]["picked"] == [True, False]
    # w is found by both, so 0 is gold and covered with B; y is missed by B, x by A.
    assert sentences["7"]["marks"] == ["both", "missed"]
    assert sentences["0"]["marks"] == ["both", "gold"]
    assert sentences["5"]["marks"] == ["missed", "both"]
    assert [aspect["label"] for aspect in sentences["8"]["aspects"]] == ["A1"]
    assert data[False]["sentences"]["8"]["aspects"] == []  # no result aspect
    assert data[False]["sentences"]["8"]["marks"] == ["picked", "picked"]
    assert json.loads(json.dumps(data[True])) == data[True]
