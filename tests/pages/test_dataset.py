"""Dataset: what it is made of."""

from __future__ import annotations

import pytest

from evidencebench_core.data import Store, add_instance
from tests.factories import tiny_dataset
from tests.pages.app import OpenPage, drawn, finished_runs


@pytest.mark.usefixtures("sample_store")
def test_it_says_what_it_stands_on(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="nonsense", by="nonsense")
    assert app.selectbox[1].value == "sentences"
    for text in (
        "6 instances from 6 papers; without result aspects: 1.",
        "invented papers",
        "n = 6 instances.",
    ):
        assert text in app.words


@pytest.mark.usefixtures("sample_store")
def test_the_quantity_is_in_the_address(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="sentences per aspect", by="types")
    app.selectbox[1].set_value("tokens")
    assert app.run().address.items() >= {"quantity": "tokens", "by": "types"}.items()


def test_it_is_renamed_and_deleted_with_what_depends_on_it(open_page: OpenPage, sample_store: Store) -> None:
    finished_runs(sample_store, "lead")
    app = open_page("dataset", dataset="sample_data").fill("Name of the dataset", " ").press("Rename")
    assert "is blank" in app.problems
    app.fill("Name of the dataset", "mine").press("Rename")
    assert [info.name for info in sample_store.datasets()] == ["mine"]
    assert (app.selectbox[0].value, app.address["dataset"]) == ("mine", "mine")
    assert "is not in" in open_page("dataset", dataset="sample_data").problems  # a link to the name before
    app = open_page("dataset", dataset="mine")
    assert app.named("button", "Delete").disabled
    box = app.named("checkbox", "Delete mine, with 6 instances and 1 run")
    box.check()
    app.run().press("Delete")
    assert "No dataset is loaded yet" in app.words
    assert "Deleted mine, with 6 instances and 1 run." in app.words
    assert sample_store.datasets() == ()


def test_instances_that_were_marked_by_hand_are_deleted_one_by_one(
    open_page: OpenPage, empty_store: Store
) -> None:
    for name, raw in list(tiny_dataset().items())[:2]:
        add_instance(empty_store, "mine", name, raw)
    app = open_page("dataset")
    app.named("selectbox", "Instance").set_value("tiny_1").run()
    app.checkbox[0].check()
    app.run().press("Delete")
    assert "Deleted tiny_1, with nothing else." in app.words
    assert len(app.checkbox) == 1  # the last one goes with the dataset
    assert empty_store.ids("mine") == ("tiny_0",)


def mesh_of_sample() -> None:
    """A script: what the expander holds."""
    from components.app.resources import named_dataset
    from components.dataset import subjects

    subjects._draw(named_dataset("sample_data"))


def test_what_its_papers_are_about(sample_store: Store) -> None:
    paper = sample_store.get("sample_data", "sample_cohort").paper_id
    app = drawn(mesh_of_sample)
    headings = f"paper_id,descriptor\n{paper},Tea\n{paper},<b>Milk</b>\n".encode()
    app.get("file_uploader")[0].set_value(("h.csv", headings, "text/csv"))
    app.get("file_uploader")[1].set_value(("t.bin", b"Tea;D20.215\nTea;J02.200\n", "text/plain"))
    words = app.run().words
    assert "Gini-Simpson **0.500**" in words
    assert "2 of 16 branches" in words
    assert "<b>Milk</b>" in words
    app.get("file_uploader")[1].set_value(("t.bin", b"nothing", "text/plain"))
    assert app.run().problems.startswith("tree: has no descriptor")
