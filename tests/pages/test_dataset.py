"""Dataset: what it is made of."""

from __future__ import annotations

import pytest

from evidencebench_core.data import Store
from tests.pages.app import OpenPage, finished_runs

pytestmark = pytest.mark.usefixtures("sample_store")


def test_it_says_what_it_stands_on(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="nonsense", by="nonsense")
    assert app.selectbox[1].value == "sentences"
    for text in (
        "6 instances from 6 papers; without result aspects: 1.",
        "invented papers",
        "n = 6 instances.",
    ):
        assert text in app.words


def test_the_quantity_is_in_the_address(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="sentences per aspect", by="types")
    app.selectbox[1].set_value("tokens")
    assert app.run().address.items() >= {"quantity": "tokens", "by": "types"}.items()


def test_it_is_renamed_and_deleted_with_what_depends_on_it(open_page: OpenPage, sample_store: Store) -> None:
    finished_runs(sample_store, "lead")
    app = open_page("dataset", dataset="sample_data").fill("Name", " ").press("Rename")
    assert "is blank" in app.problems
    app.fill("Name", "mine").press("Rename")
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
