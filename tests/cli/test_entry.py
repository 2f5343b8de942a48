from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evidencebench_core.cli.entry import VERBS
from evidencebench_core.errors import StoreError

CLI = (sys.executable, "-m", "evidencebench_core.cli")


def test_help_names_every_verb(command) -> None:
    printed = command("--help")
    assert printed.code == 0
    assert all(re.search(rf"^ +{verb}( |$)", printed.out, re.M) for verb in VERBS)


def test_every_verb_has_help_and_takes_a_store(command) -> None:
    for verb in VERBS:
        printed = command(verb, "--help")
        assert printed.code == 0
        assert "--store PATH" in printed.out


def test_version(command) -> None:
    printed = command("--version")
    assert printed.code == 0
    assert re.fullmatch(r"evidencebench \d+\.\d+\.\d+\n", printed.out)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("fly",),
        ("run",),
        ("run", "--dataset", "d"),
        ("run", "--dataset", "d", "--retriever", "r", "--limit", "0"),
        ("run", "--dataset", "d", "--retriever", "r", "--limit", "many"),
        ("run", "--dataset", "d", "--retriever", "r", "--set", "k1"),
        ("run", "--dataset", "d", "--retriever", "r", "--set", "=1"),
        ("run", "--data", "d", "--retriever", "r"),
        ("score",),
        ("score", "r", "--missing", "guess"),
        ("score-file", "--dataset", "d", "--task", "er@10"),
        ("compare", "a", "b"),
        ("show",),
        ("datasets", "--limit", "3"),
        ("app", "--port", "0"),
        ("--store",),
    ],
)
def test_wrong_usage_is_2_and_prints_nothing_on_stdout(command, words: tuple[str, ...]) -> None:
    printed = command(*words)
    assert printed.code == 2
    assert printed.out == ""
    assert "usage: evidencebench" in printed.err


def test_the_store_before_and_after_the_verb(command, tiny_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "elsewhere.sqlite"
    assert command("--store", store, "ingest", tiny_file).code == 0
    assert [d["name"] for d in command("datasets", "--json", "--store", store).document] == ["tiny"]
    assert [d["name"] for d in command("--store", store, "datasets", "--json").document] == ["tiny"]
    assert command("datasets", "--json").document == []


def test_an_error_is_one_line_without_control_characters(command, tiny: Path) -> None:
    printed = command("show", "a\x1b[2Jb\nc")
    assert printed.code == 1
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "\x1b" not in printed.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("run", "--dataset", "huge", "--retriever", "bm25"), "huge"),
        (("run", "--dataset", "tiny", "--retriever", "bm52"), "Did you mean 'bm25'?"),
        (("run", "--dataset", "tiny", "--retriever", "bm25", "--set", "k2=1"), "k1"),
        (("run", "--dataset", "tiny", "--retriever", "bm25", "--set", "k1=a lot"), "'a lot'"),
        (("run", "--dataset", "tiny", "--retriever", "bm25", "--task", "er@best"), "er@optimal"),
        (("score", "abc"), "evidencebench runs"),
        (("compare", "abc", "def", "--task", "er@10"), "'abc'"),
        (("show", "tiny_9"), "tiny_9"),
        (("show", "tiny_0", "--dataset", "huge"), "huge"),
        (("ingest", "/nowhere/file.json"), "/nowhere/file.json"),
    ],
)
def test_a_failure_is_1_and_one_line(command, tiny: Path, words: tuple[str, ...], reason: str) -> None:
    printed = command(*words)
    assert printed.code == 1
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("evidencebench: ")
    assert reason in printed.err


def test_errors_and_interrupts_of_any_verb(command, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: BaseException

    def run(_: object) -> int:
        raise raised

    functions = (lambda parser: None, run)
    monkeypatch.setattr(import_module("evidencebench_core.cli.entry"), "_functions", lambda _: functions)
    raised = StoreError("here", "is\nbad", "Fix it.")
    assert command("datasets") == (1, "", "evidencebench: here: is bad. Fix it.\n")
    raised = KeyboardInterrupt()
    assert command("datasets") == (130, "", "evidencebench: interrupted\n")


def test_a_reader_who_leaves_gets_no_traceback(tiny: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*CLI, "show", "tiny_0"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_exit_codes_of_the_process(tiny: Path) -> None:
    def code(*words: str) -> int:
        return subprocess.run([*CLI, *words], capture_output=True, check=False).returncode

    assert [code("datasets"), code("show", "nothing"), code("fly")] == [0, 1, 2]


def test_a_terminal_without_the_letters_is_no_reason_to_crash(tiny: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*CLI, "show", "tiny_0"], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u2588    0  " in done.stdout
