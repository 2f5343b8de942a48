"""What `transformers serve` 5.23 and llama-cpp-python 0.3.36 were seen to send, word for word but for the ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm import (
    LLM,
    AnswerCache,
    ChatRequest,
    Connection,
    Limits,
    Message,
    listed_models,
    one_word,
)
from tests.llm import server as s
from tests.llm.asking import chat, chats, vectors

REQUEST = ChatRequest("tiny/model", (Message("user", "Question"),))
EVENTS = "text/event-stream; charset=utf-8"
CRASHED = s.body(b"Internal Server Error", "text/plain; charset=utf-8", 500)
DONE = "data: [DONE]\n\n"


def asking(server: s.Scripted, store: Path | None = None, attempts: int = 8) -> LLM:
    answers = None if store is None else AnswerCache(open_store(store))
    limits = Limits(attempts=attempts, first_wait=0.001, give_up=0.5)
    return LLM(Connection(server.url, "sk-wrong-0123456789"), answers, limits=limits)


def event(delta: dict[str, str], finish_reason: str | None = None, **more: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice], **more})}\n\n"


def listing(*names: str) -> s.Step:
    models = [{"owned_by": "tiny", "id": name, "object": "model", "created": 1795258431.5} for name in names]
    return s.body(json.dumps({"object": "list", "data": models}).encode())


TRANSFORMERS = (  # the role without content, the count of tokens with the last choice, and no [DONE] at all
    'data: {"choices":[{"delta":{"role":"assistant"},"index":0}],"model":"tiny/model@main"}\n\n',
    'data: {"choices":[{"delta":{"content":"DECISION: "},"index":0}]}\n\n',
    'data: {"choices":[{"delta":{"content":"[1]"},"index":0}]}\n\n',
    event({}, "stop", usage={"completion_tokens": 2, "prompt_tokens": 7}),
)
LLAMA_CPP = (  # pings as comments, and nobody counts tokens: they are estimated, and that is said
    event({"role": "assistant"}),
    event({"content": "DECISION: "}),
    ": ping - 2026-11-21 11:03:25.000000+00:00\n\n",
    event({"content": "[1]"}),
    event({}, "stop") + DONE,
)

OPENAI = (  # the count of tokens in an event of its own, without choices
    event({"content": "DECISION: "}),
    event({"content": "[1]"}),
    event({}, "stop"),
    'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\n' + DONE,
)


@pytest.mark.parametrize(
    ("events", "tokens"), [(OPENAI, (7, 2)), (TRANSFORMERS, (7, 2)), (LLAMA_CPP, (None, None))]
)
def test_streams(events: tuple[str, ...], tokens: tuple[int | None, int | None]) -> None:
    pieces: list[str | None] = []
    with s.scripted(s.body("".join(events).encode(), EVENTS)) as server:
        llm = asking(server)
        answer = chat(llm, REQUEST, on_delta=pieces.append)
    assert (pieces, answer.text, answer.finish_reason) == (["DECISION: ", "[1]"], "DECISION: [1]", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens) == tokens
    assert (llm.budget.spent.calls, llm.budget.spent.estimated) == (1, tokens.count(None) // 2)


def test_a_stream_that_another_caller_ends(tmp_path: Path) -> None:
    # llama-cpp-python breaks a stream off when somebody else asks, and says [DONE] as if it were whole.
    cut = s.body((event({"content": "DECISION: [1, "}) + DONE).encode(), EVENTS)
    pieces: list[str | None] = []
    with s.scripted(cut, s.reply("DECISION: [1, 20]")) as server:
        llm = asking(server, tmp_path / "store.sqlite")
        answer = chat(llm, REQUEST, on_delta=pieces.append)
        assert chat(llm, REQUEST).text == answer.text
    first, second = server.requests
    assert first.json["stream"]
    assert not {"stream", "stream_options"} & set(second.json)
    assert pieces == ["DECISION: [1, ", None, "DECISION: [1, 20]"]
    assert (answer.text, answer.finish_reason, answer.attempts) == ("DECISION: [1, 20]", "stop", 2)
    with s.scripted(cut) as server:
        llm = asking(server, tmp_path / "store.sqlite")
        with pytest.raises(LLMAnswerError, match="ended before the answer did"):
            chat(llm, REQUEST, on_delta=lambda _: None)
        assert llm.known(REQUEST) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",  # llama-cpp-python, if the prompt is too long: it has promised a stream before it looks
        b'data: {"error": "The tensor "a" is too long"}\n\n',  # transformers quotes as it comes
    ],
)
def test_a_stream_that_cannot_say_why_it_fails(content: bytes) -> None:
    why = s.status(400, "This model's maximum context length is 512 tokens.", code="context_length_exceeded")
    with s.scripted(s.body(content, EVENTS), why) as server:
        with pytest.raises(LLMRejectedError, match="maximum context length is 512") as caught:
            chat(asking(server), REQUEST, on_delta=lambda _: None)
        assert not caught.value.stops_run
        assert len(server.requests) == 2


def asked(llm: LLM) -> object:
    return chat(llm, REQUEST)


def embedded(llm: LLM) -> object:
    return vectors(llm, "a")


def tried(llm: LLM) -> object:
    return one_word(llm.connection, "m")


INVALID_KEY = s.body(b'{"detail":"Invalid API key"}', code=401)
PINNED = s.body(b"{\"detail\":\"Server is pinned to 'a'; requested 'tiny/model'.\"}", code=400)
TOKEN_VECTORS = s.body(b'{"data":[{"embedding":[[1.0,2.0],[3.0,4.0]],"index":0}]}')
NO_EMBEDDINGS = s.status(
    500, "Llama model must be created with embedding=True to call this method", code=None
)


def test_a_wrong_name_in_calls_side_by_side() -> None:
    requests = [replace(REQUEST, seed=seed) for seed in range(40)]
    with s.scripted(CRASHED, listed=["tiny/b"]) as server:
        limits = Limits(concurrency=4, first_wait=0.2, give_up=1.0)
        outcomes = chats(LLM(Connection(server.url, "sk-x"), limits=limits), requests)
    assert any("lists no model of that name" in str(one) for one in outcomes), outcomes
    assert all(isinstance(one, LLMError) for one in outcomes)


@pytest.mark.parametrize(
    ("ask", "steps", "error", "words", "stops_run"),
    [
        # transformers serve loads models when they are asked for: whatever goes wrong then is 500, in plain text
        (
            asked,
            (CRASHED, CRASHED, listing("tiny/b")),
            LLMRejectedError,
            "no model of that name.*tiny/b",
            True,
        ),
        (tried, (CRASHED, listing("b")), LLMRejectedError, "lists no model", True),
        (
            tried,
            (CRASHED, s.reset(), listing("b")),
            LLMRejectedError,
            "lists no model",
            True,
        ),  # closed by a 500
        (asked, (PINNED,), LLMRejectedError, "pinned to 'a'", True),
        (asked, (INVALID_KEY,), LLMRejectedError, r"answers 401 \(Invalid API key\)", True),
        (embedded, (INVALID_KEY,), LLMRejectedError, r"answers 401 \(Invalid API key\)", True),
        (
            lambda llm: listed_models(llm.connection),
            (INVALID_KEY,),
            LLMRejectedError,
            r"answers 401 \(Invalid API key\)",
            True,
        ),
        # llama.cpp gives a vector for every token where the model has no pooling
        (embedded, (TOKEN_VECTORS,), LLMAnswerError, "a vector for every token", False),
        (embedded, (NO_EMBEDDINGS,), LLMRejectedError, "makes embeddings", True),
    ],
)
def test_errors(
    ask: Callable[[LLM], object],
    steps: tuple[s.Step, ...],
    error: type[LLMError],
    words: str,
    stops_run: bool,
) -> None:
    with s.scripted(*steps) as server, pytest.raises(error, match=words) as caught:
        ask(asking(server))
    assert caught.value.stops_run == stops_run
    assert "sk-wrong" not in str(caught.value)
    if error is LLMRejectedError:
        assert len(server.requests) == len(steps)


@pytest.mark.parametrize("model", ["tiny/choosing", "tiny"])
def test_a_listed_model_that_crashes_is_tried_to_the_end(model: str) -> None:
    models = listing("tiny/choosing", "tiny:latest")
    steps = (CRASHED, CRASHED, models, CRASHED, models)
    with s.scripted(*steps) as server, pytest.raises(LLMUnreachableError, match="tried 3 times"):
        chat(asking(server, attempts=3), ChatRequest(model, REQUEST.messages))


def test_a_model_that_has_answered_is_there_whatever_is_listed() -> None:
    with s.scripted(s.reply(), CRASHED, CRASHED, s.reply()) as server:
        llm = asking(server)
        chat(llm, REQUEST)
        assert chat(llm, ChatRequest("tiny/model", REQUEST.messages, seed=1)).attempts == 3
