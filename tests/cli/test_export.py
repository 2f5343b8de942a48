"""``export`` and ``export-dataset``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from evidencebench_core.cli.export import FORMATS
from tests.factories import tiny_dataset

LEAD = ("run", "--dataset", "tiny", "--retriever", "lead", "--json")


@pytest.fixture
def one_task(command, tiny: Path) -> str:
    """A run with answers for er@3 on five of six instances."""
    return str(command(*LEAD, "--task", "er@3", "--limit", "5").document["run"])


@pytest.fixture
def two_tasks(command, tiny: Path) -> str:
    return str(command(*LEAD, "--task", "er@3", "--task", "result-er@5").document["run"])


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_goes_to_stdout_and_to_the_same_file(
    command, one_task: str, tmp_path: Path, form: str
) -> None:
    printed = command("export", one_task, "--format", form)
    assert printed.code == 0
    out = tmp_path / f"out.{form}"
    filed = command("export", one_task, "--format", form, "--out", out)
    assert (filed.code, filed.out) == (0, "")
    told = out.read_text(encoding="utf-8")
    if form == "html":  # the command that makes the page again is on it
        assert f"--out {out}" in told
        told = told.replace(f" --out {out}", "")
    assert told == printed.out != ""
    assert f"Written to {out}" in filed.err


@pytest.mark.parametrize("form", ["trec", "csv", "json", "predictions", "html"])
def test_unanswered_instances_are_named_on_stderr(command, one_task: str, form: str) -> None:
    assert "er@3: 1 instance without an answer: tiny_5." in command("export", one_task, "--format", form).err


def test_trec_run_and_qrels(command, one_task: str) -> None:
    # lead picks 0, 1 and 2, and ranks all 12 sentences
    run = command("export", one_task, "--format", "trec")
    assert run.out.splitlines()[:2] == [
        f"tiny_0 Q0 0 1 3 lead-{one_task}",
        f"tiny_0 Q0 1 2 2 lead-{one_task}",
    ]
    assert len(run.out.splitlines()) == 15
    assert "Aspect Recall is StRecall@3" in run.err
    ranking = command("export", one_task, "--format", "trec", "--what", "ranking").out
    assert len(ranking.splitlines()) == 60
    qrels = command("export", one_task, "--format", "qrels").out
    assert qrels.splitlines()[:2] == ["tiny_0 1 0 1", "tiny_0 2 3 1"]
    assert qrels == command("export-dataset", "tiny", "--format", "qrels", "--task", "er@3").out


def test_csv_has_all_tasks_unless_told(command, two_tasks: str, tmp_path: Path) -> None:
    printed = command("export", two_tasks, "--format", "csv", "--text")
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert {row["task"] for row in rows} == {"er@3", "result-er@5"}
    assert rows[0]["text"] == tiny_dataset()["tiny_0"]["paper_as_candidate_pool"][0]
    one = command(
        "export", two_tasks, "--format", "csv", "--task", "er@3", "--bom", "--out", tmp_path / "a.csv"
    )
    assert one.code == 0
    content = (tmp_path / "a.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfrun,task,instance,")
    assert content.count(b"\n") == 1 + 6 * 3


def test_json_of_a_run_and_of_what_was_written(command, two_tasks: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    told = command("export", two_tasks, "--format", "json", "--out", out, "--json").document
    assert told["path"] == str(out)
    assert told["tasks"]["result-er@5"]["skipped"] == {"tiny_4": "it has no result aspects"}
    document = json.loads(out.read_text())
    scores = {score["task"]: score for score in command("score", two_tasks, "--json").document}
    assert document["n_trained_on"] == 0
    assert {name: task["score"] | {"n_trained_on": 0} for name, task in document["tasks"].items()} == scores


def test_predictions_score_the_same(command, two_tasks: str, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    command("export", two_tasks, "--format", "predictions", "--task", "result-er@5", "--out", out)
    words = ("score-file", "--dataset", "tiny", "--predictions", out, "--task", "result-er@5", "--json")
    (score,) = command("score", two_tasks, "--task", "result-er@5", "--json").document
    assert score.pop("n_trained_on") == 0  # behind a file of predictions nobody knows of a model
    assert command(*words).document == score


def test_the_report_on_an_instance(command, two_tasks: str) -> None:
    words = ("export", two_tasks, "--format", "html", "--task", "er@3", "--instance", "tiny_1")
    page = command(*words).out
    assert "Tea lowers blood pressure in cohort 1." in page
    assert "tiny_1 of tiny" in page
    assert f"evidencebench {' '.join(words)}" in page
    assert command(*words).out == page
    plain = command(*words, "--plain").out
    assert "to read first" in plain
    assert "evidencebench export" not in plain


def test_an_instance_without_an_answer_has_no_report(command, one_task: str) -> None:
    printed = command("export", one_task, "--format", "html", "--instance", "tiny_5")
    assert (printed.code, printed.out) == (1, "")
    assert "has no answer of run" in printed.err
    assert command("export", one_task, "--format", "html", "--instance", "tiny_55").code == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--format", "trec"), "Say which one with --task"),
        (("--format", "html", "--task", "er@10"), "has no answers for er@10"),
        (("--format", "trec", "--task", "er@3", "--plain"), "--plain: is for html"),
        (("--format", "html", "--task", "er@3", "--plain"), "Name it with --instance"),
        (("--format", "json", "--what", "ranking"), "is for trec and csv"),
        (("--format", "html", "--text"), "is for csv"),
        (("--format", "csv", "--json"), "Name the file with --out"),
        (("--format", "csv", "--out", "/no/such/folder/x.csv"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    command, two_tasks: str, words: tuple[str, ...], reason: str
) -> None:
    printed = command("export", two_tasks, *words)
    assert (printed.code, printed.out) == (1, "")
    assert reason in printed.err
    assert len(printed.err.splitlines()) == 1


def test_wrong_usage(command, tiny: Path) -> None:
    assert command("export", "abc").code == 2
    assert command("export", "abc", "--format", "xlsx").code == 2
    assert command("export", "abc", "--format", "csv").code == 1  # no such run


def test_a_dataset_comes_back_as_it_was(command, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.json"
    told = command("export-dataset", "tiny", "--out", out, "--json")
    assert told.code == 0
    assert out.read_bytes() == tiny.read_bytes()
    assert told.document["identical"] is True
    assert told.document["n_instances"] == 6
    assert "the very bytes of" in told.err
    assert command("export-dataset", "tiny").out.encode() == tiny.read_bytes()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("nothing",), "is not in"),
        (("tiny", "--task", "er@3"), "is for qrels"),
        (("tiny", "--format", "qrels", "--task", "er@x"), "Tasks are"),
        (("tiny", "--json"), "Name the file with --out"),
    ],
)
def test_a_dataset_that_cannot_be_written(command, tiny: Path, words: tuple[str, ...], reason: str) -> None:
    printed = command("export-dataset", *words)
    assert (printed.code, printed.out) == (1, "")
    assert reason in printed.err
