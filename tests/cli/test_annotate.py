"""find and annotate on the command line: what the sweep of verbs cannot know."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import open_store
from tests.annotation.scripted_model import paper_text, scripted_answer
from tests.annotation.trials_folder import trials_folder
from tests.answers import tea
from tests.cli.conftest import Command
from tests.llm.server import reply
from tests.papers.pdf.hostile import paged

TEXT = "Night work\n\nAbstract\nNurses were followed.\n\nResults\nNight work raised the risk of diabetes. Tea is hot."


@pytest.mark.usefixtures("hashing_encoder")
def test_find_prints_picks_and_writes_the_page(command: Command, tmp_path: Path) -> None:
    file, page = tmp_path / "night.txt", tmp_path / "page.html"
    file.write_text(TEXT)
    words = ("find", "--retriever", "dense", "--html", page, file)
    document = command.json(*words, "Night work causes diabetes.")
    assert document["papers"][0]["picks"][0]["text"] == "Night work raised the risk of diabetes."
    assert page.read_text().count('class="sheet"') == 2
    assert "may say nothing" in command(*words, "Quantum computers factor integers.").out
    assert command(*words, "Night work.", "--pdf", tmp_path / "out.pdf").code == 1  # a text is no PDF
    file = tmp_path / "night.pdf"
    file.write_bytes(paged())
    assert command("find", file, "A sentence.", "--pdf", tmp_path / "out.pdf").code == 0
    assert b"/Highlight" in (tmp_path / "out.pdf").read_bytes()


def test_find_asks_a_model_what_the_paper_says(command: Command, asks: Any, tmp_path: Path) -> None:
    file = tmp_path / "tea.txt"
    file.write_text(tea.TEXT)
    words = ("find", file, tea.HYPOTHESIS, "--retriever", "lead", "--answer", "--stances")
    assert "--model" in command.failure(*words)
    with asks(tea.model):
        document, printed = command.json(*words, "--model", "M"), command(*words, "--model", "M")
    (paper,) = document["papers"]
    assert [pick.get("stance") for pick in paper["picks"]] == ["supports", "against", "neither", None]
    assert paper["answer"]["verdict"] == "mixed"
    assert "[3] [999: not in this paper]" in printed.out


def test_proposals_are_exported_ingested_and_run(command: Command, asks: Any, tmp_path: Path) -> None:
    (tmp_path / "tea.txt").write_text(paper_text())
    lines = tmp_path / "papers.jsonl"
    lines.write_text(json.dumps({"paper": "tea.txt", "summary": "Tea is good for blood and weight."}))
    mine = tmp_path / "mine.json"
    with asks(lambda sent: reply(scripted_answer(sent))):
        assert command("annotate", "propose", lines, "--model", "M", "--estimate").code == 0
        document = command.json("annotate", "propose", lines, "--model", "M")
        assert document["papers"][0]["marks"] == 4
    assert command("annotate", "export", "--out", str(mine)).code == 1
    words = ("annotate", "export", "--undecided", "--min-covered", "0.6")
    assert "0 of 1 papers have 70%" in command(*words).out
    assert command(*words, "--out", str(mine)).code == 0
    assert command("ingest", str(mine), "--name", "mine").code == 0
    assert command("run", "--dataset", "mine", "--retriever", "bm25").code == 0


def test_evidence_inference_becomes_a_dataset(command: Command, tmp_path: Path) -> None:
    folder = trials_folder(tmp_path / "ei")
    document = command.json("annotate", "evidence-inference", folder, "--name", "ei")
    assert (document["dataset"], document["added"], document["n_kept"]) == ("ei", True, 1)


def test_marks_go_out_and_come_in(command: Command, tiny: Path, tmp_path: Path) -> None:
    store = open_store()
    key = instance_key(store.dataset("tiny"), "tiny_0")
    Annotations(store).save(key, Annotation("Ada", "", 12).add_aspect("Dose", sentences=[1]))
    path = tmp_path / "marks.json"
    assert command("annotate", "export", "--marks", path).code == 0
    Annotations(store).undo(key, "Ada")
    (row,) = command.json("annotate", "import", path)["marks"]
    assert (row["paper"], row["annotator"], row["marks"]) == ("tiny_0", "Ada", "added")
    (document,) = command.json("import-run", "--dataset", "tiny", "--annotator", "Ada")
    assert (document["label"], document["tasks"]["er@10"]) == ("Ada (annotator)", 1)


def test_agreement_with_the_gold_of_an_instance(command: Command, tiny: Path) -> None:
    store = open_store()
    instance = marked_paper(store, instance_key(store.dataset("tiny"), "tiny_0"))
    assert instance.gold is not None
    Annotations(store).save(instance.key, instance.gold.without_marks("Ada").mark("aspect_0", [0]))
    words = ("--dataset", "tiny", "--annotator", "Ada", "--annotator")
    rows = command.json("analyse", "agreement", *words, "gold")["tables"]["disagreements"]
    assert [(row["aspect"], row["marked_by"]) for row in rows] == [("A2", "gold")] * 2 + [("A3", "gold")] * 2
    assert "two of Ada, Ben" in command.failure("analyse", "agreement", *words, "Ben")
