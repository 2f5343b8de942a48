"""``construct run --from evidence-inference``, and the mark wherever a recall on it is shown."""

from pathlib import Path

from evidencebench_core.data.model import SUFFICIENT_NOTE
from tests.construction.trials_folder import trials_folder


def test_evidence_inference_as_a_dataset(command, tmp_path: Path) -> None:
    words = ("construct", "run", "--from", "evidence-inference", trials_folder(tmp_path / "annotations"))
    printed = command(*words, "--name", "ei")
    assert printed.code == 0
    assert "Instances: 1 of 4 (25.0%) comparisons kept" in printed.out
    assert SUFFICIENT_NOTE in printed.out
    assert "PMC103: is not in" in printed.err
    assert command.json(*words, "--name", "ei")["added"] is False  # the same again
    (dataset, *_) = command.json("datasets")
    assert (dataset["name"], dataset["sufficient"], dataset["n_instances"]) == ("ei", True, 1)
    assert dataset["source"].startswith("Evidence Inference, ")
    a, b = command.run("bm25", dataset="ei"), command.run("structure", dataset="ei")
    for said in (
        ("score", a),
        ("compare", a, b, "--task", "er@optimal"),
        ("analyse", "compare", a, b),
        ("analyse", "ends", a),
        ("analyse", "positions", a),
        ("analyse", "missed", a),
        ("analyse", "slices", a, b),
        ("analyse", "dataset", "ei"),
        ("analyse", "spelling", a),
    ):
        assert "sufficient, not complete" in " ".join(command(*said).out.split()), said
    assert command.json("score", a)[0]["sufficient_gold"] is True
    assert command.json("compare", a, b, "--task", "er@optimal")["sufficient_gold"] is True
    page = tmp_path / "run.html"
    assert command("export", a, "--format", "html", "--task", "er@optimal", "--out", page).code == 0
    assert "sufficient, not complete" in page.read_text(encoding="utf-8")
    assert "sufficient, not complete" in command("show", "ei_pmc_101_0").out
    file = tmp_path / "again.json"
    assert command("export-dataset", "ei", "--out", file).code == 0
    assert command("delete", "dataset", "ei", "--yes").code == 0
    assert command("ingest", file, "--name", "back").code == 0
    assert command.json("datasets")[-1]["sufficient"] is True


def test_what_is_wrong_is_one_line(command, tmp_path: Path) -> None:
    words = ("construct", "run", "--from", "evidence-inference", tmp_path, "--name", "ei")
    assert "has no prompts_merged.csv or prompts.csv" in command.failure(*words)
    assert command("construct", "run", tmp_path, "--name", "ei").code == 2
    assert command.json("datasets") == []
