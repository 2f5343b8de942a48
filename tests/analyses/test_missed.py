"""The queue of misses and one miss with all around it, worked out by hand on two papers; shares of misses."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evidencebench_core.analyses.miss import Miss, miss
from evidencebench_core.analyses.missed import missed, missed_shares, outcomes, queue_of
from evidencebench_core.data import Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, score_run
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run, ranked, run_of
from tests.factories import raw_instance, store_with, tiny_dataset

PAPER = [
    "# Tea and blood pressure",  # 0
    "> Tea lowers blood pressure in adults.",  # 1
    "> We enrolled 20 adults.",  # 2
    "Hypertension is common.",  # 3
    "# 2. Materials and Methods",  # 4
    "Adults drank tea daily.",  # 5
    "# Statistics",  # 6
    "We used a t test.",  # 7
    "# RESULTS",  # 8
    "Systolic values fell by 5 mmHg.",  # 9
    "No harm was seen.",  # 10
    "# Discussion",  # 11
    "Tea lowers systolic values.",  # 12
]
ASPECTS = {"design": [2, 5], "effect": [9, 12], "harm": [10], "main": [1, 12]}
RESULTS = ["effect", "harm", "main"]
OTHER = ["# Salt", "> Salt raises pressure.", "# Results", "It rose by 3 mmHg.", "Nobody died."]
DATASET = {
    "tea": raw_instance(PAPER, ASPECTS, RESULTS, hypothesis="Tea lowers blood pressure.", paper_id="p1"),
    "salt": raw_instance(OTHER, {"rise": [3]}, hypothesis="Salt raises pressure.", paper_id="p2"),
}
PICKED = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), 3)
"""12 covers effect and main, 1 repeats main, 0 covers nothing; harm (10) ranks fifth, design is not ranked."""


@pytest.fixture
def run(store: Store) -> str:
    return run_of(store, "one", {"tea": {"er@3": PICKED, "result-er@3": PICKED}, "salt": {"er@3": "failed"}})


def row_of(frame: pd.DataFrame, aspect: str) -> dict[str, Any]:
    (row,) = frame[frame["aspect"] == aspect].to_dict("records")
    return row  # type: ignore[return-value]


def miss_of(store: Store, run: str, aspect: int) -> Miss:
    tea = store.get("tiny", "tea")
    return miss(store, RunStore(store).run(run), task_named("er@3"), tea, tea.evidence.aspects[aspect])


def test_found_and_missed_aspects_with_what_was_left_out(store: Store, run: str) -> None:
    frame = outcomes(store, run, "er@3")
    is_missed = dict(zip(frame["aspect"], frame["missed"], strict=True))
    assert is_missed == {"design": True, "effect": False, "harm": True, "main": False}
    assert list(frame.attrs["left_out"].values()) == [0, 1, 0]  # salt has no answer
    of_results = outcomes(store, run, "result-er@3").attrs["left_out"]
    assert list(of_results.values()) == [1, 0, 0]  # nor result aspects
    # The queue: nearest first, results only by default; what the ranking does not reach comes last.
    assert list(queue_of(frame, results_only=False)["aspect"]) == ["harm", "design"]
    assert list(queue_of(frame)["aspect"]) == ["harm"]
    with pytest.raises(UnknownNameError, match=r"result-er@3"):
        outcomes(store, run, "er@10")


def test_a_row_by_hand(store: Store, run: str) -> None:
    frame = outcomes(store, run, "er@3")
    expected = {
        "best_rank": 5, "budget": 3, "distance": 2, "n_adding": 1, "n_repeating": 1,
        "position": 10 / 12,  # sentence 10 of 13
        "covering": (10,), "n_covering": 1, "label": "A3", "is_result": True, "section": "results",
        "overlap": 0.0, "front_share": 2 / 3,  # of 12, 1, 0 an abstract sentence and a heading
    }  # fmt: skip
    assert row_of(frame, "harm").items() >= expected.items()
    # No sentence of design is ranked: 2 is the first in the paper. The hypothesis has tea, lowers, blood, pressure:
    # sentence 2 shares none, sentence 5 "tea".
    design = row_of(frame, "design")
    assert all(pd.isna(design[name]) for name in ("best_rank", "distance"))
    expected = {"sentence": 2, "section": "abstract", "sections": ("abstract", "methods"), "overlap": 0.25}
    assert design.items() >= expected.items()
    assert pd.isna(row_of(frame, "effect")["overlap"])  # found


def test_other_runs_that_found_it(store: Store, run: str) -> None:
    other = run_of(store, "two", {"tea": {"er@3": ranked((0, 10), 2)}})
    run_of(store, "oracle", {"tea": {"er@3": ranked((10, 2, 9), 3)}})  # sees the gold: does not count
    silent = run_of(store, "six", {"salt": {"er@3": ranked((0,), 1)}})
    others = miss_of(store, run, 2).others
    finds = {each.run.id: (each.found, each.rank, each.sentence) for each in others}
    assert finds == {other: (True, 2, 10), silent: (None, None, None)}


def test_without_a_budget_distance_is_from_the_last_pick(store: Store) -> None:
    task = "result-er@unconstrained"
    run = run_of(store, "one", {"tea": {task: ranked((12, 9, 10), 1)}})
    harm = row_of(outcomes(store, run, task), "harm")
    assert pd.isna(harm["budget"])
    assert harm["distance"] == 3 - 1


def test_an_empty_selection_misses_all_but_what_nothing_covers(tmp_path: Path) -> None:
    store = store_with({"odd": raw_instance(6, {"x": [4], "y": []}, ["x", "y"])}, tmp_path)
    frame = outcomes(store, run_of(store, "one", {"odd": {"er@1": Retrieval((), ())}}), "er@1")
    assert list(frame["aspect"][frame["missed"]]) == ["x"]
    assert frame["front_share"].isna().all()
    assert list(frame.attrs["left_out"].values()) == [0, 0, 1]  # y


def test_the_report_and_its_finding(store: Store, run: str) -> None:
    report = missed(store, run, "er@3")
    (harm,) = report.as_dict()["tables"]["missed"]
    assert (harm["instance"], harm["aspect"], harm["cause"]) == ("tea", "harm", "budget")
    assert harm["causes"] == ["budget", "redundancy", "vocabulary", "front", "near"]
    assert report.finding.endswith(" misses 1 of 3 result aspects: 1 rank just outside the budget.")
    assert list(report.printed()) == ["shares"]


def test_the_passages_of_a_miss(store: Store, run: str) -> None:
    first, second = miss_of(store, run, 1).passages  # best ranked first
    assert (first.sentence, first.shared) == (12, {"tea", "lowers"})
    assert (second.sentence, second.rank, second.section) == (9, 4, "results")


def test_misses_and_recall_agree(tmp_path: Path) -> None:
    store = store_with(tiny_dataset(), tmp_path)
    run = complete_run(store, "tiny", "lead", tasks=("er@optimal",))
    recall = score_run(store, run, "er@optimal").per_instance
    frame = missed(store, run, "er@optimal", results_only=False).tables["missed"]
    assert frame["cause"].notna().all()
    for name, evidence in store.evidence_sets("tiny"):
        assert (frame["instance"] == name).sum() == round((1 - recall[name]) * len(evidence.aspects))


# Two papers with two aspects each; a sentence in the abstract, the results, or both covers them.
FRAME = pd.DataFrame(
    [
        ("p1", True, ("abstract", "results"), (0, 99), 2, "budget"),
        ("p1", False, ("abstract",), (5,), 1, None),
        ("p2", True, ("results", "results"), (50, 51), 2, "far"),
        ("p2", True, ("results",), (60,), 1, "budget"),
    ],
    columns=["paper", "missed", "sections", "covering", "n_covering", "cause"],
).assign(n_sentences=100)


@pytest.mark.parametrize(
    ("by", "expected"),  # missed, aspects, papers; an aspect counts once in every bin that covers it
    [
        ("section", {"abstract": (1, 2, 1), "results": (3, 3, 2)}),
        ("decile", {"0–10%": (1, 2, 1), "50–60%": (1, 1, 1), "60–70%": (1, 1, 1), "90–100%": (1, 1, 1)}),
        ("n_covering", {"1": (1, 2, 2), "2": (2, 2, 2)}),
        ("cause", {"budget": (2, 4, 2), "far": (1, 4, 2)}),  # of all aspects
    ],
)
def test_shares_by_hand(by: str, expected: dict[str, tuple[int, int, int]]) -> None:
    table = missed_shares(FRAME, by).set_index("bin")
    counted = table[table["n_missed" if by == "cause" else "n_aspects"] > 0]
    counts = counted[["n_missed", "n_aspects", "n_papers"]].T.to_dict("list")
    assert counts == {name: list(wanted) for name, wanted in expected.items()}
    assert missed_shares(FRAME.iloc[:0], by)["n_aspects"].sum() == 0
