"""What every verb promises: help, exit codes, one line for what fails, nothing that steers a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evidencebench_core.cli.analyse import ANALYSES
from evidencebench_core.cli.entry import VERBS
from evidencebench_core.errors import StoreError
from tests.factories import raw_dataset, written

CLI = (sys.executable, "-m", "evidencebench_core.cli")
RUN = "run --dataset tiny --retriever bm25"


def test_help_names_every_verb_and_each_takes_a_store(command) -> None:
    listed = command("--help").out
    for verb in VERBS:
        assert re.search(rf"^ +{verb}( |$)", listed, re.MULTILINE)
        printed = command(verb, "--help")
        assert (printed.code, "--store PATH" in printed.out) == (0, True)
    listed = command("analyse", "--help").out
    for name in ANALYSES:
        assert f"\n    {name} " in listed
        printed = command("analyse", name, "--help")
        assert printed.code == 0
        assert all(option in printed.out for option in ("--task", "--json", "--csv", "--store"))
    assert re.fullmatch(r"evidencebench \d+\.\d+\.\d+\n", command("--version").out)


@pytest.mark.parametrize(
    "line",
    [
        *("", "fly", "--store", "show", "datasets --limit 3", "app --port 0"),
        *("run", "run --dataset d", "run --data d --retriever r", "compare a b"),
        *(f"{RUN} {more}" for more in ("--limit 0", "--limit many", "--set k1", "--set =1")),
        *("score", "score r --missing guess", "score-file --dataset d --task er@10"),
        *("analyse", "analyse nothing", "analyse compare --tasc x", "analyse dataset", "analyse agreement 1"),
        *("analyse agreement 1 --annotators Ada", "analyse spelling abc --errors many"),
        *("export abc", "export abc --format xlsx"),
        *("find p.txt", "find --hypothesis x", "find p.txt --hypothesis x --k 0"),
        *(f"{RUN} {more}" for more in ("--max-cost -1", "--max-calls 0", "--concurrency x")),
        *(f"make-variants --dataset tiny {more}" for more in ("", "--list mine", "--list --accept 1")),
    ],
)
def test_wrong_usage_is_2_and_prints_nothing_on_stdout(command, line: str) -> None:
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert "usage: evidencebench" in err


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("show a\x1b[2Jb", "tiny"),
        ("show tiny_9", "tiny_9"),
        ("show tiny_0 --dataset huge", "huge"),
        ("ingest /nowhere/file.json", "/nowhere/file.json"),
        ("download evidencebench-10k", "evidencebench-100k"),
        ("runs --dataset huge", "huge"),
        # run
        ("run --dataset huge --retriever bm25", "huge"),
        ("run --dataset tiny --retriever bm52", "Did you mean 'bm25'?"),
        (f"{RUN} --set k2=1", "k1"),
        (f"{RUN} --set k1=a", "'a'"),
        (f"{RUN} --task er@best", "er@optimal"),
        (f"{RUN} --max-cost 1", "--max-cost"),
        # score, compare
        ("score abc", "evidencebench runs"),
        ("compare abc def --task er@10", "'abc'"),
        # export
        ("export abc --format csv", "abc"),
        ("export RUN --format trec", "Say which one with --task"),
        ("export RUN --format html --task er@7", "has no answers for er@7"),
        ("export RUN --format trec --task er@10 --plain", "--plain: is for html"),
        ("export RUN --format html --task er@10 --plain", "Name it with --instance"),
        ("export RUN --format html --task er@10 --instance tiny_55", "tiny_55"),
        ("export RUN --format json --what ranking", "is for trec and csv"),
        ("export RUN --format html --text", "is for csv"),
        ("export RUN --format csv --json", "Name the file with --out"),
        ("export RUN --format csv --out /no/such/folder/x.csv", "cannot be written"),
        ("export-dataset nothing", "is not in"),
        ("export-dataset tiny --task er@3", "is for qrels"),
        ("export-dataset tiny --format qrels --task er@x", "Tasks are"),
        ("export-dataset tiny --json", "Name the file with --out"),
        # analyse
        ("analyse dataset tiny --store FILE.sqlite", "FILE.sqlite"),
        ("analyse compare", "names no run"),
        ("analyse compare RUN --csv /no/such/folder/x.csv", ""),
        ("analyse missed RUN --task er@7", "It has: er@optimal"),
        ("analyse missed RUN --notes --csv /no/such/folder/x.csv", "cannot be written"),
        ("analyse positions", "Give RUN, or --dataset NAME"),
        ("analyse ends RUN --above 80", "Give shares from 0 to 1"),
        # find
        ("find FILE --hypothesis x --retriever oracle", "needs gold"),
        ("find FILE --hypothesis x --retriever bm52", "bm25"),
        ("find FILE --hypothesis x --set k9=1", "no setting 'k9'"),
        ("find FILE --hypothesis=", "is empty"),
        ("find FILE --hypothesis x --plain", "Name its file with --html"),
        ("find FILE --hypothesis x --max-calls 3", "is for retrievers that ask a server"),
        ("find FILE --hypothesis x --kind jats", "XML"),
        ("find missing.pdf --hypothesis x", "is no file, and no PMC id, PubMed id or DOI either"),
        ("find / --hypothesis x", "Name a folder with 1 to 100 papers"),
        ("find /dev/null --hypothesis x", ""),
    ],
)
def test_a_failure_is_1_and_one_line(command, tiny: Path, line: str, reason: str) -> None:
    run = command.run("lead") if "RUN" in line else ""
    known = {"RUN": run, "FILE": str(tiny), "FILE.sqlite": f"{tiny}.sqlite"}
    assert known.get(reason, reason) in command.failure(*(known.get(word, word) for word in line.split(" ")))


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


def test_the_store_before_and_after_the_verb(command, tiny_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "elsewhere.sqlite"
    assert command("--store", store, "ingest", tiny_file).code == 0
    for words in (("datasets", "--store", store), ("--store", store, "datasets")):
        assert [dataset["name"] for dataset in command.json(*words)] == ["tiny"]
    assert command.json("datasets") == []


@pytest.mark.parametrize("words", [["analyse", "--help"], ["analyse", "ends", "--help"]])
def test_help_imports_no_analysis(words: list[str]) -> None:
    code = (
        f"import sys; from evidencebench_core.cli import main; code = main({words});"
        "heavy = {'pandas', 'numpy', 'scipy'} & set(sys.modules); sys.exit(code or bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- as a process -------------------------------------------------------------------------------------------


def test_a_reader_who_leaves_gets_no_traceback(tiny: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        words = [*CLI, "show", "tiny_0"]
        done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", ["datasets", "datasets --json", "show tiny_0", "--version"])
def test_a_full_disk_on_standard_output_is_one_line(tiny: Path, words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*CLI, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    line = "evidencebench: the output: cannot be written (No space left on device). Free the disk, or write elsewhere."
    assert (done.returncode, done.stderr.splitlines()) == (1, [line])


LIMITED = """
import resource, signal, sys
from evidencebench_core.cli.entry import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize(
    "words",
    [
        "run --dataset tiny --retriever bm25",
        "export-dataset tiny --out {}/o.json",
        "ingest {}/more.json",
        "notes --dataset tiny --csv {}/notes.csv",
        "rename dataset tiny other",
    ],
)
def test_a_full_disk_is_one_line_whatever_was_to_be_written(tiny: Path, tmp_path: Path, words: str) -> None:
    written(raw_dataset(3), tmp_path / "more.json")
    command = [sys.executable, "-c", LIMITED, *words.format(tmp_path).split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    *progress, last = done.stderr.splitlines()
    assert last.startswith("evidencebench: ")
    assert not any("evidencebench: " in line for line in progress)


def test_exit_codes_of_the_process(tiny: Path) -> None:
    def code(*words: str) -> int:
        return subprocess.run([*CLI, *words], capture_output=True, check=False).returncode

    assert [code("datasets"), code("show", "nothing"), code("fly")] == [0, 1, 2]


def test_a_terminal_without_the_letters_is_no_reason_to_crash(tiny: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*CLI, "show", "tiny_0"], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u2588    0  " in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    "words",
    [
        ("ingest", ...),
        ("score-file", "--dataset", "tiny", "--task", "er@10", "--predictions", ...),
        ("import-run", "--dataset", "tiny", "--name", "x", "--predictions", ...),
        ("run", "--dataset", "tiny", "--retriever", "lead", "--variants", ...),
        ("find", ..., "--hypothesis", "Tea helps."),
        ("run", "--dataset", "tiny", "--retriever", "evidence-ranker", "--set", ...),
        ("run", "--dataset", "tiny", "--retriever", "dense", "--set", ...),
        ("datasets", "--store", ...),
    ],
)
@pytest.mark.parametrize("place", ["pipe", "/dev/zero"])
def test_what_is_no_regular_file_is_refused_at_once(
    command, tiny: Path, words: tuple[str, ...], place: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    path = str(tmp_path / place)
    setting = f"model={path}" if "--set" in words else path
    assert command.failure(*(setting if word is ... else word for word in words))
