"""Home: the first thing anybody sees, with and without data."""

import threading
from pathlib import Path

import pytest

from evidencebench_core.analyses.sample import SAMPLE_RUNS
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.factories import written
from tests.pages.app import SAMPLE, OpenPage


def names(store: Store) -> list[str]:
    return [info.name for info in store.datasets()]


def test_a_file_is_read_by_its_path_under_a_name(
    open_page: OpenPage, empty_store: Store, tmp_path: Path
) -> None:
    app = open_page()
    broken = written([1, 2], tmp_path / "list.json")  # type: ignore[arg-type]
    for path, problem in (
        ("/nowhere/x.json", "is no file on the machine"),
        (broken, "list.json"),
        (SAMPLE, ""),
    ):
        assert names(empty_store) == []
        app.text_input(key="path").set_value(str(path))
        app.text_input(key="dataset-name").set_value("mine").run()
        app.button(key="read-file").click()
        assert problem in app.run().words + app.finish().words
    assert names(empty_store) == ["mine"]


@pytest.mark.usefixtures("sample_store")
def test_the_licence_stands_beside_every_download(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page()
    box = app.selectbox(key="download")
    licences = ("BY-NC-SA 4.0", "BY-NC-SA 4.0", "BY 4.0", "BY-NC 4.0", "BY-NC 4.0")
    for option, licence in zip(box.options, licences, strict=True):
        box.set_value(tuple(option.split(", "))).run()
        assert licence in app.words
    monkeypatch.setattr("components.work.download", lambda *_, **__: (SAMPLE,))
    assert "6 instances, loaded as sample_data" in app.ask("Accept the licence and download").words


def test_the_server_that_was_started_with_the_sample_runs_it_behind_the_first_page(
    open_page: OpenPage, sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_SAMPLE", "1")
    open_page()
    for thread in threading.enumerate():
        if thread.name == "sample":
            thread.join(60)
    assert [run.label for run in RunStore(sample_store).runs("sample_data")] == list(SAMPLE_RUNS)


def test_a_dataset_is_unfolded_renamed_and_deleted(open_page: OpenPage, sample_store: Store) -> None:
    app = open_page(shown="sample_data")
    assert "Browse its instances" in app.labels()
    app.fill("Name of the dataset", "mine").press("Rename")
    assert (names(sample_store), app.address["shown"]) == (["mine"], "mine")
    app.named("checkbox", "Delete mine").check()
    app.run().ask("Delete")
    assert names(sample_store) == []
