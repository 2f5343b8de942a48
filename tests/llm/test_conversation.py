"""Conversations: rounds side by side, results as they come, stopped in good order and with nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError, LLMRejectedError
from evidencebench_core.llm import (
    LLM,
    Answer,
    AnswerCache,
    Ask,
    Budget,
    ChatRequest,
    Connection,
    Conversation,
    Limits,
    Message,
    answer_of,
    results,
)
from tests.llm import server as s


def request(text: str) -> ChatRequest:
    return ChatRequest("scripted", (Message("user", text),))


def conversation(*rounds: list[str]) -> Conversation[list[str]]:
    """Asks the texts of each round; the result is what came, or the error that came in its place."""
    texts: list[str] = []
    for texts_of_round in rounds:
        try:
            replies = yield [Ask(text, request(text)) for text in texts_of_round]
        except LLMError as error:
            return [*texts, type(error).__name__]
        texts += [reply.text for reply in replies if isinstance(reply, Answer)]
    return texts


def echo(text: str) -> s.Step:
    return s.status(400) if "bad" in text else s.status(401) if "fatal" in text else s.reply(f"re {text}")


def step_for(gate: threading.Event | None = None, asked: threading.Event | None = None) -> s.Step:
    def answer(document: dict[str, Any]) -> s.Step:
        text = document["messages"][0]["content"]
        if "slow" in text and gate is not None and asked is not None:
            asked.set()
            gate.wait(30)
        return echo(text)

    return s.answering(answer)


def llm_of(server: s.Scripted, concurrency: int = 8, answers: AnswerCache | None = None) -> LLM:
    return LLM(Connection(server.url, "secret"), answers, limits=Limits(concurrency))


def test_a_round_goes_out_whole_and_comes_back_in_order() -> None:
    together = threading.Barrier(3, timeout=30)

    def step(handler: s.Handler) -> None:
        if handler.request_json["messages"][0]["content"] in "abc":
            together.wait()  # all three are there at once
        step_for()(handler)

    pieces: list[tuple[str, str | None]] = []
    with s.scripted(step) as server:
        asked = conversation(["a", "b", "c"], ["d"])
        assert answer_of(llm_of(server), asked, on_step=lambda *of: pieces.append(of)) == [
            "re a",
            "re b",
            "re c",
            "re d",
        ]
    assert ("d", "re d") in pieces


def test_an_error_is_thrown_in_when_the_others_of_its_round_are_kept(tmp_path: Path) -> None:
    answers = AnswerCache(open_store(tmp_path / "s"))
    with s.scripted(step_for()) as server:
        llm = llm_of(server, answers=answers)
        assert answer_of(llm, conversation(["a"], ["b", "bad", "c"])) == ["re a", "LLMRejectedError"]
        assert all(llm.known(request(text)) for text in "abc")


def test_everything_is_answered_once_and_read_as_it_is_needed() -> None:
    begun: list[int] = []
    gate, asked = threading.Event(), threading.Event()

    def many() -> Iterator[tuple[int, Conversation[list[str]]]]:
        for number in range(40):
            begun.append(number)
            yield number, conversation([f"slow {number}"])

    found: dict[int, object] = {}
    with s.scripted(step_for(gate, asked)) as server:
        for batch in results(llm_of(server, 4), many()):
            found |= dict(batch)
            if asked.is_set() and not gate.is_set():
                assert len(begun) <= 4
                gate.set()
        assert len(server.requests) == 40
    assert found == {number: [f"re slow {number}"] for number in range(40)}


def failing(text: str) -> Conversation[list[str]]:
    """Does not handle errors."""
    (reply,) = yield [Ask(text, request(text))]
    assert isinstance(reply, Answer)
    return [reply.text]


def test_an_error_of_one_is_its_result_and_one_of_all_is_raised_at_the_end() -> None:
    found: dict[int, object] = {}
    with s.scripted(step_for()) as server:
        texts = ["a", "bad", "b", "fatal", *"cdefgh"]
        batches = results(llm_of(server, 1), ((i, failing(text)) for i, text in enumerate(texts)))
        with pytest.raises(LLMRejectedError, match="401"):  # noqa: PT012
            for batch in batches:
                found |= dict(batch)
        with pytest.raises(LLMRejectedError, match="400"):
            answer_of(llm_of(server), failing("bad"))
    assert [found[0], found[2]] == [["re a"], ["re b"]]
    assert isinstance(found[1], LLMRejectedError)
    assert len(server.requests) < 8


@pytest.mark.parametrize("patient", [True, False])
def test_once_stopped_nothing_begins_and_what_ends_in_time_is_kept(patient: bool, tmp_path: Path) -> None:
    answers = AnswerCache(open_store(tmp_path / "s"))
    gate, asked, stopped = threading.Event(), threading.Event(), threading.Event()

    def stop() -> bool:
        if asked.is_set() and not stopped.is_set():
            stopped.set()
            if patient:
                threading.Timer(0.2, gate.set).start()
        return stopped.is_set()

    with s.scripted(step_for(gate, asked)) as server:
        llm = llm_of(server, 1, answers)
        work = ((n, failing(f"slow {n}")) for n in range(5))
        batches = list(results(llm, work, stopped=stop, grace=30 if patient else 0.0))
        gate.set()
        assert len(server.requests) == 1
        assert [key for batch in batches for key, _ in batch] == ([0] if patient else [])
        assert (llm.known(request("slow 0")) is not None) == patient
        assert llm.budget.spent.perhaps_billed == (not patient)
        with pytest.raises(LLMCancelledError):
            answer_of(llm, failing("x"), stopped=lambda: True)


def test_a_call_under_way_as_a_cap_is_reached_ends_in_its_own_time() -> None:
    gate, asked, found = threading.Event(), threading.Event(), list[object]()
    with s.scripted(step_for(gate, asked)) as server:
        llm = llm_of(server, 2)
        llm.budget = Budget(calls=1)
        opening = threading.Timer(0.5, gate.set)
        with pytest.raises(BudgetReachedError):  # noqa: PT012
            for batch in results(llm, ((text, failing(text)) for text in ("slow", "b", "c")), grace=0.0):
                found += batch
                if asked.is_set() and not opening.is_alive() and not gate.is_set():
                    opening.start()
        assert len(server.requests) == 1
    assert found == [("slow", ["re slow"])]
    assert llm.budget.spent.perhaps_billed == 0


def test_a_reader_who_leaves_ends_the_work() -> None:
    with s.scripted(step_for()) as server:
        batches = results(llm_of(server, 2), ((n, failing(str(n))) for n in range(1000)))
        while not next(batches):
            pass
        batches.close()  # type: ignore[attr-defined]
        n_asked = len(server.requests)
        assert n_asked < 100
