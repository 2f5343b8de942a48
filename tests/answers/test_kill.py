"""SIGKILL in the middle of a judge's run."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.set_judging import set_judge_plan
from evidencebench_core.answers.store import answer_set_info, stored_answers
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.llm import LLM, AnswerCache, Connection, Limits
from evidencebench_core.runs import ChatPlan, ChatRuns, execute
from tests.answers.judging import add_sample
from tests.llm.server import Step, answering, reply, scripted

pytestmark = pytest.mark.slow

WORKER = """
import sys
from pathlib import Path
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import execute
from tests.answers.test_kill import judging
path, url, source, at_once = sys.argv[1:]
for report in execute(judging(open_store(Path(path)), url, source, int(at_once))):
    print(report.done, flush=True)
"""


def judging(store: Store, url: str, source: str, at_once: int) -> ChatPlan:
    llm = LLM(Connection(url, "secret"), AnswerCache(store), None, Limits(at_once, first_wait=0.001))
    subject = answer_set_info(store, "sample answers").sha256
    answers = stored_answers(store, "sample answers")
    return set_judge_plan(store, subject, answers, "citations", "judge", settings={"source": source}, llm=llm)


def prompt_of(sent: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in sent["messages"])


def said(prompt: str) -> Step:
    """The same to the same question."""
    return reply(f"NUGGETS:\nFact {len(prompt)} is so.\nLABEL: {('supporting', 'neutral')[len(prompt) % 2]}")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
@pytest.mark.parametrize(("source", "at_once", "n_before"), [("document", 4, 8), ("nuggets", 1, 19)])
def test_a_killed_judge_goes_on_and_pays_nothing_twice(
    tmp_path: Path, source: str, at_once: int, n_before: int
) -> None:
    """Of nuggets every citation is three calls, and what is asked of a document is asked once for all."""
    whole, killed = open_store(tmp_path / "whole.sqlite"), open_store(tmp_path / "killed.sqlite")
    for store in (whole, killed):
        add_sample(store)
    lock, held, is_dead = threading.Lock(), threading.Semaphore(0), threading.Event()
    n_asked, paid = 0, Counter[str]()

    def say(sent: dict[str, Any]) -> Step:
        nonlocal n_asked
        prompt = prompt_of(sent)
        with lock:
            n_asked += 1
            hold = not is_dead.is_set() and n_asked > n_before
        if hold:
            held.release()
            return lambda handler: handler.wait_for_client() and None  # never answered, so never paid

        def step(handler: Any) -> None:
            said(prompt)(handler)
            with lock:
                paid[prompt] += 1

        return step

    with scripted(answering(say)) as server:
        command = [sys.executable, "-c", WORKER, str(killed.path), server.url, source, str(at_once)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
            for _ in range(at_once):  # all calls wait for an answer: what came before is stored
                assert held.acquire(timeout=60)
            victim.kill()
        assert victim.returncode == -9
        is_dead.set()
        run_id = judging(killed, server.url, source, at_once).run_id
        n_kept = ChatRuns(killed).run(run_id).n_answered
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        n_units = judging(killed, server.url, source, at_once).total
        assert done.stdout.split()[0] == str(n_kept)
        assert done.stdout.endswith(f"{n_units}\n")
    assert n_kept < n_units
    once = Counter[str]()

    def count(sent: dict[str, Any]) -> Step:
        with lock:
            once[prompt_of(sent)] += 1
        return said(prompt_of(sent))

    with scripted(answering(count)) as server:
        for _ in execute(judging(whole, server.url, source, at_once)):
            pass
    assert paid == once
    assert set(paid.values()) == {1}
    ours, theirs = (ChatRuns(store).results(run_id) for store in (whole, killed))
    untimed = [
        {
            unit: {**result, "seconds": 0, "key": ""}
            for unit, result in of.items()
            if not isinstance(result, str)
        }
        for of in (ours, theirs)
    ]
    assert untimed[0] == untimed[1]
    assert len(untimed[0]) == n_units
