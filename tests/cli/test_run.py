"""``run`` and ``runs``: what is printed, resuming, failures, Ctrl-C, other wordings."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.cli.asking import _last
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.baselines import Lead
from evidencebench_core.runs import Progress

RUN = ("run", "--dataset", "tiny", "--retriever")
HEADER = "task recall % 95% interval SE ceiling random scored skipped missing"


def test_run_prints_the_id_then_the_scores(command, tiny: Path) -> None:
    printed = command(*RUN, "oracle")
    assert printed.code == 0
    first, header, *rows = printed.out.splitlines()
    (listed,) = command("runs", "--json").document
    assert first == f"run {listed['run']}: oracle over tiny"
    assert header.split() == HEADER.split()
    assert [row.split()[0] for row in rows[:4]] == [
        "ER@Optimal",
        "ER@10",
        "Result-ER@Optimal",
        "Result-ER@5",
    ]
    assert (rows[2].split()[1], rows[2].split()[-3:]) == ("100.0", ["5", "1", "0"])
    assert "Result-ER@5: 1 instance skipped, it has no result aspects: tiny_4" in rows
    assert "6/6" in printed.err
    assert f"run {listed['run']}: 0 of 6 instances already answered" in printed.err


def test_run_as_json(command, tiny: Path) -> None:
    document = command(*RUN, "oracle", "--json", "--task", "er@3", "--task", "ER@Optimal").document
    assert document["retriever"] == "oracle"
    assert document["tasks"] == {"er@optimal": 6, "er@3": 6}
    assert [score["task"] for score in document["scores"]] == ["er@3", "er@optimal"]
    assert document["scores"][0]["aspect_recall"] == 1.0


def test_same_settings_same_id_and_nothing_is_repeated(command, tiny: Path) -> None:
    first, second = command(*RUN, "lead", "--limit", "2", "--json"), command(*RUN, "lead", "--json")
    assert first.document["run"] == second.document["run"]
    assert "2 of 6 instances already answered" in second.err
    other, same = (command(*RUN, "bm25", "--set", f"k1={k1}", "--json").document for k1 in ("1.2", "1.20"))
    assert other["run"] == same["run"] != first.document["run"]
    assert other["label"] == "bm25 k1=1.2"


def test_failed_instances_are_told_and_end_with_1(
    command, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Lead.retrieve

    def fails_once(self: Lead, query: Query) -> Retrieval:
        if query.hypothesis.endswith("cohort 3."):
            raise RetrieverError("lead on\x1b tiny_3", "is out of order", "Wait.")
        return answer(self, query)

    monkeypatch.setattr(Lead, "retrieve", fails_once)
    printed = command(*RUN, "lead", "--task", "er@10", "--json")
    assert (printed.code, printed.document["n_failed"]) == (1, 1)
    assert printed.document["scores"][0]["missing"] == ["tiny_3"]
    last = printed.err.strip().splitlines()[-1]
    assert last.startswith("evidencebench: 1 instance could not be answered")
    assert "lead on[U+001B] tiny_3: is out of order." in last
    monkeypatch.setattr(Lead, "retrieve", answer)
    printed = command(*RUN, "lead", "--task", "er@10", "--json")
    assert (printed.code, printed.document["n_failed"]) == (0, 0)
    assert printed.document["scores"][0]["n_missing"] == 0


def test_an_interrupted_run_says_how_to_go_on(command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Lead.retrieve

    def interrupted(self: Lead, query: Query) -> Retrieval:
        if query.hypothesis.endswith("cohort 2."):
            raise KeyboardInterrupt
        return answer(self, query)

    monkeypatch.setattr(Lead, "retrieve", interrupted)
    printed = command(*RUN, "lead")
    assert (printed.code, printed.out) == (130, "")
    assert "2 of 6 instances answered and kept" in printed.err
    assert f"evidencebench {' '.join(RUN)} lead" in printed.err
    monkeypatch.setattr(Lead, "retrieve", answer)
    assert "2 of 6 instances already answered" in command(*RUN, "lead").err


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a process there")
def test_ctrl_c_ends_the_process_with_130(tiny: Path) -> None:
    # The script sends itself the signal that Ctrl-C sends, from inside the fourth instance.
    # A process started in the background of a shell ignores it unless told otherwise.
    script = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from evidencebench_core.cli import main
from evidencebench_core.retrievers.baselines import Lead
from evidencebench_core.runs import Progress
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
    assert "3 of 6 instances answered and kept" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_that_is_none_leaves_no_run(command, tiny: Path, tmp_path: Path) -> None:
    printed = command(*RUN, "dense", "--set", f"model={tmp_path}", "--limit", "1")
    assert printed.code == 1
    assert "is a folder without" in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert command("runs", "--json").document == []


def test_runs(command, tiny: Path) -> None:
    printed = command("runs")
    assert (printed.code, printed.out) == (0, "")
    assert "evidencebench run" in printed.err
    a = command(*RUN, "oracle", "--json").document["run"]
    b = command(*RUN, "lead", "--task", "er@10", "--json").document["run"]
    listed = command("runs", "--dataset", "tiny", "--json").document
    assert {run["run"]: len(run["tasks"]) for run in listed} == {a: 4, b: 1}
    out = command("runs").out
    assert out.splitlines()[0].split() == ["run", "dataset", "retriever", "answered", "failed", "started"]
    assert "er@10 6" in out
    assert command("runs", "--dataset", "huge").code == 1


def test_a_run_over_a_variant(command, tiny: Path, tmp_path: Path) -> None:
    wordings = tmp_path / "wordings.json"
    entry = {"paraphrases": {"plain": "Salt and sleep."}, "negation": "Tea raises blood pressure."}
    wordings.write_text(json.dumps({f"tiny_{n}": entry for n in range(4)}), encoding="utf-8")
    words = (*RUN, "lead", "--task", "er@10", "--json")
    plain = command(*words).document
    printed = command(*words, "--variant", "negation", "--variants", wordings)
    assert (printed.document["label"], printed.document["variant"]) == ("lead [negation]", "negation")
    assert printed.document["scores"][0]["n_scored"] == 4
    assert "2 instances left out" in printed.err
    assert "8 wordings" in printed.err
    assert [run["run"] for run in command("runs", "--json").document] == [plain["run"]]
    assert len(command("runs", "--variants", "--json").document) == 2


def test_an_unknown_variant_lists_those_there_are(command, tiny: Path) -> None:
    printed = command(*RUN, "lead", "--variant", "negasion")
    assert printed.code == 1
    assert "negation:rules, spelling:n=N" in printed.err
    assert printed.err.count("\n") == 1


def test_calls_are_counted_while_no_instance_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    reports = (Progress("r1", 0, 4, 0, 1.0, None, None, calls=n) for n in (0, 5, 17))
    _last(reports, lambda: False, "evidencebench run", "instance")
    assert "0/4" in (shown := capsys.readouterr().err)
    assert "calls=17" in shown


def test_a_wait_that_comes_again_is_told_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    waits = ("", "waiting 2 s: the server asks to wait", "", "waiting 1 s: the server asks to wait")
    reports = (Progress("r1", 0, 4, 0, 1.0, None, None, note=words) for words in waits)
    _last(reports, lambda: False, "evidencebench run", "instance")
    assert capsys.readouterr().err.count("the server asks to wait") == 1
