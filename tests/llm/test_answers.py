"""Paid answers that the store cannot take: locked, full, killed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evidencebench_core.data import connection
from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMError, StoreError
from evidencebench_core.llm import LLM, AnswerCache, Connection, side_file
from evidencebench_core.runs import Plan, RunStore, execute, plan
from tests.factories import store_with, tiny_dataset
from tests.llm.asking import chats
from tests.llm.server import reply, scripted
from tests.llm.virtual import question


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(connection, "_WAIT", 0.05)
    return store_with(tiny_dataset(), tmp_path)


@contextmanager
def locked(store: Store) -> Iterator[None]:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


def side_files(store: Store) -> list[Path]:
    return sorted(store.path.parent.glob("*.jsonl"))


def test_while_the_store_is_locked_answers_wait_in_a_file_and_are_written_by_the_next(store: Store) -> None:
    with scripted(*[reply("one")] * 3) as server:
        asked = Connection(server.url, "secret")
        with locked(store):
            answers = AnswerCache(store)
            outcomes = chats(LLM(asked, answers), [question(1), question(2)])
            assert [getattr(one, "text", one) for one in outcomes] == ["one", "one"]
            (file,) = side_files(store)
            assert file.stat().st_mode & 0o777 == 0o600
            assert "secret" not in file.read_text()
        again = chats(LLM(asked, AnswerCache(store)), [question(1), question(2)])
        assert [getattr(one, "cached", one) for one in again] == [True, True]
        assert len(server.requests) == 2
    assert side_files(store) == []


def test_a_run_that_cannot_write_says_where_its_answers_wait_and_pays_nothing_twice(store: Store) -> None:
    with scripted(*[reply("DECISION: [1]")] * 20) as server:

        def planned() -> Plan:
            llm = LLM(Connection(server.url, "secret"), AnswerCache(store))
            return plan(store, "tiny", "llm", {"model": "m", "strategy": "cot"}, ["er@10"], llm=llm)

        reports = execute(planned())
        next(reports)
        with (
            locked(store),
            pytest.raises(StoreError, match=r"\.jsonl keeps \d model answers?") as caught,
        ):
            list(reports)
        assert "\n" not in str(caught.value)
        *_, last = execute(planned())
        assert (last.done, len(server.requests)) == (last.total, last.total)
    assert side_files(store) == []
    assert len(RunStore(store).done(last.run_id, "er@10")) == last.total


KILLED = """
import os, sys
from pathlib import Path
from evidencebench_core.data import connection, open_store
connection._WAIT = 0.05
from evidencebench_core.llm import AnswerCache
from evidencebench_core.llm.answers import record_of
from evidencebench_core.llm.request import Answer
AnswerCache(open_store(Path(sys.argv[1]))).keep([record_of("ab", "m", b"{}", Answer("t"))])
os._exit(9)
"""


def test_what_a_killed_run_left_is_brought_in_once_whole(store: Store) -> None:
    with locked(store):
        command = [sys.executable, "-c", KILLED, str(store.path)]
        assert subprocess.run(command, check=False).returncode == 9
    (file,) = side_files(store)
    with file.open("a") as stream:
        stream.write('["cut sho')  # never acknowledged
    LLM(Connection("http://localhost:9/v1"), AnswerCache(store))
    assert AnswerCache(store).known(["ab"]) == {"ab"}
    assert side_files(store) == []


def test_where_nothing_can_be_written_it_stops_asking_and_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def waiting(answers: AnswerCache) -> bool:
        tried.append(1)
        if len(tried) == 3:
            monkeypatch.undo()
        return bring_in(answers)

    tried, bring_in = list[int](), AnswerCache.bring_in
    monkeypatch.setattr(side_file, "_append", full)
    with scripted(*[reply("one")] * 9) as server:
        answers = AnswerCache(store)
        llm = LLM(Connection(server.url, "secret"), answers)
        monkeypatch.setattr(AnswerCache, "bring_in", waiting)
        monkeypatch.setattr(AnswerCache, "_write", lambda *_: full_store())
        (outcome,) = chats(llm, [question(1)])
    assert isinstance(outcome, LLMError)
    assert outcome.stops_run
    assert "Kept in memory only, 1 model answer: neither" in str(outcome)
    assert "No space left" in caplog.text
    assert len(AnswerCache(store).known([llm.key(question(1))])) == 1
    assert side_files(store) == []


def full_store() -> None:
    raise StoreError("store.sqlite", "cannot be written: the disk is full", "Free some space.")
