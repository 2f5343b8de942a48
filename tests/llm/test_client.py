"""Asking, from the caller's side: what is sent, kept, counted, tried again and left out."""

from __future__ import annotations

import asyncio
import base64
import contextvars
import hashlib
import json
import struct
from collections.abc import Sequence
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
    LLMError,
    LLMRejectedError,
)
from evidencebench_core.llm import (
    LLM,
    Answer,
    AnswerCache,
    Budget,
    ChatRequest,
    Connection,
    EmbeddingRequest,
    Limits,
    Message,
    listed_models,
    one_word,
    using,
)
from evidencebench_core.llm.answers import Record, Writer, record_of
from evidencebench_core.llm.connection import current_connection
from evidencebench_core.llm.request import json_bytes
from tests.llm import server as s
from tests.llm.asking import chat, chats, vectors

REQUEST = ChatRequest("scripted", (Message("user", "Question"),))
LIMITS = Limits(first_wait=0.001)


@pytest.fixture
def answers(tmp_path: Path) -> AnswerCache:
    return AnswerCache(open_store(tmp_path / "store.sqlite"))


def llm_of(server: s.Scripted, answers: AnswerCache | None = None, **more: Any) -> LLM:
    return LLM(Connection(server.url, "secret"), answers, limits=more.pop("limits", LIMITS), **more)


# -- requests -------------------------------------------------------------------------------------


def test_what_is_sent() -> None:
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    with s.scripted(s.reply("Hi")) as server:
        answer = chat(llm_of(server), replace(REQUEST, max_tokens=7, extra=extra))
    (got,) = server.requests
    assert (got.method, got.path) == ("POST", "/v1/chat/completions")
    assert got.headers["authorization"] == "Bearer secret"
    assert got.json == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Question"}],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 7,
        **extra,
    }
    assert (answer.text, answer.finish_reason, answer.cached) == ("Hi", "stop", False)
    assert (answer.prompt_tokens, answer.completion_tokens) == (100, 10)


@pytest.mark.parametrize(
    ("address", "key", "words"),
    [
        (None, None, "no key is set"),
        ("localhost:8000", "secret", "not of the form"),
        ("ftp://host/v1", "secret", "not of the form"),
        ("http://", "secret", "not of the form"),
        ("http://host:port/v1", "secret", "not of the form"),
        ("http://127.0.0.1:1/v1", "a\r\nX-Header: b", "characters that are not allowed"),
    ],
)
def test_connections_that_cannot_be_used(address: str | None, key: str | None, words: str) -> None:
    with pytest.raises(LLMRejectedError, match=words) as caught:
        chat(LLM(Connection(address, key)), REQUEST)
    assert caught.value.stops_run
    assert "Set OPENAI_BASE_URL and OPENAI_API_KEY" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "message", "param", "renamed", "left_out"),
    [
        (400, "Unsupported value: 'temperature' does not support 0", None, {}, ("temperature",)),
        (400, "no", "seed", {}, ("seed",)),
        (400, "Extra inputs are not permitted: seed", None, {}, ("seed",)),
        (400, "use 'max_completion_tokens'", "max_tokens", {"max_completion_tokens": 9}, ()),
        (400, "no such thing", "response_format.type", {}, ("response_format",)),
        (400, "Unrecognized request argument supplied: top_p", None, {}, ("top_p",)),
        (500, "'loc': ('body', 'response_format', 'type'), 'msg': ...", None, {}, ("response_format",)),
    ],
)
def test_fields_that_a_server_does_not_take(
    status: int, message: str, param: str | None, renamed: dict[str, int], left_out: tuple[str, ...]
) -> None:
    request = replace(
        REQUEST, max_tokens=9, extra={"response_format": {"type": "json_schema"}, "top_p": 1, "n": 1}
    )
    with s.scripted(s.status(status, message, param=param), s.reply()) as server:
        llm = llm_of(server)
        assert chat(llm, request).left_out == left_out
        assert chat(llm, request).attempts == 1
        assert chat(llm, replace(request, model="another")).left_out == ()
    _, second, third, other = server.requests
    gone = {*left_out, "max_tokens"} if renamed else set(left_out)
    assert second.json == third.json == {k: v for k, v in request.body().items() if k not in gone} | renamed
    assert other.json == request.body() | {"model": "another"}


def test_a_400_that_names_nothing() -> None:
    with (
        s.scripted(s.status(400, "a bad number of names in it")) as server,  # "n" is in it, but no field
        pytest.raises(LLMRejectedError, match=r"400 \(a bad number") as caught,
    ):
        chat(llm_of(server), replace(REQUEST, extra={"n": 1}))
    assert not caught.value.stops_run
    assert len(server.requests) == 1


# -- answers --------------------------------------------------------------------------------------


def test_answers_are_kept(answers: AnswerCache) -> None:
    with s.scripted(s.reply("first"), s.reply("second"), s.status(500)) as server:
        llm = llm_of(server, answers)
        key = llm.key(REQUEST)
        assert llm.known(REQUEST) is None
        first = chat(llm, REQUEST)
        assert llm.known(REQUEST) == chat(llm, REQUEST) == replace(first, cached=True)
        assert first.key == key
        assert answers.known([key, "0" * 64]) == {key}
        assert chat(llm, REQUEST, fresh=True).text == "second"
        pieces: list[str | None] = []
        assert chat(llm, REQUEST, on_delta=pieces.append).text == "second"
        assert pieces == ["second"]
        assert len(server.requests) == 2
        assert answers.request(key) == REQUEST.body()
        assert (llm.budget.spent.calls, llm.budget.spent.cached) == (2, 2)
        with answers.store.read() as db:
            assert "secret" not in str(db.execute("SELECT * FROM llm_answers").fetchall())
    with s.scripted(s.reply()) as server:
        assert chat(llm_of(server), REQUEST).key == ""  # nothing keeps it


def test_everything_of_an_answer_is_kept(answers: AnswerCache) -> None:
    usage = {"prompt_tokens": 1, "prompt_tokens_details.cached_tokens": 1}
    answer = Answer(
        "t\ud800", "length", "no", 1, 2, 3.5, False, "hm", ("seed",), 4, "", "m-1", "fp", "id", usage
    )
    answers.keep([record_of("k", "m", json_bytes({"a": "\ud800"}), answer)])
    assert answers.replies("k") == {"k": replace(answer, cached=True, key="k")}
    assert answers.request("k") == {"a": "\ud800"}
    answers.keep([("old", "m", b"{}", {"text": "of a former version", "left_out": []})])
    assert answers.replies(["old"])["old"] == Answer("of a former version", cached=True, key="old")


def test_what_a_server_says_of_an_answer() -> None:
    document = s.completion("Hi") | {"model": "m-2026-01", "system_fingerprint": "fp_1"}
    document["usage"] |= {"prompt_tokens_details": {"cached_tokens": 64, "audio": None}, "cost": 0.1}
    parts = [{"type": "text", "text": "a"}, {"text": "b"}]
    message = {"content": parts, "refusal": "No.", "reasoning_content": "hm"}
    document["choices"][0] |= {"message": message, "finish_reason": "length"}
    with s.scripted(s.body(json.dumps(document).encode())) as server:
        answer = chat(llm_of(server), REQUEST)
    assert (answer.model, answer.fingerprint, answer.id) == ("m-2026-01", "fp_1", "chatcmpl-1")
    assert answer.usage == {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details.cached_tokens": 64,
    }
    assert (answer.text, answer.refusal, answer.reasoning) == ("ab", "No.", "hm")
    assert answer.finish_reason == "length"


AZURE = {
    "code": "content_filter",
    "message": "The response was filtered",
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}


@pytest.mark.parametrize(
    "step",
    [
        s.reply(None, finish_reason="content_filter"),
        s.body(json.dumps({"error": AZURE}).encode(), code=400),
        s.status(403, "blocked by our content policy"),
    ],
)
def test_a_content_filter_is_an_answer_whichever_way_it_comes(step: s.Step, answers: AnswerCache) -> None:
    with s.scripted(step) as server:
        for cached in (False, True):
            answer = chat(llm_of(server, answers), REQUEST)
            assert (answer.text, answer.finish_reason, answer.cached) == ("", "content_filter", cached)


def test_keys_tell_requests_apart() -> None:
    llm = LLM(Connection("http://a/v1", "x"))
    same = [LLM(Connection(url, "y")) for url in ("http://a/v1/", "http://user:pw@A/v1?api-key=7")]
    assert {llm.key(REQUEST)} == {other.key(REQUEST) for other in same}
    changes: list[dict[str, Any]] = [{"seed": 1}, {"temperature": None}, {"model": "b"}, {"extra": {"n": 1}}]
    keys = {llm.key(replace(REQUEST, **change)) for change in changes} | {
        llm.key(REQUEST),
        LLM(Connection("http://b/v1")).key(REQUEST),
    }
    assert len(keys) == 6


def test_keys_stay_what_they_are(answers: AnswerCache) -> None:
    # SHA-256 of the canonical JSON, written out: another value would make every kept answer a stranger.
    canonical = (
        b'{"address":"http://a/v1","body":{"messages":[{"content":"Question","role":"user"}],'
        b'"model":"scripted","seed":0,"temperature":0.0},"kind":"chat","version":1}'
    )
    llm = LLM(Connection("http://a/v1", "x"), answers)
    assert llm.key(REQUEST) == hashlib.sha256(canonical).hexdigest()
    vector = b'{"address":"http://a/v1","body":{"input":"a","model":"e"},"kind":"embedding","version":1}'
    packed = base64.b64encode(struct.pack("<2f", 1.5, -2)).decode()
    answers.keep([(hashlib.sha256(vector).hexdigest(), "e", b"{}", {"vector": packed})])
    known = llm.known(EmbeddingRequest("e", ("a", "a")))
    assert known is not None
    assert known.tolist() == [[1.5, -2.0]] * 2


def test_many_answers_at_once_are_all_in_the_store_when_their_askers_go_on(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server:
        llm = llm_of(server, answers, limits=Limits(16))

        async def asked(number: int) -> bool:
            answer = await llm.reply(replace(REQUEST, seed=number))
            return bool(answers.request(answer.key) == {**REQUEST.body(), "seed": number})

        async def all_of_them() -> list[bool]:
            async with llm:
                return await asyncio.gather(*map(asked, range(64)))

        assert all(asyncio.run(all_of_them()))
        assert len(server.requests) == 64


def test_an_answer_that_cannot_be_written_is_an_error_and_one_cut_short_is_written_in_the_end(
    answers: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def keep(records: Sequence[Record]) -> None:
        sizes.append(len(records))
        if len(sizes) == 1:
            raise OSError("disk full")
        AnswerCache.keep(answers, records)

    async def outcomes() -> list[BaseException | None]:
        writer = Writer(answers)
        records = [record_of(key, "m", b"{}", Answer("t")) for key in "abcd"]
        tasks = [asyncio.create_task(writer.keep([record])) for record in records]
        await asyncio.sleep(0)
        tasks[3].cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await writer.keep()
        return ended

    monkeypatch.setattr(answers, "keep", keep)
    first, *others, cut_short = asyncio.run(outcomes())
    assert isinstance(first, OSError)
    assert others == [None, None]
    assert isinstance(cut_short, asyncio.CancelledError)
    assert (answers.known("abcd"), sizes) == ({"b", "c", "d"}, [1, 3])


def test_one_question_by_many_at_once_is_asked_once(answers: AnswerCache) -> None:
    with s.scripted(s.reply()) as server, ThreadPoolExecutor(4) as pool:
        llms = [llm_of(server, AnswerCache(answers.store)) for _ in range(4)]
        asked = pool.map(lambda llm: chats(llm, [REQUEST] * 4), llms)
        assert {answer.text for some in asked for answer in some if isinstance(answer, Answer)} == {
            "DECISION: [1]"
        }
        assert len(server.requests) == 1


# -- streams --------------------------------------------------------------------------------------


def test_a_stream() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}, "model": "m-1"}
    events = (s.delta("DECI", reasoning_content="h"), s.delta("SION", reasoning_content="m"))
    pieces: list[str | None] = []
    with s.scripted(s.stream(*events, s.delta(None, "stop"), usage, then=s.stall())) as server:
        answer = chat(llm_of(server), REQUEST, on_delta=pieces.append)
    assert server.requests[0].json["stream"] is True
    assert pieces == ["DECI", "SION"]
    assert (answer.text, answer.reasoning, answer.prompt_tokens, answer.model) == ("DECISION", "hm", 5, "m-1")


def test_a_server_that_does_not_stream() -> None:
    pieces: list[str | None] = []
    with s.scripted(s.status(400, "stream_options?"), s.reply("whole")) as server:
        assert chat(llm_of(server), REQUEST, on_delta=pieces.append).left_out == ()
    assert pieces == ["whole"]


# -- cut off, trying out -------------------------------------------------------------------------


def test_a_call_that_is_cut_off_is_perhaps_billed() -> None:
    async def cut_off(llm: LLM) -> None:
        async with llm:
            await asyncio.wait_for(llm.reply(REQUEST), 0.3)

    with s.scripted(s.stall()) as server:
        llm = llm_of(server)
        with pytest.raises(TimeoutError):
            asyncio.run(cut_off(llm))
    assert (llm.budget.spent.calls, llm.budget.spent.perhaps_billed) == (0, 1)


def test_models_and_trying_out() -> None:
    listing = s.body(b'{"data": [{"id": "b"}, {"id": "a"}, {"x": 1}]}')
    no_limit = s.status(400, "use max_completion_tokens", param="max_tokens")
    steps = (listing, s.status(404), s.html(200), s.status(401), no_limit, s.reply("ready"), s.status(429))
    with s.scripted(*steps) as server:
        connection = Connection(server.url, "secret")
        assert listed_models(connection) == ("a", "b")
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")
        assert listed_models(connection) == ()  # no such list
        assert listed_models(connection) == ()  # HTML
        with pytest.raises(LLMRejectedError):
            listed_models(connection)
        assert one_word(connection, "b").text == "ready"
        with pytest.raises(LLMError, match="429"):
            one_word(connection, "b")
        assert len(server.requests) == 7  # nothing twice


# -- vectors --------------------------------------------------------------------------------------


def vectors_of(request: dict[str, Any]) -> s.Step:
    """For each text its length and 1; out of order, as servers may."""
    data = [{"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(request["input"])]
    return s.body(json.dumps({"data": data[::-1], "usage": {"prompt_tokens": 9}}).encode())


def test_embeddings(answers: AnswerCache) -> None:
    with s.scripted(s.answering(vectors_of)) as server:
        llm = llm_of(server, answers)
        found = vectors(llm, "a", "bb", "a", "")
        assert found.dtype == np.float32
        assert found.tolist() == [[1, 1], [2, 1], [1, 1], [1, 1]]
        assert server.requests[0].json == {
            "model": "e",
            "input": ["a", "bb", " "],  # servers refuse an empty text
            "encoding_format": "float",
        }
        request = EmbeddingRequest("e", ("a", "dddd", "bb"))
        assert llm.unknown_texts(request) == ("dddd",)
        assert llm.known(request) is None
        assert llm_of(server).unknown_texts(request) == request.texts
        assert (len(server.requests), llm.budget.spent.cached) == (1, 0)  # looking costs nothing
        assert vectors(llm, *request.texts).tolist() == [[1, 1], [4, 1], [2, 1]]
        assert server.requests[-1].json["input"] == ["dddd"]
        known = llm.known(request)
        assert known is not None
        assert known.tolist() == [[1, 1], [4, 1], [2, 1]]
        assert vectors(llm).shape == (0, 0)
        spent = llm.budget.spent
        assert (spent.calls, spent.cached, spent.prompt_tokens, spent.completion_tokens) == (2, 2, 18, 0)


@pytest.mark.parametrize(
    "content",
    [
        b'{"data": []}',
        b"[]",
        b'{"data": [{"embedding": [null]}, {"embedding": [1]}]}',
        b'{"data": [{"embedding": []}, {"embedding": []}]}',
        b'{"data": [{"embedding": [[1], [2]]}, {"embedding": [[1], [2]]}]}',
        b'{"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}',
    ],
)
def test_replies_without_usable_vectors(content: bytes) -> None:
    with s.scripted(s.body(content)) as server:
        llm = LLM(Connection(server.url, "secret-key"), limits=LIMITS)
        with pytest.raises(LLMAnswerError, match="the reply is no answer") as caught:
            vectors(llm, "a", "b")
    assert "secret-key" not in str(caught.value)


def test_a_key_that_is_echoed_is_in_no_answer_and_in_no_store(answers: AnswerCache) -> None:
    key = "sk-live-0123456789abcdef"
    echo = s.completion(f"Your key is {key}.", finish_reason=key) | {
        "model": f"of {key}",
        "id": key,
        "system_fingerprint": key,
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, key: 1},
    }
    echo["choices"][0]["message"]["reasoning_content"] = f"It came with {key}: password"
    with s.scripted(s.body(json.dumps(echo).encode())) as server:
        connection = Connection(server.url.replace("://", "://me:password@"), key)
        llm = LLM(connection, answers, limits=LIMITS)
        answer = chat(llm, REQUEST)
    assert (answer.text, answer.reasoning) == ("Your key is [key].", "It came with [key]: [key]")
    assert answer.prompt_tokens == 9
    for path in answers.store.path.parent.iterdir():
        assert key.encode() not in path.read_bytes()
    assert chat(llm, REQUEST) == replace(answer, cached=True)


def test_a_made_up_key_strikes_no_words_out_of_answers() -> None:
    with s.scripted(s.reply("The tests required ollama.")) as server:
        for key in ("test", "ollama", "sk-no-key-required"):
            text = chat(LLM(Connection(server.url, key), limits=LIMITS), REQUEST).text
            assert text == "The tests required ollama."


def test_a_model_that_has_changed_behind_its_name(answers: AnswerCache) -> None:
    first, second = b'{"data": [{"embedding": [1.5, -2]}]}', b'{"data": [{"embedding": [1, 2, 3]}]}'
    with s.scripted(s.body(first), s.body(second)) as server:
        llm = llm_of(server, answers)
        assert vectors(llm, "a").tolist() == [[1.5, -2.0]]
        with pytest.raises(LLMAnswerError, match=r"lengths \(2, 3\)"):
            vectors(llm, "a", "b")


# -- caps and connections -------------------------------------------------------------------------


def test_a_failed_call_costs_nothing() -> None:
    budget = Budget(calls=1)
    with s.scripted(s.status(400), s.reply()) as server:
        llm = llm_of(server, budget=budget)
        with pytest.raises(LLMRejectedError):
            chat(llm, REQUEST)
        assert chat(llm, REQUEST).text
    assert (budget.spent.calls, budget.spent.failed) == (1, 1)


def test_a_cap_counts_what_is_perhaps_billed() -> None:
    budget = Budget(calls=2)
    with (
        s.scripted(s.status(504)) as server,
        pytest.raises(BudgetReachedError, match="2 without an answer"),
    ):
        chat(llm_of(server, budget=budget), REQUEST)
    assert len(server.requests) == 2
    assert budget.spent.tokens > 0


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
