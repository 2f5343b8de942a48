"""A link chooses among what is here, and loads nothing by name."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from components.app import live
from evidencebench_core.retrievers import named_to_load
from evidencebench_core.retrievers.ranker import model_file
from tests.pages.app import OpenPage

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
    assert app.warning or app.error


def test_what_counts_as_a_name() -> None:
    assert named_to_load("dense", {"model": "minilm", "instruction": "er"}) == {}
    assert named_to_load("bm25", {"k1": 1.2, "tokenisation": "word-stop"}) == {}
    assert named_to_load("hybrid", {"of": ("bm25", "dense"), "dense.model": HUB}) == {"dense.model": HUB}
    assert named_to_load("evidence-ranker", {"model": "default", "weights": "0123"}) == {}
    assert named_to_load("llm", {"model": HUB}) == {}  # a server's, asked for on a click
