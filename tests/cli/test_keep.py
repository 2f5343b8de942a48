"""``delete`` and ``rename``."""

from __future__ import annotations

from evidencebench_core.data.ingest import add_instance
from evidencebench_core.data.store import open_store
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Paper
from tests.cli.conftest import SAMPLE, Command
from tests.factories import tiny_dataset

PAPER = Paper("p", "Tea", ("Tea", "It calms."), ("section_name", "normal_paragraph"), "text", {}, ())


def test_what_depends_on_it_is_named_before_and_nothing_goes_without_yes(command: Command) -> None:
    command("ingest", SAMPLE)
    run = command.run("lead", dataset="sample_data")
    said = command("delete", "dataset", "sample_data")
    assert said.code == 1
    assert "dataset sample_data would be deleted, with 6 instances and 1 run." in said.out
    assert "--yes" in said.err
    assert command("rename", "run", run[:6], "first").out == f"Renamed {run[:6]} to first.\n"
    said = command("delete", "run", run[:6], "--yes")
    assert (said.code, said.out.split(",")[0]) == (0, f"Deleted run {run} (first on sample_data)")
    assert "is not in" in command.failure("delete", "run", run, "--yes")
    assert "with 6 instances." in command("delete", "dataset", "sample_data", "--yes").out
    assert open_store().datasets() == ()


def test_datasets_and_papers_are_renamed(command: Command) -> None:
    command("ingest", SAMPLE)
    own = OwnPapers(open_store()).save(PAPER, "First")
    assert command("rename", "dataset", "sample_data", "mine").out == "Renamed sample_data to mine.\n"
    assert "is blank" in command.failure("rename", "dataset", "mine", " ")
    assert command("rename", "paper", "First", "Second").code == 0
    assert "is not in" in command.failure("delete", "paper", "First", "--yes")
    assert "(Second) would be deleted" in command("delete", "paper", str(own.id)).out
    assert command("delete", "paper", "Second", "--yes").code == 0
    assert OwnPapers(open_store()).all() == ()


def test_an_instance_that_was_marked_by_hand_is_deleted(command: Command) -> None:
    command("ingest", SAMPLE)
    store = open_store()
    for dataset in ("mine", "other"):
        for name, raw in list(tiny_dataset().items())[:2]:
            add_instance(store, dataset, name, raw)
    assert "is in 2 datasets" in command.failure("delete", "instance", "tiny_0")
    which = ("delete", "instance", "tiny_0", "--dataset", "mine")
    assert command(*which).out.startswith("instance tiny_0 of dataset mine would be deleted")
    assert command(*which, "--yes").code == 0
    assert (store.ids("mine"), store.ids("other")) == (("tiny_1",), ("tiny_0", "tiny_1"))
    assert "is none that was marked by hand" in command.failure("delete", "instance", "sample_trial", "--yes")
    from_file = ("delete", "instance", "sample_trial", "--yes", "--dataset", "sample_data")
    assert "came from a file" in command.failure(*from_file)
