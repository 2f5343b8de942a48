"""Asking, from the caller's side: what is sent, kept, counted, tried again and left out."""

from __future__ import annotations

import base64
import contextvars
import hashlib
import json
import sqlite3
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import (
    BudgetReachedError,
    LLMAnswerError,
    LLMCancelledError,
    LLMRejectedError,
    LLMUnreachableError,
)
from evidencebench_core.llm import (
    LLM,
    Answer,
    AnswerCache,
    Budget,
    ChatRequest,
    Clock,
    Connection,
    Message,
    RetryPolicy,
    current_connection,
    using,
)
from evidencebench_core.llm.request import json_bytes
from tests.llm import server as s

REQUEST = ChatRequest("scripted", (Message("user", "Question"),))


class FakeTime:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now, self.waits = 1_000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waits.append(seconds)

    def clock(self, chance: float = 0.0) -> Clock:
        return Clock(lambda: self.now, lambda: self.now, self.sleep, lambda: chance)


@pytest.fixture
def answers(tmp_path: Path) -> AnswerCache:
    return AnswerCache(open_store(tmp_path / "store.sqlite"))


def llm_of(server: s.Scripted, answers: AnswerCache | None = None, **more: Any) -> LLM:
    return LLM(Connection(server.url, "secret"), answers, **more)


def test_what_is_sent() -> None:
    with s.scripted(s.reply("Hi")) as server:
        request = replace(REQUEST, max_tokens=7, extra=(("reasoning_effort", "low"),))
        answer = llm_of(server).chat(request)
    (got,) = server.requests
    assert (got.method, got.path) == ("POST", "/v1/chat/completions")
    assert got.headers["authorization"] == "Bearer secret"
    assert got.json == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Question"}],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 7,
        "reasoning_effort": "low",
    }
    assert (answer.text, answer.finish_reason, answer.cached) == ("Hi", "stop", False)
    assert (answer.prompt_tokens, answer.completion_tokens) == (100, 10)


def test_a_server_without_a_key_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-another-server")
    with s.scripted(s.reply()) as server:
        LLM(Connection(server.url)).chat(REQUEST)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("address", "key", "words"),
    [
        (None, None, "no key is set"),
        ("localhost:8000", "secret", "not of the form"),
        ("ftp://host/v1", "secret", "not of the form"),
        ("http://", "secret", "not of the form"),
        ("http://host:port/v1", "secret", "not of the form"),
        ("http://127.0.0.1:1/v1", "a\r\nX-Header: b", "characters that no key has"),
    ],
)
def test_connections_that_cannot_be_used(address: str | None, key: str | None, words: str) -> None:
    with pytest.raises(LLMRejectedError, match=words) as caught:
        LLM(Connection(address, key)).chat(REQUEST)
    assert caught.value.stops_run


def test_answers_are_kept(answers: AnswerCache) -> None:
    with s.scripted(s.reply("first"), s.reply("second"), s.status(500)) as server:
        llm = llm_of(server, answers)
        key = llm.key(REQUEST)
        assert not llm.cached(REQUEST)
        first = llm.chat(REQUEST)
        assert llm.cached(REQUEST)
        assert llm.chat(REQUEST) == replace(first, cached=True)
        assert first.key == key
        assert answers.known([key, "0" * 64]) == {key}
        assert llm.chat(REQUEST, fresh=True).text == "second"
        pieces: list[str | None] = []
        assert llm.chat(REQUEST, on_delta=pieces.append).text == "second"
        assert pieces == ["second"]
        assert len(server.requests) == 2
        assert answers.request(key) == REQUEST.body()
        assert (llm.spending().calls, llm.spending().cached) == (2, 2)
        with answers.store.read() as db:
            assert "secret" not in str(db.execute("SELECT * FROM llm_answers").fetchall())
    with s.scripted(s.reply()) as server:
        assert llm_of(server).chat(REQUEST).key == ""  # nothing keeps it


def test_everything_of_an_answer_is_kept(answers: AnswerCache) -> None:
    answer = Answer("t\ud800", "length", "no", 1, 2, 3.5, False, "hm", ("seed",), 4)
    answers.keep("k", "m", json_bytes({"a": "\ud800"}), answer)
    assert answers.answer("k") == replace(answer, cached=True, key="k")
    assert answers.request("k") == {"a": "\ud800"}


def test_keys_tell_requests_apart(answers: AnswerCache) -> None:
    llm = LLM(Connection("http://a/v1", "x"))
    same = [LLM(Connection(url, "y")) for url in ("http://a/v1/", "http://user:pw@A/v1?api-key=7")]
    assert {llm.key(REQUEST)} == {other.key(REQUEST) for other in same}
    others = [replace(REQUEST, seed=1), replace(REQUEST, temperature=None), replace(REQUEST, model="b")]
    keys = {llm.key(request) for request in (REQUEST, *others)} | {
        LLM(Connection("http://b/v1")).key(REQUEST)
    }
    assert len(keys) == 5


def test_keys_stay_what_they_are() -> None:
    # SHA-256 of the canonical JSON, written out: another value would make every kept answer a stranger.
    canonical = (
        b'{"address":"http://a/v1","body":{"messages":[{"content":"Question","role":"user"}],'
        b'"model":"scripted","seed":0,"temperature":0.0},"kind":"chat","version":1}'
    )
    assert LLM(Connection("http://a/v1", "x")).key(REQUEST) == hashlib.sha256(canonical).hexdigest()


def test_many_answers_at_once_are_all_in_the_store_when_their_askers_go_on(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server, ThreadPoolExecutor(16) as pool:
        llm = llm_of(server, answers)

        def asked(number: int) -> bool:
            answer = llm.chat(replace(REQUEST, seed=number))
            return answers.request(answer.key) == {**REQUEST.body(), "seed": number}

        assert all(pool.map(asked, range(64)))
        assert len(server.requests) == 64


def test_an_answer_that_cannot_be_written_harms_no_other(answers: AnswerCache) -> None:
    with pytest.raises(sqlite3.Error):
        answers.keep_records("m", [(object(), b"{}", {})])
    answers.keep("good", "m", b"{}", Answer("t"))
    assert answers.known(["good", "bad"]) == {"good"}


def test_one_question_by_many_threads_is_asked_once(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server, ThreadPoolExecutor(16) as pool:
        llms = [llm_of(server, AnswerCache(answers.store)) for _ in range(16)]
        texts = set(pool.map(lambda llm: llm.chat(REQUEST).text, llms))
        assert (len(texts), len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("message", "param", "renamed", "left_out"),
    [
        ("Unsupported value: 'temperature' does not support 0", None, {}, ("temperature",)),
        ("no", "seed", {}, ("seed",)),
        ("Extra inputs are not permitted: seed", None, {}, ("seed",)),
        ("use 'max_completion_tokens'", "max_tokens", {"max_completion_tokens": 9}, ()),
    ],
)
def test_fields_that_a_server_does_not_take(
    message: str, param: str | None, renamed: dict[str, int], left_out: tuple[str, ...]
) -> None:
    request = replace(REQUEST, max_tokens=9)
    with s.scripted(s.status(400, message, param=param), s.reply()) as server:
        llm = llm_of(server)
        assert llm.chat(request).left_out == left_out
        assert llm.chat(request).attempts == 1
    _, second, third = server.requests
    gone = {*left_out, "max_tokens"} if renamed else set(left_out)
    assert second.json == third.json == {k: v for k, v in request.body().items() if k not in gone} | renamed


def test_a_400_that_names_nothing() -> None:
    with (
        s.scripted(s.status(400, "bad")) as server,
        pytest.raises(LLMRejectedError, match=r"400 \(bad\)") as caught,
    ):
        llm_of(server).chat(REQUEST)
    assert not caught.value.stops_run
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("policy", "waits", "words"),
    [
        (RetryPolicy(attempts=6, first_wait=1, longest_wait=5), [1, 2, 4, 5, 5], "tried 6 times"),
        # Waits of 1, 2 and 4 s would end at 7 s; after 3 s the next is not begun.
        (RetryPolicy(first_wait=1, total_seconds=6), [1, 2], "6 s for a call are used up"),
    ],
)
def test_waits_double_and_end_with_the_attempts_or_the_time(
    policy: RetryPolicy, waits: list[float], words: str
) -> None:
    time = FakeTime()
    with s.scripted(s.status(503)) as server, pytest.raises(LLMUnreachableError, match=words):
        llm_of(server, policy=policy, clock=time.clock()).chat(REQUEST)
    assert time.waits == waits


def test_chance_shortens_waits_by_up_to_a_half() -> None:
    time = FakeTime()
    with s.scripted(s.status(503), s.reply()) as server:
        llm_of(server, policy=RetryPolicy(first_wait=1), clock=time.clock(0.5)).chat(REQUEST)
    assert time.waits == [0.75]


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("7", 7.0),
        ("2.5", 2.5),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 1.0),
        ("soon", 1.0),
    ],
)
def test_retry_after(value: str, wait: float) -> None:
    # The clock stands at 1000 s: 16 min 50 s are 1010 s. What asks for nothing gets the usual wait.
    time = FakeTime()
    with s.scripted(s.status(429, headers={"Retry-After": value}), s.reply()) as server:
        llm_of(server, policy=RetryPolicy(first_wait=1), clock=time.clock()).chat(REQUEST)
    assert time.waits == [wait]


def test_close_ends_calls_in_flight() -> None:
    asked = threading.Event()

    def pause(handler: s.Handler) -> None:
        asked.set()
        handler.wait_for_client()

    with s.scripted(pause) as server, ThreadPoolExecutor(1) as pool:
        llm = llm_of(server)
        call = pool.submit(llm.chat, REQUEST)
        assert asked.wait(60)
        llm.close()
        with pytest.raises(LLMCancelledError):
            call.result(60)
        with pytest.raises(LLMCancelledError):
            llm.chat(REQUEST)
        assert llm.spending().failed == 2


def test_refusals_thoughts_and_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"text": "b"}]
    message = {"content": parts, "refusal": "No.", "reasoning_content": "hm"}
    with s.scripted(s.reply(None, message=message, finish_reason="length")) as server:
        answer = llm_of(server).chat(REQUEST)
    assert (answer.text, answer.refusal, answer.reasoning) == ("ab", "No.", "hm")
    assert answer.finish_reason == "length"


def test_a_server_that_does_not_stream() -> None:
    pieces: list[str | None] = []
    with s.scripted(s.status(400, "stream_options?"), s.reply("whole")) as server:
        assert llm_of(server).chat(REQUEST, on_delta=pieces.append).left_out == ()
    assert pieces == ["whole"]


def test_models_and_trying_out() -> None:
    listing = s.body(b'{"data": [{"id": "b"}, {"id": "a"}, {"x": 1}]}')
    steps = (listing, s.status(404), s.html(200), s.html(200), s.status(401), s.reply("ready"))
    with s.scripted(*steps) as server:
        llm = llm_of(server)
        assert llm.models() == ("a", "b")
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")
        assert llm.models() == ()  # no such list
        assert llm.models() == ()  # HTML, and again
        with pytest.raises(LLMRejectedError):
            llm.models()
        assert llm.try_out("b").text == "ready"


def vectors_of(request: dict[str, Any]) -> s.Step:
    """For each text its length and 1; out of order, as servers may."""
    data = [{"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(request["input"])]
    return s.body(json.dumps({"data": data[::-1], "usage": {"prompt_tokens": 9}}).encode())


def test_embeddings(answers: AnswerCache) -> None:
    with s.scripted(s.answering(vectors_of)) as server:
        llm = llm_of(server, answers)
        vectors = llm.embed("e", ["a", "bb", "ccc", "a"], batch_size=2)
        assert vectors.dtype == np.float32
        assert vectors.tolist() == [[1, 1], [2, 1], [3, 1], [1, 1]]
        assert [request.json["input"] for request in server.requests] == [["a", "bb"], ["ccc"]]
        assert llm.embedded("e", ["a", "dddd", "bb"]) == {"a", "bb"}
        assert llm.embedded("another", ["a"]) == llm_of(server).embedded("e", ["a"]) == frozenset()
        assert (len(server.requests), llm.spending().cached) == (2, 0)  # looking costs nothing
        assert llm.embed("e", ["ccc", "dddd"]).tolist() == [[3, 1], [4, 1]]
        assert server.requests[-1].json["input"] == ["dddd"]
        assert llm.embed("e", []).shape == (0, 0)
        spent = llm.spending()
        assert (spent.calls, spent.cached, spent.prompt_tokens, spent.completion_tokens) == (3, 1, 27, 0)


def test_embeddings_in_base64() -> None:
    packed = base64.b64encode(struct.pack("<2f", 1.5, -2)).decode()
    with s.scripted(s.body(b'{"data": [{"embedding": "%b"}]}' % packed.encode())) as server:
        assert llm_of(server).embed("e", ["a"]).tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([b'{"data": []}'], "the reply is no answer"),
        ([b"[]"], "the reply is no answer"),
        ([b'{"data": [{"embedding": [null]}]}'], "the reply is no answer"),
        ([b'{"data": [{"embedding": []}]}'], "the reply is no answer"),
        (
            [b'{"data": [{"embedding": [1, 2]}]}', b'{"data": [{"embedding": [1, 2, 3]}]}'],
            r"lengths \(2, 3\)",
        ),
    ],
)
def test_replies_without_usable_vectors(contents: list[bytes], words: str) -> None:
    with s.scripted(*map(s.body, contents)) as server:
        llm = LLM(Connection(server.url, "secret-key"), policy=RetryPolicy(first_wait=0))
        with pytest.raises(LLMAnswerError, match=words) as caught:
            llm.embed("model-of-secret-key", ["a", "b"], batch_size=1)
    assert "secret-key" not in str(caught.value)


def test_the_cap_in_calls_holds_among_threads() -> None:
    budget = Budget(calls=5)
    with s.scripted(s.reply()) as server, ThreadPoolExecutor(8) as pool:
        llm = llm_of(server, budget=budget)

        def asked(number: int) -> bool:
            try:
                llm.chat(replace(REQUEST, seed=number))
            except BudgetReachedError:
                return False
            return True

        assert sum(pool.map(asked, range(20))) == 5
        with pytest.raises(BudgetReachedError) as caught:
            llm.chat(REQUEST)
        assert caught.value.stops_run
        assert len(server.requests) == 5


def test_a_failed_call_costs_nothing() -> None:
    budget = Budget(calls=1)
    with s.scripted(s.status(400), s.reply()) as server:
        llm = llm_of(server, budget=budget)
        with pytest.raises(LLMRejectedError):
            llm.chat(REQUEST)
        assert llm.chat(REQUEST).text
    assert (budget.spent.calls, budget.spent.failed) == (1, 1)


def test_the_connection_in_force() -> None:
    outer, inner = Connection("http://a/v1"), Connection("http://b/v1", "typed-key")
    with using(outer):
        with using(inner):
            assert LLM().connection is current_connection() is inner
            context = contextvars.copy_context()
        assert current_connection() is outer
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(context.run, lambda: LLM().connection).result() is inner
        assert pool.submit(lambda: LLM().connection).result() not in (outer, inner)
