"""``evidencebench answers``: sets of answers, their systems, judges and marks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.agreement import human_units
from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.set_judging import label_reads
from evidencebench_core.answers.store import stored_answers
from evidencebench_core.data import open_store
from evidencebench_core.runs import ChatRuns
from tests.answers import judging
from tests.answers.medaesqa import cluster_paths


@pytest.fixture
def sample(command: Any) -> dict[str, Any]:
    """The sample set, in the store."""
    document: dict[str, Any] = command.json("answers", "ingest", "--sample")
    return document


def judge_run(sha256: str, task: str, labels: dict[str, str | None], scale: str = "ternary") -> str:
    return judging.judge_run(open_store(), sha256, task, labels, scale)


def test_the_sample_set(command: Any, sample: dict[str, Any], tmp_path: Path) -> None:
    assert (sample["name"], sample["counts"]["answers"], sample["counts"]["documents"]) == ("sample", 18, 12)
    assert [one["name"] for one in command.json("answers", "list")] == ["sample"]
    rows = {
        (one["system"], one["metric"]): one for one in command.json("answers", "score", "sample")["systems"]
    }
    assert rows["Heron", "coverage"]["mean"] == 1
    assert rows["Cuckoo", "accuracy"]["mean"] == pytest.approx(4 / 6)
    assert (rows["Cuckoo", "support rate"]["n"], rows["Cuckoo", "support rate"]["n_undefined"]) == (2, 4)
    assert rows["Heron", "recall R (by hand)"]["mean"] == 1
    official = command.json("answers", "score", "sample", "--official", "--metric", "support rate")["systems"]
    assert {one["n"] for one in official} == {6}
    printed = command("answers", "score", "sample").out
    assert "Magpie" in printed
    assert "Recall R+B is not recall R plus something" in printed
    assert "95% interval" in command("answers", "score", "sample", "--metric", "coverage").out
    assert "There are: accuracy" in command.failure("answers", "score", "sample", "--metric", "beauty")
    found = command.json("answers", "rank", "sample", "--by", "coverage", "--against", "precision")["against"]
    assert found["precision"]["n_systems"] == 3
    assert "number of sentences" in found
    assert "one ranking only" in command.failure("answers", "rank", "sample", "--by", "coverage")
    out = tmp_path / "out.jsonl"
    assert command("answers", "export", "sample", out).code == 0
    assert command.json("answers", "ingest", out)["sha256"] == sample["sha256"]  # the same set
    assert command.json("answers", "ingest", out, "--check", "--name", "other") == {
        "counts": sample["counts"]
    }


def test_a_judge_against_people(command: Any, sample: dict[str, Any]) -> None:
    answers = stored_answers(open_store(), "sample")
    truth = dict(human_units(answers, "ternary").labels)
    sayings: dict[str, dict[str, str | None]] = {
        "truth": dict(truth),
        "always": dict.fromkeys(truth, "supports"),
        "silent": dict.fromkeys(truth, None),
    }
    accuracy = {}
    for name, labels in sayings.items():
        run = judge_run(sample["sha256"], "citations", labels)
        found = command.json("answers", "agree", "sample", "--run", run)
        accuracy[name] = found["accuracy"]
        assert found["constant"]["label"] == "supports"
        assert found["n"] == len(truth)
        assert "always supports" in command("answers", "agree", "sample", "--run", run).out
        if name == "always":
            assert found["accuracy"] == found["constant"]["accuracy"]
            binary = command.json("answers", "agree", "sample", "--run", run, "--scale", "binary")
            assert binary["by_label"]["attributable"]["recall"] == 1
        if name == "truth":
            judged = command.json("answers", "score", "sample", "--judge", run)["systems"]
            by_people = command.json("answers", "score", "sample")["systems"]
            pairs = [[one for one in rows if one["metric"] == "coverage"] for rows in (judged, by_people)]
            assert [one["mean"] for one in pairs[0]] == [one["mean"] for one in pairs[1]]
            ranks = command.json("answers", "rank", "sample", "--by", "coverage", "--judge", run)["against"]
            assert ranks["coverage, judged"]["rho"] == 1
            scored = ("answers", "score", "sample", "--judge", run)
            assert command.json(*scored)["n_unchecked"] == 1  # 999999, of which there is no text
            assert "1 citation not checked by a judge" in command(*scored).out
            assert "100.00" in command(*scored, "--official").out
            assert ranks["coverage, by a judge who never looks"]["n_systems"] == 3
        ChatRuns(open_store()).delete(ChatRuns(open_store()).run(run))
    assert accuracy["truth"] == 1
    assert accuracy["silent"] == 0


@pytest.mark.model
def test_judges_that_give_scores(command: Any, sample: dict[str, Any], tmp_path: Path) -> None:
    by_cosine = ("answers", "judge", "sample", "--by", "cosine", "--threshold", "0.5", "--what")
    run = command.json(*by_cosine, "citations")["run"]
    metrics = {one["metric"] for one in command.json("answers", "score", "sample", "--judge", run)["systems"]}
    assert {"coverage", "support rate"} <= metrics
    assert not {"contradict rate", "document recall"} & metrics  # of which it says nothing
    words = ("answers", "agree", "sample", "--run", run)
    assert command.json(*words)["n"] == command.json(*words, "--threshold", "best")["n"]
    assert set(command.json(*words, "--threshold", "best")["thresholds"]) == {
        unit.partition("/")[0]
        for unit in human_units(stored_answers(open_store(), "sample"), "binary").labels
    }
    assert "best F1 on the others" in command(*words, "--threshold", "best").out
    assert command.json(*words, "--threshold", "-1")["by_label"]["attributable"]["recall"] == 1
    assert "is 'x'" in command.failure(*words, "--threshold", "x")
    correct = command.json(*by_cosine, "correctness", "--set", "documents=retrieved", "--set", "top=2")["run"]
    found = command.json("answers", "correctness", "sample", "--run", correct, "--threshold", "-1")
    assert found["settings"]["top"] == 2
    assert {one["mean"] for one in found["systems"].values()} == {1.0}
    scores = tmp_path / "summac.json"
    scores.write_text(
        json.dumps(dict.fromkeys(label_reads(open_store(), ChatRuns(open_store()).run(run)), 0.2))
    )
    by_file = ("answers", "judge", "sample", "--by", scores, "--what", "citations")
    assert "has none of its own" in command.failure(*by_file)
    assert set(command.json(*by_file, "--threshold", "0.3")["labels"]) == {"not attributable"}
    assert "no relevance" in command.failure(*by_file[:-1], "relevance")
    assert "is no file" in command.failure(
        "answers", "judge", "sample", "--by", "cosin", "--what", "citations"
    )
    assert "is nan" in command.failure(*by_file, "--threshold", "nan")
    assert "is a set of answers" in command.failure("answers", "judge", "sample", "--model", "m")
    assert "Name the model" in command.failure("answers", "judge", "sample", "--what", "relevance")


def test_a_person_corrects_a_judge(command: Any, sample: dict[str, Any]) -> None:
    unit = unit_id("ankle", "Heron", "1")
    run = judge_run(sample["sha256"], "relevance", {unit: "unnecessary"}, "relevance")
    words = ("answers", "agree", "sample", "--run", run)
    assert command.json(*words)["accuracy"] == 0
    marked = command.json(
        "answers", "mark", "sample", "--unit", unit, "--value", "required", "--author", "Ana"
    )
    assert marked["counts"] == {"label": 1}
    assert (command.json(*words)["accuracy"], command.json(*words, "--corrected")["accuracy"]) == (0, 1)
    assert "Ana" in command("answers", "mark", "sample").out
    assert command.json("answers", "mark", "sample", "--unit", unit)["counts"] == {}


def test_one_answer_is_read(command: Any, sample: dict[str, Any]) -> None:
    unit = unit_id("migraine", "Magpie", "3", "999999")
    run = judge_run(
        sample["sha256"], "citations", {unit: None, unit_id("migraine", "Magpie", "1", "900003"): "neutral"}
    )
    words = ("answers", "show", "sample", "--question", "migraine", "--judge", run)
    printed = " ".join(command(*words).out.split())
    assert "Heron (accurate)" in printed
    assert "Cuckoo (inaccurate)" in printed
    assert "contradicting: Migraine days fell from 4.6 to 3.1" in printed
    assert "judged neutral" in printed
    assert "999999 invalid citation; judged no label; not in the set" in printed
    (answer,) = command.json(*words, "--system", "Magpie")["answers"]
    assert answer["sentences"][0]["citations"][0]["judged"] == "neutral"
    assert "There are: blood-pressure" in command.failure(
        "answers", "show", "sample", "--question", "migrane"
    )
    assert "Did you mean 'Heron'" in command.failure("answers", "show", "sample", "--system", "Herron")


def test_names(command: Any, sample: dict[str, Any], tmp_path: Path) -> None:
    assert command("answers", "rename", "sample", "birds").code == 0
    assert "There are: birds" in command.failure("answers", "score", "sample")
    run = judge_run("another set", "citations", {})
    assert "does not judge" in command.failure("answers", "agree", "birds", "--run", run)
    printed = command("answers", "delete", "birds")
    assert (printed.code, "Nothing was deleted" in printed.err) == (1, True)
    assert command("answers", "delete", "birds", "--yes").code == 0
    assert command.json("answers", "list") == []
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"kind": "answer", "question_id": "q\x1b[31m", "system": "s"}))
    assert "line 1, answer: is missing" in command.failure("answers", "ingest", bad)


def test_published_figures(command: Any) -> None:
    document = command.json("answers", "published", "--table", "6")
    assert {one["table"] for one in document["figures"]} == {"6"}
    assert len(command.json("answers", "published")["figures"]) == 397
    assert "always says attributable" in command("answers", "published", "--table", "1").out
    assert "There are: 1, 2" in command.failure("answers", "published", "--table", "12")


@pytest.mark.realdata
def test_the_cluster_files(command: Any) -> None:
    words = ("answers", "ingest", *cluster_paths(), "--name", "clusters")
    assert command.json(*words)["counts"]["clusters"] == 2_400
    for name, rho, tau in (("SimCSE", 0.966, 0.891), ("ST", 0.931, 0.820)):
        by = ("--by", f"recall R+B ({name})", "--against", "required or borderline")
        found = command.json("answers", "rank", "clusters", *by)["against"]["required or borderline"]
        assert (found["rho"], found["tau"]) == pytest.approx((rho, tau), abs=1e-3)


@pytest.mark.model
def test_clusters_of_ones_own_answers(command: Any, sample: dict[str, Any]) -> None:
    info = command.json("answers", "cluster", "sample", "--name", "clustered")
    assert info["counts"]["clusters"] > sample["counts"]["clusters"]
    rows = command.json("answers", "score", "clustered", "--metric", "recall R (minilm)")["systems"]
    means = {one["system"]: one["mean"] for one in rows}
    assert means["Heron"] > means["Magpie"] > 0
