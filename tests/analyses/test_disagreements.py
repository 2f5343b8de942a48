"""Two runs aspect by aspect."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.disagreements import disagreements
from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunSpec, RunStore
from tests.factories import raw_instance, written


@pytest.fixture
def store(tmp_path: Path) -> Store:
    raw = {
        "one": raw_instance(8, {"w": [1], "x": [2, 3], "y": [4], "z": [5]}, ["w"], paper_id="p"),
        "two": raw_instance(8, {"w": [1], "x": [2]}, paper_id="q"),
        "three": raw_instance(8, {"w": [1]}, paper_id="q"),
    }
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, written(raw, tmp_path / "tiny.json"), name="tiny")
    return store


def run(store: Store, name: str, picks: dict[str, tuple[int, ...]], task: str = "er@10") -> str:
    """A run that picked these sentences."""
    info = store.dataset("tiny")
    runs = RunStore(store)
    made = runs.create(RunSpec(info.sha256, name, {}), info)
    for instance_id, selection in picks.items():
        runs.add(
            made.id,
            instance_id,
            {task: Retrieval(ranking=selection, scores=(0.0,) * len(selection), selection=selection)},
        )
    return made.id


def test_by_hand(store: Store) -> None:
    # one: A picks 1 and 3 and finds w and x; B picks 3 and 4 and finds x and y; nobody finds z.
    # two: A finds nothing; B finds w and x. three: only B has answered.
    a = run(store, "lead", {"one": (1, 3), "two": (7,)})
    b = run(store, "random", {"one": (3, 4), "two": (1, 2), "three": (1,)})
    report = disagreements(store, a, b, "er@10", n_resamples=500)
    counts = report.tables["counts"].set_index("outcome")
    assert counts["n"].to_dict() == {"only A": 1, "only B": 3, "neither": 1, "both": 1}
    assert counts.loc["only B", "share"] == 0.5
    assert counts.loc["only B", "n_instances"] == 2
    # Drawn twice paper p, once each, twice q: only A is 1/4, 1/6, 0 of the aspects.
    assert (counts.loc["only A", "low"], counts.loc["only A", "high"]) == (0.0, 0.25)
    aspects = report.tables["aspects"]
    found = list(zip(aspects["instance"], aspects["label"], aspects["outcome"], strict=True))
    assert found == [
        ("two", "A1", "only B"),  # the instance with most of a kind of disagreement first
        ("two", "A2", "only B"),
        ("one", "A1", "only A"),
        ("one", "A3", "only B"),
        ("one", "A4", "neither"),
        ("one", "A2", "both"),
    ]
    assert aspects.iloc[2]["is_result"]
    assert aspects.iloc[5]["covering"] == (2, 3)
    assert any("not answered them: 1" in note for note in report.notes)
    few = disagreements(store, a, b, "er@10", n_resamples=50, at_most=1)
    assert few.tables["aspects"]["outcome"].tolist() == ["only B", "only A", "neither", "both"]
    assert few.tables["counts"]["n"].tolist() == [1, 3, 1, 1]


def test_result_tasks_look_at_result_aspects(store: Store) -> None:
    a = run(store, "lead", {"one": (1,)}, "result-er@5")
    b = run(store, "random", {"one": (3,)}, "result-er@5")
    report = disagreements(store, a, b, "result-er@5", n_resamples=50)
    assert report.tables["aspects"]["outcome"].tolist() == ["only A"]
    assert any("nothing to cover on this task: 2" in note for note in report.notes)


def test_more_picks_than_the_budget_find_by_chance(store: Store) -> None:
    # K = 1, two picks: each aspect that one pick covers is found with probability 1/2, which counts; of
    # three picks with 1/3, which does not.
    a = run(store, "lead", {"two": (1, 7)}, "er@1")
    b = run(store, "random", {"two": (1, 6, 7)}, "er@1")
    outcomes = disagreements(store, a, b, "er@1", n_resamples=50).tables["aspects"]
    assert outcomes.set_index("label")["outcome"].to_dict() == {"A1": "only A", "A2": "neither"}


def test_without_common_answers_the_tables_are_empty(store: Store) -> None:
    a, b = run(store, "lead", {"one": (1,)}), run(store, "random", {"two": (1,)})
    report = disagreements(store, a, b, "er@10", n_resamples=50)
    assert len(report.tables["aspects"]) == 0
    assert report.tables["counts"]["n"].tolist() == [0, 0, 0, 0]
    assert report.tables["counts"]["share"].isna().all()
