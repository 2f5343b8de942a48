"""``evidencebench reliability prepare``, and a run on PubMedQA that is killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data import Store, open_store
from evidencebench_core.reliability.runs import reliability_runs, results_of
from evidencebench_core.reliability.sample import add_sample_items
from tests.conftest import real_file
from tests.llm.server import Step, answering, scripted
from tests.reliability.scripted_models import MODELS, step

pytestmark = pytest.mark.slow


def test_wordings_are_made_checked_read_and_asked(command, monkeypatch: pytest.MonkeyPatch) -> None:
    name = add_sample_items(open_store()).name
    prepare = ("reliability", "prepare", name, "--reviewer", "Ana")
    with scripted(answering(step), listed=tuple(MODELS)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        make = (
            *prepare,
            "--model",
            "always-yes",
            "--checker",
            "always-yes",
            "--kind",
            "negation",
            "--limit",
            "6",
        )
        made = command.json(*make)
        # The checker says yes: right where the gold is no.
        refused = {one["item"] for one in made["refused"]}
        assert (made["estimate"]["calls"], len(server.requests)) == (12, 12)
        assert made["drafts"] == {
            "waiting": 6 - len(refused),
            "refused": len(refused),
            "accepted": 0,
            "rejected": 0,
        }
        assert "Nothing is left to ask" in command(*make).err
        assert len(server.requests) == 12
    drafts = command.json(*prepare, "--list")
    assert not {one["item"] for one in drafts} & refused
    assert "The draft must make it" in command(*prepare, "--list").out
    assert "1 wording accepted" in command(*prepare, "--accept", str(drafts[0]["id"])).out
    assert command.json(*prepare, "--list", "accepted")[0]["made_by"]["checked_by"] == "always-yes"


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_run_that_is_killed_and_started_again_equals_one_run(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, paid, lock = 0, Counter[str](), threading.Lock()
    held, killed = threading.Semaphore(0), threading.Event()

    def say(sent: dict[str, Any]) -> Step:
        nonlocal asked
        with lock:
            asked += 1
            hold = asked > 70 and not killed.is_set()
        if hold:
            held.release()
            return lambda handler: handler.wait_for_client() and None  # never answered, so never paid

        def then(handler: Any) -> None:
            step(sent)(handler)
            with lock:
                paid[sent["messages"][-1]["content"]] += 1

        return then

    stores = [tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"]
    with scripted(answering(say), listed=tuple(MODELS)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = ["reliability", "run", "pubmedqa", "--task", "baseline", "--task", "unknown"]
        run += ["--model", "word-overlap", "--limit", "60", "--concurrency", "4", "--store"]
        for store in stores:
            file = real_file("pubmedqa/ori_pqal.json")
            command.json("reliability", "ingest", file, "--name", "pubmedqa", "--store", store)
        victim = [sys.executable, "-m", "evidencebench_core.cli", *run, str(stores[0])]
        with subprocess.Popen(victim, stderr=subprocess.DEVNULL) as process:
            for _ in range(4):  # all calls under way wait for an answer: what came before is stored
                assert held.acquire(timeout=60)
            process.kill()
        killed.set()
        command.json(*run, stores[0])
        assert set(paid.values()) == {1}  # nothing is paid twice
        assert len(paid) == 180
        command.json(*run, stores[1])
    again, whole = (answers(open_store(store)) for store in stores)
    assert again == whole
    assert [len(texts) for texts in again.values()] == [60, 120]


def answers(store: Store) -> dict[str, dict[str, str]]:
    """By task, the texts by probe."""
    return {
        run.task.name: {one: result["text"] for one, result in results_of(store, run).items()}
        for run in reliability_runs(store)
    }
