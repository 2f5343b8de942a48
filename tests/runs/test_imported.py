"""What others computed: the authors' per-instance scores, and prediction files; read, refused, kept."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from evidencebench_core.data import Store, open_store, published_results
from evidencebench_core.errors import DataError, UnknownNameError
from evidencebench_core.runs import import_scores, imported_named, imported_scores, predictions_from
from evidencebench_core.runs.imported import ScoreImport
from evidencebench_core.stats import standard_error

COLUMNS = ["Experiment Name", "Time", "Cov@", "Model", "Coverage List", "Recall List"]
HALF = str([0.5] * 293)
THIRD = str([0.25] * 288)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.sqlite")


def written(path: Path, *rows: dict[str, str], columns: list[str] = COLUMNS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def imported(path: Path) -> ScoreImport:
    """Into a store of its own."""
    return import_scores(open_store(path.parent / "own.sqlite"), path)


def er(name: str = "gpt__ICL__opt_k__filter", k: str = "-1", values: str = HALF) -> dict[str, str]:
    return {"Experiment Name": name, "Cov@": k, "Model": "gpt", "Coverage List": values}


def result(name: str, k: str = "", values: str = THIRD) -> dict[str, str]:
    return {"Experiment Name": name, "Cov@": k, "Model": "gpt", "Recall List": values}


@pytest.mark.parametrize(
    ("row", "strategy", "task"),
    [
        (er(), "ICL", "er@optimal"),
        (er("gpt__SBS__10__filter", "10"), "section by section", "er@10"),
        (er("gpt__original__5__filter", "-1"), "baseline", "er@optimal"),  # Cov@ is what was done
        (er("gpt__+O__10__filter", "10"), "with instruction", "er@10"),
        (er("gpt__-O__10__filter", "10"), "without instruction", "er@10"),
        (er("bm25__10__filter", "10"), "", "er@10"),
        (result("gpt__result_SBS__opt_k__filter"), "section by section", "result-er@optimal"),
        (result("gpt__+O__result__5__filter"), "with instruction", "result-er@5"),
        (result("gpt__result_ICL_filter"), "ICL", "result-er@unconstrained"),
    ],
)
def test_names_become_system_strategy_and_task(
    tmp_path: Path, row: dict[str, str], strategy: str, task: str
) -> None:
    (score,) = imported(written(tmp_path / "logs.csv", row)).scores
    assert (score.strategy, score.task, score.name) == (strategy, task, f"gpt {strategy}".rstrip())
    assert score.collection == "evidencebench-test" + ("-results" if task.startswith("result") else "")


def test_what_is_left_out_and_why(tmp_path: Path) -> None:
    logs = imported(
        written(
            tmp_path / "logs.csv",
            er(values="[0.5, 1.0]"),
            er(values=str([0.0] * 293)),
            er(values=""),
            er(values=THIRD),  # as many as a Result task has
            er(),
            er(),
        )
    )
    assert [(row.row, row.reason) for row in logs.left_out] == [
        (1, "incomplete: 2 values, not 293"),
        (2, "a failed run: every value is 0"),
        (3, "incomplete: 0 values, not 293"),
        (4, "incomplete: 288 values, not 293"),
        (5, "tried again: row 6 has the same model, strategy and task"),
    ]
    assert len(logs.scores) == 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("[0.5, NaN]", "holds nan, not a recall of 0 to 1"),
        ("[0.5, 1.5]", "holds 1.5, not a recall of 0 to 1"),
        ('[0.5, "x"]', "holds 'x'"),
        ("[[0.5]]", r"holds \[0.5\]"),
        ('{"a": 1}', "not a list"),
        ("[0.5, ", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("__import__('os')", "cannot be read"),
        ("[" + "1" * 5_000 + "]", "cannot be read"),
        ("[" + "0.5, " * 40_000 + "0.5]", "field larger than"),
    ],
)
def test_a_hostile_list_is_one_line(tmp_path: Path, values: str, said: str) -> None:
    with pytest.raises(DataError, match=said) as error:
        imported(written(tmp_path / "logs.csv", er(), er(values=values)))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("k", ["ten", "0", "-2", "1e1", "9" * 5_000, "१०"])
def test_a_hostile_budget_is_one_line(tmp_path: Path, k: str) -> None:
    with pytest.raises(DataError, match="has the Cov@"):
        imported(written(tmp_path / "logs.csv", er("gpt__ICL", k)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no column"),
        (b"Experiment Name,Model,Coverage List\n", "no column 'Cov@'"),
        (b"\x89PNG\xff\xfe\x00", "not UTF-8"),
        (",".join(COLUMNS).encode() + b'\n"open quote', "is not CSV"),
        (b"x" * 2_000, "has more than 1,"),
    ],
)
def test_files_that_are_no_such_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, words: str
) -> None:
    monkeypatch.setattr("evidencebench_core.runs.imported._LARGEST", 1_000)
    path = tmp_path / "logs.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        imported(path)


@pytest.mark.parametrize(("name", "words"), [("none.csv", "cannot be read"), (".", "cannot be read")])
def test_a_file_that_is_not_there(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        imported(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        predictions_from(tmp_path / name)


def test_the_same_file_again_adds_nothing_and_of_two_files_the_newer_counts(
    store: Store, tmp_path: Path
) -> None:
    path = written(tmp_path / "old.csv", er(), er("gpt__SBS__10__filter", "10"))
    assert [import_scores(store, path).n_added for _ in range(2)] == [2, 0]
    assert len(imported_scores(store)) == 2
    import_scores(store, written(tmp_path / "new.csv", er(values=str([1.0] * 293))))
    (score,) = imported_scores(store, "er@optimal")
    assert set(score.recalls) == {1.0}
    assert score.source.startswith("new.csv ")
    assert imported_named(store, [" GPT  icl"], "er@optimal") == (score,)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'gpt ICL'\? There are: gpt ICL"):
        imported_named(store, ["gpt IC"], "er@optimal")
    with pytest.raises(UnknownNameError, match="There are scores for: er@optimal, er@10"):
        imported_named(store, ["gpt ICL"], "er@3")


def test_a_bad_row_keeps_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        import_scores(store, written(tmp_path / "logs.csv", er(), er(values="[2]")))
    assert imported_scores(store) == ()


def test_lists_by_instance_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('\ufeff{"b": [3, 1], "a": []}', encoding="utf-8")
    assert list(predictions_from(path).items()) == [("b", [3, 1]), ("a", [])]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"a": [1], "b": [2], "a": [3]}', "key 'a' more than once"),
        (b"[[1, 2]]", "not an object"),
        (b'{"a": 3}', "is 3, not a list"),
        (b'{"a": [1, 2', "is not JSON"),
        (b"", "is not JSON"),
        (b'{"a": [NaN]}', "NaN, which is not JSON"),
        (b"\xff\xfe\x00\x01", "is not UTF-8"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"a": [' + b"9" * 5000 + b"]}", "is not JSON"),
    ],
)
def test_what_is_no_prediction_file_is_refused_in_one_line(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "predictions.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        predictions_from(path)
    message = str(caught.value)
    assert problem in message
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.mark.realdata
class TestTheAuthorsFile:
    """What the paper prints, from what the authors logged."""

    @pytest.fixture
    def logs(self, train_path: Path) -> Path:
        return train_path.with_name("official_logs.csv")

    def test_complete_rows(self, logs: Path) -> None:
        found = imported(logs)
        assert len(found.scores) == 78
        reasons = Counter(row.reason.partition(":")[0] for row in found.left_out)
        assert reasons == {"tried again": 7, "incomplete": 11, "a failed run": 3}
        assert {len(s.recalls) for s in found.scores if s.task.startswith("er")} == {293}
        assert {len(s.recalls) for s in found.scores if s.task.startswith("result")} == {288}

    @pytest.mark.parametrize(
        ("name", "task", "percent", "error"),
        [
            ("gpt-4o-2024-05-13 ICL", "er@optimal", 51.44, 1.44),
            ("gpt-4o-2024-05-13 baseline", "er@optimal", 48.10, 1.48),
            ("gpt-4o-2024-05-13 section by section", "result-er@optimal", 52.57, 2.12),
            ("bm25", "er@optimal", 16.46, None),
            ("bm25", "er@10", 34.40, None),
        ],
    )
    def test_anchors(
        self, store: Store, logs: Path, name: str, task: str, percent: float, error: float | None
    ) -> None:
        import_scores(store, logs)
        (score,) = [score for score in imported_scores(store, task) if score.name == name]
        assert 100 * sum(score.recalls) / len(score.recalls) == pytest.approx(percent, abs=0.006)
        if error is not None:
            assert standard_error([100 * value for value in score.recalls]) == pytest.approx(error, abs=0.006)

    def test_the_papers_table_13(self, logs: Path) -> None:
        # All 18 are the printed ones but for rounding, and for Gemini section by section: 48.45, printed 48.3.
        names = {"GPT-4o": "gpt-4o", "Claude 3 Opus": "claude-3-opus", "Gemini 1.5": "gemini"}
        strategies = {"baseline": "baseline", "icl": "ICL", "sec-by-sec": "section by section"}
        ours = {(s.system, s.strategy, s.task): s for s in imported(logs).scores}
        compared = 0
        for figure in published_results():
            if figure.source == "Table 13" and figure.system in names:
                wanted = (names[figure.system], strategies[figure.strategy], figure.task)
                (score,) = [s for k, s in ours.items() if k[0].startswith(wanted[0]) and k[1:] == wanted[1:]]
                assert sum(score.recalls) / 293 == pytest.approx(figure.aspect_recall, abs=0.0016)
                compared += 1
        assert compared == 18
