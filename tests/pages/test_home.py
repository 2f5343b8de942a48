"""Home: the first thing anybody sees, with and without data."""

from pathlib import Path

import pytest

from evidencebench_core.data import DATASETS, Store
from tests.factories import written
from tests.pages.app import SAMPLE, OpenPage


def names(store: Store) -> list[str]:
    return [info.name for info in store.datasets()]


def test_a_file_is_read_under_a_name(open_page: OpenPage, empty_store: Store, tmp_path: Path) -> None:
    app = open_page()
    broken = written([1, 2], tmp_path / "list.json")  # type: ignore[arg-type]
    for path, problem in ((broken, "list.json"), (SAMPLE, "")):
        assert names(empty_store) == []
        app.file_uploader(key="upload").upload(path.name, path.read_bytes(), "application/json")
        app.text_input(key="dataset-name").set_value("mine").run()
        app.button(key="read-file").click()
        assert problem in app.run().words + app.finish().words
    assert names(empty_store) == ["mine"]


@pytest.mark.usefixtures("sample_store")
def test_the_licence_stands_at_every_download(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page()
    for name, remote in DATASETS.items():
        for split, file in remote.splits.items():
            app.selectbox(key="download").set_value((name, split)).run()
            assert file.licence in app.words
    monkeypatch.setattr("components.work.download", lambda *_, **__: (SAMPLE,))
    assert "6 instances, loaded as sample_data" in app.ask("Accept the licence and download").words


def test_a_dataset_is_unfolded_renamed_and_deleted(open_page: OpenPage, sample_store: Store) -> None:
    app = open_page(shown="sample_data")
    assert "Browse its instances" in app.labels()
    app.fill("Name", "mine").press("Rename")
    assert (names(sample_store), app.address["shown"]) == (["mine"], "mine")
    app.named("checkbox", "Delete mine").check()
    app.run().ask("Delete")
    assert names(sample_store) == []
