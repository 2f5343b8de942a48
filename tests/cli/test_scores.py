"""``score``, ``score-file`` and ``compare``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factories import steiner_instance, written

FILE = ("score-file", "--dataset", "tiny", "--predictions")
NUMBERS = {"n_scored", "n_skipped", "n_missing", "aspect_recall", "standard_error", "ci95"}
CONTRACT = NUMBERS | {"task", "ceiling", "random_expectation", "per_instance"}  # DESIGN section 4


def test_score(command, tiny: Path) -> None:
    run = command.run("oracle", "--limit", "4")
    documents = command.json("score", run[:7])
    tasks = ["er@optimal", "er@10", "result-er@optimal", "result-er@5"]
    assert [document["task"] for document in documents] == tasks
    assert documents[0].keys() >= CONTRACT
    assert (documents[0]["n_scored"], documents[0]["missing"]) == (4, ["tiny_4", "tiny_5"])
    words = ("score", run, "--task", "er@optimal")
    (zero,) = command.json(*words, "--missing", "zero")
    assert zero["aspect_recall"] == pytest.approx(4 / 6)
    without = "ER@Optimal: 2 instances without an answer"
    assert f"{without}, left out of the mean: tiny_4, tiny_5" in command(*words).out
    assert f"{without}, scored 0: tiny_4, tiny_5" in command(*words, "--missing", "zero").out


def test_a_hard_cover_has_a_range_for_its_ceiling(command, tmp_path: Path) -> None:
    command("ingest", written({"steiner": steiner_instance()}, tmp_path / "hard.json"))
    run = command.run("oracle", "--task", "er@10", "--task", "er@optimal", dataset="hard")
    at_optimal, at_10 = command.json("score", run)
    low, high = at_10["ceiling_range"]
    assert at_10["ceiling"] is None
    assert low == at_10["aspect_recall"] < high < 1  # the oracle's picks are the best that were found
    assert (at_optimal["ceiling"], at_optimal["ceiling_range"]) == (1.0, [1.0, 1.0])
    assert (
        f"at least {100 * low:.1f}, at most {100 * high:.1f}" in command("score", run, "--task", "er@10").out
    )
    words = ("analyse", "ends", run, "--task", "er@10")
    assert f"at least {100 * low:.1f}%, at most" in " ".join(command.json(*words)["notes"])


def test_score_file(command, tiny: Path, tmp_path: Path) -> None:
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    path = written({"tiny_0": [5, 0], "tiny_1": []}, tmp_path / "predictions.json")
    words = (*FILE, path, "--task", "er@optimal")
    document = command.json(*words)
    assert document["per_instance"] == {"tiny_0": 1.0, "tiny_1": 0.0}
    assert (document["n_scored"], document["n_missing"], document["n_empty"]) == (2, 4, 1)
    out = command(*words).out
    assert out.startswith(f"{path}: 2 predictions for tiny\n")
    assert "ER@Optimal: 1 empty selection, scored 0" in out
    assert command.json(*words, "--missing", "zero")["aspect_recall"] == pytest.approx(1 / 6)


def test_a_prediction_that_repeats_a_sentence_is_told_and_counted_once(
    command, tiny: Path, tmp_path: Path
) -> None:
    path, scores = tmp_path / "predictions.json", []
    for picks in ([1, 1, 2], [1, 2]):
        printed = command(*FILE, written({"tiny_0": picks}, path), "--task", "er@10", "--json")
        scores.append(printed.document["aspect_recall"])
        assert ("tiny_0 with sentence 1" in printed.err) == (picks == [1, 1, 2])
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"tiny_0": [1], "tiny_0": [2]}', "'tiny_0' more than once"),
        ("[[1]]", "not an object"),
        ('{"tiny_0": [1', "is not JSON"),
        ('{"tiny_0": 1}', "not a list"),
        ('{"tiny_0": [12]}', "12 sentences"),
        ('{"tiny_0": [-1]}', "-1"),
        ('{"tiny_0": [1.0]}', "1.0"),
        ('{"tiny_0": ["1"]}', "'1'"),
        ('{"tiny_0": [true]}', "True"),
        ('{"tiny_9": [1]}', "tiny_9"),
    ],
)
def test_score_file_refuses_in_one_line(
    command, tiny: Path, tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(content, encoding="utf-8")
    assert reason in command.failure(*FILE, path, "--task", "er@10", "--json")


def test_import_run(command, tiny: Path, tmp_path: Path) -> None:
    lead, path = command.run("lead"), tmp_path / "lead.trec"
    command("export", lead, "--format", "trec", "--what", "ranking", "--task", "er@10", "--out", path)
    words = ("import-run", "--dataset", "tiny", "--predictions", path, "--name", "mine")
    document = command.json(*words)
    assert (document["label"], document["left_out"]) == ("mine (imported)", {})
    assert document["imported"]["result-er@5"] == 5
    assert command.json("score", document["run"]) == command.json("score", lead)
    assert "--replace" in command.failure(*words)
    assert "over tiny" in command(*words, "--replace").out
    for form in ("trec", "csv", "json", "html", "predictions", "bibtex"):
        one = ("--task", "er@10") if form != "bibtex" else ()
        assert command("export", document["run"], "--format", form, *one).code == 0
    written({"tiny_0": [1]}, path)
    assert "Not imported" in command(*words[:-1], "short").out  # K is 1 for results
    assert "ER@10 allows 10" in command.failure(
        *words, "--task", "er@10", "--replace", "--predictions", written({"tiny_0": list(range(11))}, path)
    )


def test_compare(command, tiny: Path) -> None:
    a, b = command.run("oracle"), command.run("lead", "--limit", "4")
    document = command.json("compare", a[:8], b, "--task", "er@optimal")
    # lead's picks 0 and 1 cover one aspect of three in tiny_0 and tiny_1 and none in tiny_2 and tiny_3.
    assert (document["run_a"], document["run_b"], document["n"]) == (a, b, 4)
    assert document["mean_difference"] == pytest.approx(1 - 1 / 6)
    assert [document[key] for key in ("wins", "ties", "losses")] == [4, 0, 0]
    assert (document["only_in_a"], document["only_in_b"]) == (["tiny_4", "tiny_5"], [])
    out = command("compare", a, b, "--task", "er@optimal").out
    assert "A - B                 83.3 points" in out
    assert "wins / ties / losses  4 / 0 / 0" in out
    assert "only in A             2: tiny_4, tiny_5" in out
