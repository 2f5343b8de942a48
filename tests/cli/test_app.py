"""``app``: what is started, and where the app is found."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import evidencebench_core
from evidencebench_core.data.store import open_store

APP = import_module("evidencebench_core.cli.app")


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    calls: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(APP.os, "execve", lambda _, *call: calls.append(call))
    return calls


def test_only_localhost_is_served(command, starts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "s.sqlite"
    command("app", "--store", store)
    command("app", "--port", "8600", "--no-browser", "--no-token")
    command("app", "--host", "lab.example", "--no-token")
    monkeypatch.setenv("EVIDENCEBENCH_TOKEN", "correct horse")
    command("app")
    (words, environment), (more, _), *_ = starts
    root = Path(evidencebench_core.__file__).parent.parent
    assert words[:5] == [sys.executable, "-m", "streamlit", "run", str(root / "app.py")]
    assert environment["EVIDENCEBENCH_STORE"] == str(store)
    quiet = {"--browser.gatherUsageStats=false", "--server.showEmailPrompt=false"}
    assert quiet | {"--server.address=localhost"} <= set(words)
    assert set(more) - set(words) == {"--server.port=8600", "--server.headless=true"}
    tokens = [started.get("EVIDENCEBENCH_TOKEN") for _, started in starts]
    assert tokens == [None, "", None, "correct horse"]  # without one the server makes it, unless it is empty


THIS = ["localhost", "127.0.0.1", "::1"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("--host lab.example", ["lab.example", *THIS]),
        ("--allow-host lab.example", [*THIS, "lab.example"]),
        ("--host 0.0.0.0 --allow-host lab.example", [*THIS, "lab.example"]),
        ("--host ::", []),  # whatever this machine is called
    ],
)
def test_the_names_that_the_app_is_served_under(command, starts, words: str, names: list[str]) -> None:
    command("app", *words.split())
    ((started, _),) = starts
    assert [word.partition("=")[2] for word in started if word.startswith("--server.allowedHosts=")] == names
    shown = "lab.example" if "--host lab" in words else "localhost"
    assert f"--browser.serverAddress={shown}" in started  # else Streamlit asks an outside address for it


def test_the_sample_is_in_the_store_before_the_app_opens(command, starts) -> None:
    assert "as sample_data" in command("app", "--sample").err
    (dataset,) = open_store().datasets()
    assert (dataset.name, dataset.n_instances, dataset.synthetic) == ("sample_data", 6, True)
    assert command("app", "--sample").code == 0
    assert len(starts) == 2
