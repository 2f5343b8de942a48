"""``run``, ``runs``, ``score``, ``score-file`` and ``compare``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.baselines import Lead

ORACLE = ("run", "--dataset", "tiny", "--retriever", "oracle")
LEAD = ("run", "--dataset", "tiny", "--retriever", "lead")

HEADER = ["task", "recall", "%", "95%", "interval", "SE", "ceiling", "random", "scored", "skipped", "missing"]
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


def run_id(printed) -> str:
    return printed.document["run"]


def test_run_prints_the_id_then_the_scores(command, tiny: Path) -> None:
    printed = command(*ORACLE)
    assert printed.code == 0
    first, header, *rows = printed.out.splitlines()
    listed = command("runs", "--json").document
    assert first == f"run {listed[0]['run']}: oracle over tiny"
    assert header.split() == HEADER
    assert [row.split()[0] for row in rows[:4]] == [
        "ER@Optimal",
        "ER@10",
        "Result-ER@Optimal",
        "Result-ER@5",
    ]
    assert rows[2].split()[1] == "100.0"
    assert rows[2].split()[-3:] == ["5", "1", "0"]
    assert "Result-ER@5: 1 instance skipped, it has no result aspects: tiny_4" in rows
    assert "6/6" in printed.err
    assert f"run {listed[0]['run']}: 0 of 6 instances already answered" in printed.err


def test_run_as_json(command, tiny: Path) -> None:
    document = command(*ORACLE, "--json", "--task", "er@3", "--task", "ER@Optimal").document
    assert document["retriever"] == "oracle"
    assert document["tasks"] == {"er@optimal": 6, "er@3": 6}
    assert [score["task"] for score in document["scores"]] == ["er@3", "er@optimal"]
    assert document["scores"][0]["aspect_recall"] == 1.0


def test_same_settings_same_id_and_nothing_is_repeated(command, tiny: Path) -> None:
    first = command(*LEAD, "--limit", "2", "--json")
    second = command(*LEAD, "--json")
    assert run_id(first) == run_id(second)
    assert "2 of 6 instances already answered" in second.err
    assert "6 of 6 instances already answered" in command(*LEAD).err
    other = command("run", "--dataset", "tiny", "--retriever", "bm25", "--set", "k1=1.2", "--json")
    same = command("run", "--dataset", "tiny", "--retriever", "bm25", "--set", "k1=1.20", "--json")
    assert run_id(other) == run_id(same) != run_id(first)
    assert other.document["label"] == "bm25 k1=1.2"


def test_failed_instances_are_told_and_end_with_1(
    command, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Lead.retrieve

    def fails_once(self: Lead, query: Query) -> Retrieval:
        if query.hypothesis.endswith("cohort 3."):
            raise RetrieverError("lead on\x1b tiny_3", "is out of order", "Wait.")
        return answer(self, query)

    monkeypatch.setattr(Lead, "retrieve", fails_once)
    printed = command(*LEAD, "--task", "er@10", "--json")
    assert printed.code == 1
    assert printed.document["n_failed"] == 1
    assert printed.document["scores"][0]["missing"] == ["tiny_3"]
    last = printed.err.strip().splitlines()[-1]
    assert last.startswith("evidencebench: 1 instance could not be answered")
    assert r"lead on\x1b tiny_3: is out of order." in last
    monkeypatch.setattr(Lead, "retrieve", answer)
    printed = command(*LEAD, "--task", "er@10", "--json")
    assert (printed.code, printed.document["n_failed"], printed.document["scores"][0]["n_missing"]) == (
        0,
        0,
        0,
    )


def test_an_interrupted_run_says_how_to_go_on(command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Lead.retrieve

    def interrupted(self: Lead, query: Query) -> Retrieval:
        if query.hypothesis.endswith("cohort 2."):
            raise KeyboardInterrupt
        return answer(self, query)

    monkeypatch.setattr(Lead, "retrieve", interrupted)
    printed = command(*LEAD)
    assert printed.code == 130
    assert printed.out == ""
    assert "2 of 6 instances are answered and kept" in printed.err
    assert f"evidencebench {' '.join(LEAD)}" in printed.err
    monkeypatch.setattr(Lead, "retrieve", answer)
    assert "2 of 6 instances already answered" in command(*LEAD).err


def test_runs(command, tiny: Path) -> None:
    printed = command("runs")
    assert (printed.code, printed.out) == (0, "")
    assert "evidencebench run" in printed.err
    a, b = run_id(command(*ORACLE, "--json")), run_id(command(*LEAD, "--task", "er@10", "--json"))
    assert {run["run"] for run in command("runs", "--json").document} == {a, b}
    assert command("runs", "--dataset", "tiny", "--json").document[1]["tasks"] == {"er@10": 6}
    out = command("runs").out
    assert out.splitlines()[0].split() == ["run", "dataset", "retriever", "answered", "failed", "started"]
    assert "er@10 6" in out
    assert command("runs", "--dataset", "huge").code == 1


def test_score(command, tiny: Path) -> None:
    run = run_id(command(*ORACLE, "--limit", "4", "--json"))
    documents = command("score", run[:7], "--json").document
    assert [document["task"] for document in documents] == [
        "er@optimal",
        "er@10",
        "result-er@optimal",
        "result-er@5",
    ]
    assert documents[0].keys() >= CONTRACT
    assert (documents[0]["n_scored"], documents[0]["missing"]) == (4, ["tiny_4", "tiny_5"])
    zero = command("score", run, "--task", "er@optimal", "--missing", "zero", "--json").document
    assert zero[0]["aspect_recall"] == pytest.approx(4 / 6)
    out = command("score", run, "--task", "er@optimal").out
    assert "ER@Optimal: 2 instances without an answer, left out of the mean: tiny_4, tiny_5" in out
    out = command("score", run, "--task", "er@optimal", "--missing", "zero").out
    assert "2 instances without an answer, scored 0: tiny_4, tiny_5" in out


def predictions(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "predictions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_score_file(command, tiny: Path, tmp_path: Path) -> None:
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    path = predictions(tmp_path, {"tiny_0": [5, 5, 0], "tiny_1": []})
    words = ("score-file", "--dataset", "tiny", "--predictions", path, "--task", "er@optimal")
    document = command(*words, "--json").document
    assert document["per_instance"] == {"tiny_0": 1.0, "tiny_1": 0.0}
    assert (document["n_scored"], document["n_missing"], document["n_empty"]) == (2, 4, 1)
    out = command(*words).out
    assert out.startswith(f"{path}: 2 predictions for tiny\n")
    assert "ER@Optimal: 1 empty selection, scored 0" in out
    assert command(*words, "--missing", "zero", "--json").document["aspect_recall"] == pytest.approx(1 / 6)


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
    path = predictions(tmp_path, content)
    printed = command("score-file", "--dataset", "tiny", "--predictions", path, "--task", "er@10", "--json")
    assert (printed.code, printed.out) == (1, "")
    assert printed.err.count("\n") == 1
    assert reason in printed.err


def test_compare(command, tiny: Path) -> None:
    a = run_id(command(*ORACLE, "--json"))
    b = run_id(command(*LEAD, "--limit", "4", "--json"))
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


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a process there")
def test_ctrl_c_ends_the_process_with_130(tiny: Path) -> None:
    # The script sends itself the signal that Ctrl-C sends, from inside the fourth instance.
    # A process started in the background of a shell ignores it unless told otherwise.
    script = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from evidencebench_core.cli import main
from evidencebench_core.retrievers.baselines import Lead
answer = Lead.retrieve
def retrieve(self, query):
    if query.hypothesis.endswith("cohort 3."):
        os.kill(os.getpid(), signal.SIGINT)
    return answer(self, query)
Lead.retrieve = retrieve
sys.exit(main(["run", "--dataset", "tiny", "--retriever", "lead"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert "3 of 6 instances are answered and kept" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_bar_shows_how_far_a_run_is(capsys: pytest.CaptureFixture[str]) -> None:
    progress_bar = import_module("evidencebench_core.cli.progress").progress_bar
    with progress_bar(96, "instances", 90) as bar:
        bar.update(6)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "96/96" in captured.err


def test_a_model_that_is_none_leaves_no_run(command, tiny: Path, tmp_path: Path) -> None:
    printed = command(
        "run", "--dataset", "tiny", "--retriever", "dense", "--set", f"model={tmp_path}", "--limit", "1"
    )
    assert printed.code == 1
    assert "is a folder without" in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert command("runs", "--json").document == []


def test_a_prediction_that_repeats_a_sentence_is_told_and_counted_once(
    command, tiny: Path, tmp_path: Path
) -> None:
    scores = []
    for picks in ([1, 1, 2], [1, 2]):
        path = tmp_path / "p.json"
        path.write_text(json.dumps({"tiny_0": picks}), encoding="utf-8")
        printed = command(
            "score-file", "--dataset", "tiny", "--predictions", path, "--task", "er@10", "--json"
        )
        scores.append(printed.document["aspect_recall"])
        assert ("tiny_0 with sentence 1" in printed.err) == (picks == [1, 1, 2])
    assert scores[0] == scores[1]
