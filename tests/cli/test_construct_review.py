"""``construct list``, ``accept``, ``reject`` and ``write``: from builds to a dataset in the store."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import PROPOSED_NOTE
from evidencebench_core.construction.pipeline import construction
from evidencebench_core.construction.raters import build_key
from evidencebench_core.data import open_store
from tests.cli.test_construct_builds import lines, url

__all__ = ["lines", "url"]


def test_from_a_file_to_a_dataset(command, lines: Path, url: str, tmp_path: Path) -> None:
    command("construct", "run", lines, "--name", "lab", "--model", "m")
    out = tmp_path / "made.json"
    write = ("construct", "write", "lab", "--out", out)
    assert command(*write).code == 1  # nobody has decided anything
    assert not out.exists()
    assert "2 not decided by a person" in command(*write).out

    rows = command.json("construct", "list", "lab")
    assert [(row["build"], row["status"], row["left"]) for row in rows] == [
        ("a", "kept", 9),
        ("b", "kept", 9),
    ]
    said = command.json("construct", "reject", "lab", "a/mark:0:19", "--by", "ann")
    assert said == {"decided": 1, "left": 8}
    assert command.json("construct", "accept", "lab", "a", "--by", "ann", "--blind") == {
        "decided": 8,
        "left": 0,
    }
    for verdict, label in (("reject", "no"), ("accept", "yes")):
        command.json("construct", verdict, "lab", "b/result:0", "--by", "bob")
        labels = {row["item"]: row["text"] for row in command.json("construct", "list", "lab", "b")}
        assert labels["result:0"] == label
    items = command.json("construct", "list", "lab", "a")
    assert {row["item"]: row["decided"] for row in items}["mark:0:19"] == "reject"
    assert not command.json("construct", "list", "lab", "a", "--left")
    assert "Tea" in command("construct", "list", "lab").out

    written = command.json(*write)
    assert (written["written"], written["left_out"]) == (1, {"not decided by a person": 1})
    command("construct", "reject", "lab", "a/mark:0:3", "--by", "bob")
    assert "\na: people differ on mark:0:3\n" in command("construct", "list", "lab").out
    command("construct", "accept", "lab", "a/mark:0:3", "--by", "bob")
    (raw,) = json.loads(out.read_text()).values()
    assert raw["aspect2sentence_indices"] == {"a_aspect_0": [3, 7], "a_aspect_1": [22], "a_aspect_2": [5]}
    decided = raw["construction"]["decisions"]
    assert (decided["by"], decided["mode"], decided["n_accepted"], decided["n_rejected"]) == (
        "ann", "assisted and blind", 8, 1,
    )  # fmt: skip
    assert [one["stage"] for one in raw["construction"]["stages"]][-1] == "alignment"
    assert all(one["prompt"] and one["at"] for one in raw["construction"]["stages"])
    assert command("ingest", out, "--name", "mine").code == 0
    said_beside_scores(command, raw, tmp_path)

    # shares are of what is written
    both = command.json(*write, "--split", "train=.5,test=.5", "--by-review", "--unreviewed")
    assert (both["builds"], both["written"], len(both["files"])) == (2, 2, 2)
    one = command.json(*write, "--split", "train=.99,test=.01")
    assert (one["builds"], one["written"], one["left_out"]) == (2, 1, {"not decided by a person": 1})
    assert "without --split" in command.failure(*write, "--by-review")
    for wrong, said in (
        ("train=.5, train=.5", "'train=.5, train=.5' names train twice"),
        ("train=.5,test", "is not of the form"),
        ("train=.5,=.5", "is not of the form"),
    ):
        refused = command(*write, "--split", wrong)
        assert (refused.code, said in refused.err) == (2, True)

    # a dropped build, a split, and papers that another dataset has
    assert command.json("construct", "reject", "lab", "b", "--by", "ann")["decided"] == 1
    assert command.json("construct", "status", "lab")["stages"][-1]["dropped"] == {"human": 1}
    parts = command.json(*write, "--split", "train=.5,test=.5", "--unreviewed")
    assert (parts["written"], parts["left_out"]) == (1, {"dropped at coverage: human": 1})
    assert len(parts["files"]) == 1
    excluded = command(*write, "--exclude", "mine", "--unreviewed", "--json")
    assert excluded.code == 1
    left_out = {"paper is in a dataset to exclude": 1, "dropped at coverage: human": 1}
    assert json.loads(excluded.out) | {"left_out": left_out, "builds": 2} == json.loads(excluded.out)


def test_agreement_of_a_model_and_a_person_on_builds(command, lines: Path, url: str) -> None:
    """One mark is rejected: one judgement differs."""
    command("construct", "run", lines, "--name", "my lab", "--model", "m")
    command("construct", "reject", "my lab", "a/mark:0:19", "--by", "ann")
    command("construct", "accept", "my lab", "a", "--by", "ann")
    made = construction(open_store(), "my lab")
    (review,) = made.reviews(["a"])
    model = f"model:m {made.specs['alignment'].settings['prompts'][0]}"
    words = ("--annotators", model, "ann (assisted)", "--resamples", "100")
    found = command.json("analyse", "agreement", "a", "--construction", "my lab", *words)["tables"]
    accuracy = next(row for row in found["agreement"] if row["measure"] == "exact accuracy")
    n = 3 * len(review.state.pool.sentences)
    assert (accuracy["n_judgements"], accuracy["value"]) == (n, pytest.approx(1 - 1 / n))
    assert [(one["sentence"], one["marked_by"]) for one in found["disagreements"]] == [(19, model)]
    key = build_key("my lab", review)
    assert command.json("analyse", "agreement", key, *words)["tables"] == found
    for paper, reason in (
        ([key + "0"], "was read again since"),
        (["z", "--construction", "my lab"], "'z': is not in"),
        (["a", "--construction", "lab"], "lab"),
        (["b", "--construction", "my lab"], f"Who has: {model}"),
        (["a", "--construction", "my lab", "--dataset", "d"], "are both given"),
    ):
        assert reason in command.failure("analyse", "agreement", *paper, *words)


def test_what_two_models_and_people_say_of_it(command, lines: Path, url: str, tmp_path: Path) -> None:
    command("construct", "run", lines, "--name", "lab", "--model", "m")
    assert "no second model" in command.failure("construct", "quality", "lab", "--systems", "x")
    assert command("construct", "run", "--name", "lab", "--second-model", "n").code == 0
    out, sheet = tmp_path / "made.json", tmp_path / "disputes.csv"
    command("construct", "accept", "lab", "a", "--by", "ann")
    assert command("construct", "write", "lab", "--out", out, "--unreviewed").code == 0
    assert command("ingest", out, "--name", "made").code == 0
    systems = [command.run(name, "--task", "er@10", dataset="made") for name in ("bm25", "lead")]
    order = command.json("construct", "quality", "lab", "--systems", *systems)
    assert order["n_instances"] == 2
    assert all(one["recalls"][0] == one["recalls"][1] for one in order["systems"])
    assert (
        "Kendall's tau of the two orders: "
        in command("construct", "quality", "lab", "--systems", *systems).out
    )
    pairs = tmp_path / "pairs.csv"
    against = ("construct", "quality", "lab", "--against", "lab")
    assert "6 rows" in command(*against, "--out", pairs).out
    assert command.json(*against, "--pairs", pairs)["aspects"]["value"] == 1
    assert "6 and 6 aspects, 6 matched" in command(*against).out
    found = command.json("construct", "quality", "lab")
    assert found["models"]["n_differing"] == 0
    assert found["decisions"]["acceptance"]["mark"]["value"] == 1
    assert "which is no agreement" in command("construct", "quality", "lab").out
    assert "no row" in command.failure("construct", "quality", "lab", "--sheet", "disputes", "--out", sheet)


def test_a_model_says_which_aspects_support(command, lines: Path, url: str, tmp_path: Path) -> None:
    """Rule 55: the shares, and a person's answers beside the model's."""
    command("construct", "run", lines, "--name", "lab", "--model", "m")
    asked = command.json("construct", "stances", "lab", "--model", "m", "--limit", 1)
    assert (asked["n_builds"], asked["n_aspects"]) == (1, 3)
    first = command("construct", "stances", "lab", "--model", "m")
    assert (first.code, "6 aspects of 2 of 2 builds" in first.out) == (0, True)
    shares = command.json("construct", "stances", "lab")["shares"]
    assert {name: round(one["value"], 3) for name, one in shares.items()} == {
        "supports": 0.333, "refutes": 0.333, "neither": 0.333,
    }  # fmt: skip
    sheet = tmp_path / "stances.csv"
    command("construct", "quality", "lab", "--sheet", "stances", "--out", sheet)
    with sheet.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["stance"] = "supports" if row["item"] == "aspect:0" else "neither"
    with sheet.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = command.json("construct", "quality", "lab", "--read", sheet)
    assert (found["stance_agreement"]["n"], found["stance_agreement"]["value"]) == (6, pytest.approx(2 / 3))
    assert "The model says the same of 66.7 %" in command("construct", "quality", "lab", "--read", sheet).out


def said_beside_scores(command, raw: Any, folder: Path) -> None:
    """That a model proposed the aspects stands beside every score (rule 40)."""
    file, page = folder / "proposed.json", folder / "run.html"
    file.write_text(json.dumps({"a": raw | {"construction": raw["construction"] | {"aspects": ["model"]}}}))
    assert command("ingest", file).code == 0
    a, b = (command.run(name, dataset="proposed") for name in ("bm25", "lead"))
    picks = folder / "picks.json"
    picks.write_text('{"a": [3]}')
    about = ("--dataset", "proposed", "--task", "er@optimal")
    for words in (
        ("score", a),
        ("compare", a, b, "--task", "er@optimal"),
        ("score-file", *about, "--predictions", picks),
    ):
        assert PROPOSED_NOTE in command(*words).err
    assert PROPOSED_NOTE in command.json("analyse", "compare", a, b)["notes"]
    assert command("export", a, "--format", "html", "--task", "er@optimal", "--out", page).code == 0
    assert "no expert" in page.read_text(encoding="utf-8")


def test_what_is_not_there_is_named(command, lines: Path, url: str) -> None:
    command("construct", "run", lines, "--name", "lab", "--model", "m", "--limit", 1)
    for words, named in (
        (("list", "lob"), "lob"),
        (("list", "lab", "z"), "build z"),
        (("accept", "lab", "a/mark:0:99", "--by", "ann"), "a/mark:0:99"),
        (("accept", "lab", "a/mark:x", "--by", "ann"), "build a/mark:x"),
        (("accept", "lab", "a", "--by", " "), "author"),
        (("accept", "lab", "a", "--by", "model:m"), "model:m"),
        (("reject", "lab", "a", "--by", "rule:x"), "rule:x"),
    ):
        assert named in command.failure("construct", *words)
    wrong = command("construct", "write", "lab", "--out", "x.json", "--split", "train")
    assert wrong.code == 2
