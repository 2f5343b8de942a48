from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

import evidencebench_core
from evidencebench_core.data.store import open_store
from tests.factories import raw_instance, written

APP = import_module("evidencebench_core.cli.app")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What would have been started."""
    calls: list[tuple[list[str], dict[str, str]]] = []

    def remember(words: list[str], environment: dict[str, str]) -> int:
        calls.append((words, environment))
        return 0

    monkeypatch.setattr(APP, "_serve", remember)
    return calls


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An app with a sample of one paper."""
    (tmp_path / "sample_data").mkdir()
    sample = {"made_up": raw_instance(5, {"a": [3]}, synthetic=True)}
    written(sample, tmp_path / "sample_data" / "sample_data.json")
    monkeypatch.setattr(APP, "app_folder", lambda: tmp_path)
    return tmp_path


def test_the_app_of_this_repository_is_found(command, served, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    assert command("app", "--store", store).code == 0
    ((words, environment),) = served
    root = Path(evidencebench_core.__file__).parent.parent
    assert words[:5] == [sys.executable, "-m", "streamlit", "run", str(root / "app.py")]
    assert environment["EVIDENCEBENCH_STORE"] == str(store)


def test_it_serves_this_machine_only_and_tells_nobody(command, served, folder: Path) -> None:
    command("app")
    command("app", "--port", "8600", "--no-browser")
    (words, _), (more, _) = served
    usual = {
        "--server.address=localhost",
        "--browser.gatherUsageStats=false",
        "--server.showEmailPrompt=false",
    }
    assert usual <= set(words)
    assert set(more) - set(words) == {"--server.port=8600", "--server.headless=true"}


def test_the_sample_is_in_the_store_before_the_app_opens(command, served, folder: Path) -> None:
    printed = command("app", "--sample")
    (dataset,) = open_store().datasets()
    assert (dataset.name, dataset.n_instances, dataset.synthetic) == ("sample_data", 1, True)
    assert "now in" in printed.err
    assert "already in" in command("app", "--sample").err
    assert len(served) == 2


def test_an_installation_without_the_app_says_so(command, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(APP, "__file__", str(tmp_path / "site" / "core" / "cli" / "app.py"))
    printed = command("app")
    assert printed.code == 1
    assert "has no app beside it" in printed.err


def test_an_installed_app_is_preferred_to_what_happens_to_stand_beside_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for place in (tmp_path, tmp_path / "core" / "_app"):
        (place / "pages").mkdir(parents=True)
        (place / "app.py").touch()
    monkeypatch.setattr(APP, "__file__", str(tmp_path / "core" / "cli" / "app.py"))
    assert APP.app_folder() == tmp_path / "core" / "_app"
