"""``score``, ``score-file``, ``compare`` and ``import-scores``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RUN = ("run", "--dataset", "tiny", "--json", "--retriever")
FILE = ("score-file", "--dataset", "tiny", "--predictions")
CONTRACT = {  # DESIGN section 4
    "task",
    "n_scored",
    "n_skipped",
    "n_missing",
    "aspect_recall",
    "standard_error",
    "ci95",
    "ceiling",
    "random_expectation",
    "per_instance",
}


def test_score(command, tiny: Path) -> None:
    run = command(*RUN, "oracle", "--limit", "4").document["run"]
    documents = command("score", run[:7], "--json").document
    assert [document["task"] for document in documents] == [
        "er@optimal",
        "er@10",
        "result-er@optimal",
        "result-er@5",
    ]
    assert documents[0].keys() >= CONTRACT
    assert (documents[0]["n_scored"], documents[0]["missing"]) == (4, ["tiny_4", "tiny_5"])
    words = ("score", run, "--task", "er@optimal")
    (zero,) = command(*words, "--missing", "zero", "--json").document
    assert zero["aspect_recall"] == pytest.approx(4 / 6)
    without = "ER@Optimal: 2 instances without an answer"
    assert f"{without}, left out of the mean: tiny_4, tiny_5" in command(*words).out
    assert f"{without}, scored 0: tiny_4, tiny_5" in command(*words, "--missing", "zero").out


def predictions(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "predictions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_score_file(command, tiny: Path, tmp_path: Path) -> None:
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    path = predictions(tmp_path, {"tiny_0": [5, 0], "tiny_1": []})
    words = (*FILE, path, "--task", "er@optimal")
    document = command(*words, "--json").document
    assert document["per_instance"] == {"tiny_0": 1.0, "tiny_1": 0.0}
    assert (document["n_scored"], document["n_missing"], document["n_empty"]) == (2, 4, 1)
    out = command(*words).out
    assert out.startswith(f"{path}: 2 predictions for tiny\n")
    assert "ER@Optimal: 1 empty selection, scored 0" in out
    assert command(*words, "--missing", "zero", "--json").document["aspect_recall"] == pytest.approx(1 / 6)


def test_a_prediction_that_repeats_a_sentence_is_told_and_counted_once(
    command, tiny: Path, tmp_path: Path
) -> None:
    scores = []
    for picks in ([1, 1, 2], [1, 2]):
        path = predictions(tmp_path, {"tiny_0": picks})
        printed = command(*FILE, path, "--task", "er@10", "--json")
        scores.append(printed.document["aspect_recall"])
        assert ("tiny_0 with sentence 1" in printed.err) == (picks == [1, 1, 2])
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"tiny_0": [1], "tiny_0": [2]}', "'tiny_0' more than once"),
        ([[1]], "not an object"),
        ('{"tiny_0": [1', "is not JSON"),
        ({"tiny_0": 1}, "not a list"),
        ({"tiny_0": [12]}, "12 sentences"),
        ({"tiny_0": [-1]}, "-1"),
        ({"tiny_0": [1.0]}, "1.0"),
        ({"tiny_0": ["1"]}, "'1'"),
        ({"tiny_0": [True]}, "True"),
        ({"tiny_9": [1]}, "tiny_9"),
    ],
)
def test_score_file_refuses_in_one_line(
    command, tiny: Path, tmp_path: Path, content: object, reason: str
) -> None:
    printed = command(*FILE, predictions(tmp_path, content), "--task", "er@10", "--json")
    assert (printed.code, printed.out) == (1, "")
    assert printed.err.count("\n") == 1
    assert reason in printed.err


def test_compare(command, tiny: Path) -> None:
    a = command(*RUN, "oracle").document["run"]
    b = command(*RUN, "lead", "--limit", "4").document["run"]
    document = command("compare", a[:8], b, "--task", "er@optimal", "--json").document
    # lead's picks 0 and 1 cover one aspect of three in tiny_0 and tiny_1 and none in tiny_2 and tiny_3.
    assert (document["run_a"], document["run_b"], document["n"]) == (a, b, 4)
    assert document["mean_difference"] == pytest.approx(1 - 1 / 6)
    assert [document[key] for key in ("wins", "ties", "losses")] == [4, 0, 0]
    assert (document["only_in_a"], document["only_in_b"]) == (["tiny_4", "tiny_5"], [])
    out = command("compare", a, b, "--task", "er@optimal").out
    assert "A - B                 83.3 points" in out
    assert "wins / ties / losses  4 / 0 / 0" in out
    assert "only in A             2: tiny_4, tiny_5" in out


def test_import_scores_of_another_file_is_one_line(command, tiny_file: Path) -> None:
    printed = command("import-scores", tiny_file)
    assert printed.code == 1
    assert printed.err.count("\n") == 1
