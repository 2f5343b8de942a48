"""Home: the first thing anybody sees, with and without data."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store
from tests.pages.conftest import SAMPLE, OpenPage, texts
from tests.pages.waiting import jobs_ended


@pytest.mark.usefixtures("empty_store")
def test_an_empty_store_offers_the_sample_first(open_page: OpenPage) -> None:
    app = open_page()
    assert "Start here" in texts(app)
    assert app.button[0].label == "Load the sample papers"


def test_one_click_loads_the_sample(open_page: OpenPage, empty_store: Store) -> None:
    app = open_page()
    app.button[0].click().run()
    jobs_ended()
    app.run()
    assert [info.name for info in empty_store.datasets()] == ["sample_data"]
    assert "Loaded datasets" in texts(app)
    assert "6 instances, loaded as sample_data" in texts(app).replace("\\", "")
    assert "Load the sample papers" not in [button.label for button in app.button]


def test_a_file_is_read_by_its_path_under_a_name(open_page: OpenPage, empty_store: Store) -> None:
    app = open_page()
    app.text_input(key="path").set_value(str(SAMPLE))
    app.text_input(key="dataset-name").set_value("mine").run()
    app.button(key="read-file").click().run()
    jobs_ended()
    assert [info.name for info in empty_store.datasets()] == ["mine"]


def test_a_path_that_is_no_file_is_said_and_nothing_changes(open_page: OpenPage, empty_store: Store) -> None:
    app = open_page()
    app.text_input(key="path").set_value("/nowhere/x.json").run()
    app.button(key="read-file").click().run()
    assert "is no file on the machine" in texts(app)
    assert empty_store.datasets() == ()


def test_a_file_that_is_no_dataset_ends_as_a_failed_job(
    open_page: OpenPage, empty_store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "list.json"
    path.write_text("[1, 2]", encoding="utf-8")
    app = open_page()
    app.text_input(key="path").set_value(str(path)).run()
    app.button(key="read-file").click().run()
    jobs_ended()
    app.run()
    assert "Failed" in texts(app)
    assert "list.json" in texts(app).replace("\\", "")
    assert empty_store.datasets() == ()


@pytest.mark.usefixtures("sample_store")
def test_the_licence_stands_beside_every_download(open_page: OpenPage) -> None:
    app = open_page()
    box = app.selectbox(key="download")
    for option, licence in zip(
        box.options, ("BY-NC-SA 4.0", "BY-NC-SA 4.0", "BY 4.0", "BY-NC 4.0", "BY-NC 4.0"), strict=True
    ):
        box.set_value(tuple(option.split(", "))).run()
        assert licence in texts(app).replace("\\", "")
