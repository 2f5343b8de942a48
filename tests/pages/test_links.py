"""A link chooses among what is here; what it would have loaded waits for a click that shows the name."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from components.app import live
from evidencebench_core.data import Store
from evidencebench_core.retrievers import named_to_load
from evidencebench_core.retrievers.ranker import model_file
from tests.pages.app import OpenPage, stored_run

HUB = "somebody/some-model"
READ = {"instance": "sample_cohort", "task": "er@10"}
PAGES = {
    "browse": READ,
    "paper": {"paper": "sample_cohort"},
    "paper of several": {"over": "dataset:sample_data", "h": "Night shifts raise the risk of diabetes."},
    "paper before an audience": {"paper": "sample_cohort", "present": "1"},
    "wording": {"part": "effect"},
}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked for outside this machine, or read as a model's file: nothing comes of either."""
    asked: list[str] = []

    def snapshot(repo: str, **_: object) -> str:
        asked.append(repo)
        raise OSError("no network")

    def connect(_: socket.socket, address: Any) -> None:
        asked.append(str(address))
        raise OSError("no network")

    def read(path: Path) -> None:
        asked.append(str(path))
        raise model_file.RetrieverError(str(path), "is no model", "Train one.")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr("evidencebench_core.retrievers.ranker.retriever.read_model", read)
    monkeypatch.setattr(live, "_warmed", set())
    return asked


def rest() -> None:
    """Return once nothing works in the background."""
    for thread in threading.enumerate():
        if thread.name == "warm" or thread.name.startswith("job-"):
            thread.join(60)


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", [HUB, "/dev/zero"])
def test_an_address_loads_nothing_by_name(
    open_page: OpenPage, loads: list[str], page: str, model: str
) -> None:
    path = f"/etc/{model.replace('/', '-')}"
    choice = (
        f"hybrid;of=bm25,evidence-ranker,structure;evidence-ranker.model={path};structure.encoder={model}"
    )
    app = open_page(page.partition(" ")[0], **PAGES[page], r=f"{choice}~dense;model={model}~bm25")
    rest()
    assert loads == []
    buttons = [label.replace("\\", "") for label in app.labels()]
    assert [buttons.count(f"Load {name}") for name in (path, model)] == [1, 2]
    assert app.words.count(f"**{model}**") == 2


@pytest.mark.usefixtures("sample_store")
def test_what_is_named_is_loaded_after_a_click_and_for_the_session(
    open_page: OpenPage, loads: list[str]
) -> None:
    app = open_page("browse", **READ, r=f"dense;model={HUB}~bm25")
    assert "What each pick of bm25 adds" in app.words  # the others answer meanwhile
    app.press("Load")
    assert loads == [HUB] * len(loads) != []
    assert "could not be reached" in app.problems
    loads.clear()
    app.run(r=f"hybrid;dense.model=other/model~dense;model={HUB}")  # one click is for one name
    assert set(loads) <= {HUB}
    assert "Load other/model" in app.words + " ".join(app.labels()).replace("\\", "")
    app.run(r=f"dense;model=other/model~dense;model={HUB}")  # a retriever can be chosen once
    assert set(loads) <= {HUB}


@pytest.mark.usefixtures("sample_store")
def test_what_was_typed_here_needs_no_click(open_page: OpenPage, loads: list[str]) -> None:
    app = open_page("browse", **READ, r="dense")
    assert not [label for label in app.labels() if label.startswith("Load ")]
    loads.clear()
    app.fill("model", HUB)
    assert HUB in loads
    assert not [label for label in app.labels() if label.startswith("Load ")]


def test_a_run_is_read_but_its_model_waits_too(
    open_page: OpenPage, sample_store: Store, loads: list[str]
) -> None:
    run = stored_run(sample_store, "dense", (7, 3), model=HUB, instruction="none", backend="float32")
    app = open_page("browse", **READ, r=f"@{run}")
    assert "What each pick of dense" in app.words
    assert "Load " not in " ".join(app.labels())
    edited = open_page("browse", **READ, r=f"@{run}", h="Tea helps.")
    assert loads == []
    assert set(edited.press("Load").labels()) - set(app.labels())
    assert HUB in loads


@pytest.mark.usefixtures("sample_store")
def test_a_name_is_shown_as_text_and_whole_or_it_is_not_loaded(open_page: OpenPage, loads: list[str]) -> None:
    app = open_page("browse", **READ, r="dense;model=![x](https://x.org/y.png) <b>")
    assert r"\!\[x\]\(https" in app.raw
    app.run(r="evidence-ranker;model=/home/me/" + "./" * 300 + "evil.json")
    assert "too long to check" in app.problems
    assert "Load " not in " ".join(app.labels())
    assert loads == []


def test_what_counts_as_a_name() -> None:
    assert named_to_load("dense", {"model": "minilm", "instruction": "er"}) == {}
    assert named_to_load("bm25", {"k1": 1.2, "tokenisation": "word-stop"}) == {}
    assert named_to_load("hybrid", {"of": ("bm25", "dense"), "dense.model": HUB}) == {"dense.model": HUB}
    assert named_to_load("evidence-ranker", {"model": "default", "weights": "0123"}) == {}
    assert named_to_load("llm", {"model": HUB}) == {}  # a server's, asked for on a click
