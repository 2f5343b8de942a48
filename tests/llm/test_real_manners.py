"""What `transformers serve` 5.23 and llama-cpp-python 0.3.36 were seen to send, word for word but for the ids.

`tests/llm/real` asks the servers themselves; here their manners are kept for where they are not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import LLMAnswerError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm import LLM, AnswerCache, ChatRequest, Clock, Connection, Message, RetryPolicy
from tests.llm import server as s

REQUEST = ChatRequest("tiny/model", (Message("user", "Question"),))
EVENTS = "text/event-stream; charset=utf-8"
LISTING = s.body(
    b'{"object":"list","data":[{"owned_by":"tiny","id":"tiny/choosing","object":"model","created":1795258431.5}]}'
)
CRASHED = s.body(b"Internal Server Error", "text/plain; charset=utf-8", 500)


def asking(server: s.Scripted, store: Path | None = None, attempts: int = 8) -> LLM:
    policy = RetryPolicy(attempts=attempts)
    answers = None if store is None else AnswerCache(open_store(store))
    return LLM(Connection(server.url), answers, policy, clock=Clock(sleep=lambda _: None))


def llama_event(delta: dict[str, str], finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    event = {"id": "chatcmpl-1", "model": "m", "object": "chat.completion.chunk", "choices": [choice]}
    return f"data: {json.dumps(event)}\n\n"


def test_a_stream_of_transformers() -> None:
    # The role comes without content, the count of tokens with the last choice, and no [DONE] at all.
    head, tail = b'data: {"id":"1","choices":[{"delta":', b',"object":"chat.completion.chunk"}\n\n'
    content = b"".join(
        [
            head + b'{"role":"assistant"},"index":0}],"model":"tiny/model@main"' + tail,
            head + b'{"content":"DECISION: "},"index":0}]' + tail,
            head + b'{"content":"[1]"},"index":0}]' + tail,
            head
            + b'{},"index":0,"finish_reason":"stop"}],"usage":{"completion_tokens":2,"prompt_tokens":7}'
            + tail,
        ]
    )
    pieces: list[str | None] = []
    with s.scripted(s.body(content, EVENTS)) as server:
        answer = asking(server).chat(REQUEST, on_delta=pieces.append)
    assert (pieces, answer.text, answer.finish_reason) == (["DECISION: ", "[1]"], "DECISION: [1]", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 2)


def test_a_stream_of_llama_cpp() -> None:
    # Pings come as comments, and nobody counts tokens: they are estimated, and that is said.
    content = (
        llama_event({"role": "assistant"})
        + llama_event({"content": "DECISION"})
        + ": ping - 2026-11-21 11:03:25.000000+00:00\n\n"
        + llama_event({"content": ": [1]"})
        + llama_event({}, "stop")
        + "data: [DONE]\n\n"
    )
    pieces: list[str | None] = []
    with s.scripted(s.body(content.encode(), EVENTS)) as server:
        llm = asking(server)
        answer = llm.chat(REQUEST, on_delta=pieces.append)
    assert (pieces, answer.text) == (["DECISION", ": [1]"], "DECISION: [1]")
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)
    assert (llm.spending().calls, llm.spending().estimated) == (1, 1)


def test_a_stream_that_another_caller_ends(tmp_path: Path) -> None:
    # llama-cpp-python breaks a stream off when somebody else asks, and says [DONE] as if it were whole.
    cut = llama_event({"role": "assistant"}) + llama_event({"content": "DECISION: [1, "}) + "data: [DONE]\n\n"
    pieces: list[str | None] = []
    with s.scripted(s.body(cut.encode(), EVENTS), s.reply("DECISION: [1, 20]")) as server:
        llm = asking(server, tmp_path / "store.sqlite")
        answer = llm.chat(REQUEST, on_delta=pieces.append)
        assert llm.chat(REQUEST).text == answer.text
    first, second = server.requests
    assert first.json["stream"]
    assert "stream" not in second.json
    assert "stream_options" not in second.json
    assert pieces == ["DECISION: [1, ", None, "DECISION: [1, 20]"]
    assert (answer.text, answer.finish_reason, answer.attempts) == ("DECISION: [1, 20]", "stop", 2)


def test_a_stream_that_is_always_cut_is_no_answer(tmp_path: Path) -> None:
    cut = llama_event({"content": "DECISION: [1]"}) + "data: [DONE]\n\n"
    with s.scripted(s.body(cut.encode(), EVENTS)) as server:
        llm = asking(server, tmp_path / "store.sqlite")
        with pytest.raises(LLMAnswerError, match="ended before the answer did"):
            llm.chat(REQUEST, on_delta=lambda _: None)
        assert not llm.cached(REQUEST)


@pytest.mark.parametrize(
    "content",
    [
        b"",  # llama-cpp-python, if the prompt is too long: it has promised a stream before it looks
        b'data: {"error": "The tensor "a" is too long"}\n\n',  # transformers quotes as it comes
    ],
)
def test_a_stream_that_cannot_say_why_it_fails(content: bytes) -> None:
    why = s.status(
        400,
        "This model's maximum context length is 512 tokens. However, you requested 6006 tokens "
        "(6006 in the messages, None in the completion). Please reduce the length of the messages or completion.",
        type="invalid_request_error",
        param="messages",
        code="context_length_exceeded",
    )
    with s.scripted(s.body(content, EVENTS), why) as server:
        with pytest.raises(LLMRejectedError, match="maximum context length is 512") as caught:
            asking(server).chat(REQUEST, on_delta=lambda _: None)
        assert not caught.value.stops_run
        assert len(server.requests) == 2


def test_a_wrong_name_that_crashes_the_server() -> None:
    # transformers serve loads models when they are asked for: whatever goes wrong then is 500, in plain text.
    with s.scripted(CRASHED, CRASHED, LISTING) as server:
        with pytest.raises(LLMRejectedError, match="lists no model of that name") as caught:
            asking(server).chat(REQUEST)
        assert caught.value.stops_run
        assert "tiny/choosing" in str(caught.value)
        assert [request.path for request in server.requests] == [*["/v1/chat/completions"] * 2, "/v1/models"]


def test_a_wrong_name_when_it_is_tried_out() -> None:
    with s.scripted(CRASHED, LISTING) as server, pytest.raises(LLMRejectedError, match="lists no model"):
        asking(server).try_out("tiny/model")


@pytest.mark.parametrize("model", ["tiny/choosing", "tiny"])
def test_a_listed_model_that_crashes_is_tried_to_the_end(model: str) -> None:
    listing = s.body(b'{"data": [{"id": "tiny/choosing"}, {"id": "tiny:latest"}]}')
    steps = (CRASHED, CRASHED, listing, CRASHED, listing)
    with s.scripted(*steps) as server, pytest.raises(LLMUnreachableError, match="tried 3 times"):
        asking(server, attempts=3).chat(ChatRequest(model, REQUEST.messages))


def test_a_model_that_has_answered_is_there_whatever_is_listed() -> None:
    with s.scripted(s.reply(), CRASHED, CRASHED, s.reply()) as server:
        llm = asking(server)
        llm.chat(REQUEST)
        assert llm.chat(ChatRequest("tiny/model", REQUEST.messages, seed=1)).attempts == 3


def test_a_server_with_one_model_asked_for_another() -> None:
    detail = json.dumps({"detail": "Server is pinned to 'a'; requested 'tiny/model'."}).encode()
    with s.scripted(s.body(detail, code=400)) as server:
        with pytest.raises(LLMRejectedError, match="pinned to 'a'") as caught:
            asking(server).chat(REQUEST)
        assert caught.value.stops_run


def test_a_key_that_llama_cpp_does_not_take() -> None:
    with s.scripted(s.body(b'{"detail":"Invalid API key"}', code=401)) as server:
        llm = LLM(Connection(server.url, "sk-wrong-0123456789"))
        for ask in (lambda: llm.chat(REQUEST), llm.models, lambda: llm.embed("e", ["a"])):
            with pytest.raises(LLMRejectedError, match=r"answers 401 \(Invalid API key\)") as caught:
                ask()
            assert caught.value.stops_run
            assert "wrong" not in str(caught.value)


def test_vectors_of_tokens() -> None:
    # llama.cpp gives one for every token where the model has no pooling.
    content = b'{"object":"list","data":[{"object":"embedding","embedding":[[1.0,2.0],[3.0,4.0]],"index":0}]}'
    with (
        s.scripted(s.body(content)) as server,
        pytest.raises(LLMAnswerError, match="a vector for every token"),
    ):
        asking(server).embed("e", ["a"])


def test_a_model_that_makes_no_embeddings() -> None:
    words = "Llama model must be created with embedding=True to call this method"
    with s.scripted(s.status(500, words, type="internal_server_error", param=None, code=None)) as server:
        with pytest.raises(LLMRejectedError, match="makes embeddings") as caught:
            asking(server).embed("e", ["a"])
        assert caught.value.stops_run
        assert len(server.requests) == 1
