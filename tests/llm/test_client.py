"""Asking, from the caller's side: what is sent, kept, counted, tried again and left out."""

from __future__ import annotations

import base64
import contextvars
import hashlib
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


def test_no_key_and_no_address() -> None:
    with pytest.raises(LLMRejectedError, match="no key is set") as caught:
        LLM(Connection()).chat(REQUEST)
    assert caught.value.stops_run


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(LLMRejectedError, match="not of the form") as caught:
        LLM(Connection(address, "secret")).chat(REQUEST)
    assert caught.value.stops_run


def test_a_key_that_is_none() -> None:
    with s.scripted(s.reply()) as server, pytest.raises(LLMRejectedError, match="characters that no key has"):
        LLM(Connection(server.url, "a\r\nX-Header: b")).chat(REQUEST)


def test_answers_are_kept(answers: AnswerCache) -> None:
    with s.scripted(s.reply("first"), s.reply("second"), s.status(500)) as server:
        llm = llm_of(server, answers)
        assert not llm.cached(REQUEST)
        first = llm.chat(REQUEST)
        assert llm.cached(REQUEST)
        assert llm.chat(REQUEST) == replace(first, cached=True)
        assert llm.chat(REQUEST, fresh=True).text == "second"
        assert llm.chat(REQUEST).text == "second"
        pieces: list[str | None] = []
        llm.chat(REQUEST, on_delta=pieces.append)
        assert pieces == ["second"]
        assert len(server.requests) == 2
        assert answers.request(llm.key(REQUEST)) == REQUEST.body()
        assert (llm.spending().calls, llm.spending().cached) == (2, 3)
        with answers.store.read() as db:
            assert "secret" not in str(db.execute("SELECT * FROM llm_answers").fetchall())


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


def test_an_answer_says_under_which_key_it_is_kept(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server:
        llm = llm_of(server, answers)
        key = llm.key(REQUEST)
        assert [llm.chat(REQUEST).key for _ in range(2)] == [key, key]
        assert answers.known([key, "0" * 64]) == {key}
        assert llm_of(server).chat(REQUEST).key == ""  # nothing keeps it


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
        answers.keep_records("m", [(object(), b"{}", {})])  # type: ignore[list-item]
    answers.keep("good", "m", b"{}", Answer("t"))
    assert answers.known(["good", "bad"]) == {"good"}


def test_one_question_by_many_threads_is_asked_once(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server, ThreadPoolExecutor(16) as pool:
        llms = [llm_of(server, AnswerCache(answers.store)) for _ in range(16)]
        texts = set(pool.map(lambda llm: llm.chat(REQUEST).text, llms))
        assert (len(texts), len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("message", "more", "left_out"),
    [
        ("Unsupported value: 'temperature' does not support 0", {}, ("temperature",)),
        ("no", {"param": "seed"}, ("seed",)),
        ("Extra inputs are not permitted: seed", {}, ("seed",)),
    ],
)
def test_fields_that_a_server_does_not_take(
    message: str, more: dict[str, str], left_out: tuple[str, ...]
) -> None:
    with s.scripted(s.status(400, message, **more), s.reply()) as server:
        llm = llm_of(server)
        assert llm.chat(REQUEST).left_out == left_out
        assert llm.chat(REQUEST).attempts == 1
    _, second, third = server.requests
    assert second.json == third.json == {k: v for k, v in REQUEST.body().items() if k not in left_out}


def test_the_new_name_of_max_tokens() -> None:
    step = s.status(400, "'max_tokens' is not supported: use 'max_completion_tokens'", param="max_tokens")
    with s.scripted(step, s.reply()) as server:
        assert llm_of(server).chat(replace(REQUEST, max_tokens=9)).left_out == ()
    assert server.requests[1].json["max_completion_tokens"] == 9
    assert "max_tokens" not in server.requests[1].json


def test_a_400_that_names_nothing() -> None:
    with (
        s.scripted(s.status(400, "bad")) as server,
        pytest.raises(LLMRejectedError, match=r"400 \(bad\)") as caught,
    ):
        llm_of(server).chat(REQUEST)
    assert not caught.value.stops_run
    assert len(server.requests) == 1


def test_waits_double_and_end_with_the_attempts() -> None:
    time = FakeTime()
    policy = RetryPolicy(attempts=6, first_wait=1, longest_wait=5)
    with s.scripted(s.status(503)) as server, pytest.raises(LLMUnreachableError, match="tried 6 times"):
        llm_of(server, policy=policy, clock=time.clock()).chat(REQUEST)
    assert time.waits == [1, 2, 4, 5, 5]


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


def test_the_time_for_a_call_ends_it() -> None:
    # Waits of 1, 2 and 4 s would end at 7 s; after 3 s the next is not begun.
    time = FakeTime()
    policy = RetryPolicy(first_wait=1, total_seconds=6)
    with (
        s.scripted(s.status(503)) as server,
        pytest.raises(LLMUnreachableError, match="6 s for a call are used up"),
    ):
        llm_of(server, policy=policy, clock=time.clock()).chat(REQUEST)
    assert time.waits == [1, 2]


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
    message = {
        "content": [{"type": "text", "text": "a"}, {"text": "b"}],
        "refusal": "No.",
        "reasoning_content": "hm",
    }
    with s.scripted(s.reply(None, message=message, finish_reason="length")) as server:
        answer = llm_of(server).chat(REQUEST)
    assert (answer.text, answer.refusal, answer.reasoning, answer.finish_reason) == (
        "ab",
        "No.",
        "hm",
        "length",
    )


def test_a_stream(answers: AnswerCache) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    events = s.stream(s.delta("DECI"), s.delta("SION: [1]"), s.delta(None, "stop"), usage)
    pieces: list[str | None] = []
    with s.scripted(events) as server:
        answer = llm_of(server, answers).chat(REQUEST, on_delta=pieces.append)
    assert server.requests[0].json["stream"] is True
    assert (pieces, answer.text) == (["DECI", "SION: [1]"], "DECISION: [1]")
    assert (answer.prompt_tokens, answer.completion_tokens) == (5, 2)


def test_a_server_that_does_not_stream() -> None:
    pieces: list[str | None] = []
    with s.scripted(s.status(400, "stream_options?"), s.reply("whole")) as server:
        assert llm_of(server).chat(REQUEST, on_delta=pieces.append).left_out == ()
    assert pieces == ["whole"]


def test_models_and_trying_out() -> None:
    listing = s.body(b'{"data": [{"id": "b"}, {"id": "a"}, {"x": 1}]}')
    with s.scripted(listing, s.status(404), s.html(200), s.status(401), s.reply("ready")) as server:
        llm = llm_of(server)
        assert llm.models() == ("a", "b")
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")
        assert llm.models() == ()
        server.server.steps[2:] = [s.html(200), s.html(200), s.status(401), s.reply("ready")]
        assert llm.models() == ()
        with pytest.raises(LLMRejectedError):
            llm.models()
        assert llm.try_out("b").text == "ready"


def vectors_of(request: dict[str, Any]) -> s.Step:
    """For each text its length and 1; out of order, as servers may."""
    import json

    data = [{"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(request["input"])]
    return s.body(json.dumps({"data": data[::-1], "usage": {"prompt_tokens": 9}}).encode())


def test_embeddings(answers: AnswerCache) -> None:
    with s.scripted(s.answering(vectors_of)) as server:
        llm = llm_of(server, answers)
        texts = ["a", "bb", "ccc", "a"]
        vectors = llm.embed("e", texts, batch_size=2)
        assert vectors.dtype == np.float32
        assert vectors.tolist() == [[1, 1], [2, 1], [3, 1], [1, 1]]
        assert [request.json["input"] for request in server.requests] == [["a", "bb"], ["ccc"]]
        assert llm.embed("e", ["ccc", "dddd"]).tolist() == [[3, 1], [4, 1]]
        assert server.requests[-1].json["input"] == ["dddd"]
        assert llm.embed("e", []).shape == (0, 0)
        spent = llm.spending()
        assert (spent.calls, spent.cached, spent.prompt_tokens, spent.completion_tokens) == (3, 1, 27, 0)


def test_which_vectors_are_kept(answers: AnswerCache) -> None:
    with s.scripted(s.answering(vectors_of)) as server:
        llm = llm_of(server, answers)
        llm.embed("e", ["a", "bb"])
        assert llm.embedded("e", ["a", "ccc", "bb"]) == {"a", "bb"}
        assert llm.embedded("another", ["a"]) == frozenset()
        assert llm_of(server).embedded("e", ["a"]) == frozenset()
        assert len(server.requests) == 1
        assert llm.spending().cached == 0  # looking costs nothing and counts nothing


def test_vectors_of_different_lengths_and_no_key_in_the_error(answers: AnswerCache) -> None:
    replies = [s.body(b'{"data": [{"embedding": %b}]}' % one) for one in (b"[1, 2]", b"[1, 2, 3]")]
    with s.scripted(*replies) as server:
        llm = LLM(Connection(server.url, "secret-key"), answers)
        with pytest.raises(LLMAnswerError, match=r"different lengths \(2, 3\)") as caught:
            llm.embed("model-of-secret-key", ["a", "b"], batch_size=1)
    assert "secret-key" not in str(caught.value)


def test_embeddings_in_base64() -> None:
    packed = base64.b64encode(struct.pack("<2f", 1.5, -2)).decode()
    with s.scripted(s.body(b'{"data": [{"embedding": "%b"}]}' % packed.encode())) as server:
        assert llm_of(server).embed("e", ["a"]).tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    "content",
    [b'{"data": []}', b"{}", b"[]", b'{"data": [{"embedding": [null]}]}', b'{"data": [{"embedding": []}]}'],
)
def test_replies_without_vectors(content: bytes) -> None:
    with s.scripted(s.body(content)) as server, pytest.raises(Exception, match="the reply is no answer"):
        llm_of(server, policy=RetryPolicy(first_wait=0)).embed("e", ["a"])


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
    mine = Connection("http://mine/v1", "typed-key")
    with using(mine):
        assert LLM().connection is mine
        context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(context.run, lambda: LLM().connection).result() is mine
        assert pool.submit(lambda: LLM().connection).result() is not mine


def test_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply("through")) as server:
        host = server.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"http://user:pw@{host}")
        monkeypatch.setenv("no_proxy", "")
        assert LLM(Connection("http://far.example/v1", "k")).chat(REQUEST).text == "through"
    (got,) = server.requests
    assert got.path == "http://far.example/v1/chat/completions"
    assert got.headers["proxy-authorization"] == "Basic " + base64.b64encode(b"user:pw").decode()
