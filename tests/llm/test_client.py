"""Questions to a scripted server: stored, retried, refused, capped, paced; keys struck out."""

import gzip
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from evidencebench_core import errors
from evidencebench_core.data.store import Store
from evidencebench_core.llm import (
    LLM,
    Budget,
    Connection,
    Message,
    answer_of,
    listed_models,
    rehearse,
    results,
)
from evidencebench_core.llm.answers import request_of
from evidencebench_core.retrievers.dense import embeddings
from tests.llm.server import Scripted, answering, body, completion, reply, reset, scripted, stall, status

KEY = "sk-verysecret0123456789"


def question(text: str = "why?", **more: Any) -> Callable[[LLM], Awaitable[Any]]:
    return lambda llm: llm.chat([Message("user", text)], model="m", **more)


def llm_of(server: Scripted, store: Store | None = None, **more: Any) -> LLM:
    return LLM(Connection(server.url, KEY), store, **more)


def answers_of(llm: LLM, *pieces: Callable[[LLM], Awaitable[Any]]) -> list[Any]:
    """Results and errors, in the order of the pieces."""
    found = dict(item for batch in results(llm, enumerate(pieces)) for item in batch)
    return [found.get(number) for number in range(len(pieces))]


def ask_many(llm: LLM, n: int = 50, **more: Any) -> None:
    """So many questions."""
    list(results(llm, [(number, question(str(number), **more)) for number in range(n)]))


def test_an_answer_is_asked_for_once_wherever_its_server_is(store: Store) -> None:
    with scripted(reply("because", finish_reason="stop")) as server:
        first = answer_of(llm_of(server, store), question(temperature=0.0, seed=None))
        assert (first.text, first.finish_reason, first.cached) == ("because", "stop", False)
        sent = {"model": "m", "messages": [{"role": "user", "content": "why?"}], "temperature": 0.0}
        assert request_of(store, first.key) == server.requests[0].json == sent
    with scripted(reply("otherwise")) as elsewhere:
        llm = llm_of(elsewhere, store)
        again = answer_of(llm, question(temperature=0.0))
        assert (again.text, again.cached, again.prompt_tokens) == ("because", True, 100)
        assert (llm.budget.spent.calls, llm.budget.spent.cached) == (0, 1)
        assert answer_of(llm, question(temperature=1.0)).text == "otherwise"
        assert answer_of(llm_of(elsewhere, store, fresh=True), question(temperature=0.0)).text == "otherwise"
        assert len(elsewhere.requests) == 2


def test_equal_questions_at_once_are_one_call(store: Store) -> None:
    with scripted(reply("one")) as server:
        answers = answers_of(llm_of(server, store), *[question()] * 5)
        assert [answer.text for answer in answers] == ["one"] * 5
        assert len(server.requests) == 1


def test_vectors_are_kept_part_by_part(store: Store) -> None:
    def vectors(request: dict[str, Any]) -> Any:
        data = [{"index": n, "embedding": [len(text), 0.5]} for n, text in enumerate(request["input"])]
        return body(json.dumps({"data": data[::-1], "usage": {"prompt_tokens": 3}}).encode())

    paper = ["", *["bbb"] * 63, "cc"]
    with scripted(answering(vectors)) as server:
        llm = llm_of(server, store)
        first = answer_of(llm, lambda llm: embeddings(llm, "e", ["a", *paper]))
        assert first.dtype == np.float32
        assert first.tolist() == [[1, 0.5], [1, 0.5], *[[3, 0.5]] * 63, [2, 0.5]]
        answer_of(llm, lambda llm: embeddings(llm, "e", ["another", *paper]))
        sent = [request.json["input"] for request in server.requests]
        # the empty text is sent as a blank, and of a second hypothesis only itself
        assert sorted(sent) == [[" ", *["bbb"] * 63], ["a"], ["another"], ["cc"]]
        (result,), cost = rehearse(llm, lambda llm: embeddings(llm, "e", ["new", *paper]))
        assert result is None
        assert (cost.calls, cost.cached, cost.tokens) == (1, 2, 1 + 4)
        assert llm.budget.spent.tokens == 4 * 3


def test_an_answer_that_cannot_be_kept_ends_the_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise errors.StoreError("store", "cannot be written: the disk is full", "Free some space.")

    monkeypatch.setattr(store, "write", full)
    with scripted(reply("a")) as server, pytest.raises(errors.LLMError, match="disk is full") as caught:
        ask_many(llm_of(server, store))
    assert caught.value.stops_run
    assert len(server.requests) <= 9


def test_what_passes_is_asked_again() -> None:
    later = status(503, headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})
    with scripted(later, reset(), reply("at last")) as server:
        llm = llm_of(server)
        assert answer_of(llm, question()).text == "at last"
        assert (len(server.requests), llm.budget.spent.calls) == (3, 1)


@pytest.mark.parametrize(
    ("step", "kind", "words", "n_requests"),
    [
        *((status(n, f"no such {KEY}"), errors.LLMRejectedError, "no such", 1) for n in (401, 403, 404)),
        (status(400, "odd", param=["odd"]), errors.LLMRejectedError, "odd", 10),  # ten in a row
        (body(b"<html>"), errors.LLMAnswerError, None, 10),
        (status(429, "no money left", code="insufficient_quota"), errors.LLMUnreachableError, None, 1),
        (status(503, "come again", headers={"Retry-After": "31536000"}), errors.LLMUnreachableError, None, 1),
        # values that are refused
        (status(400, "too large", param="max_tokens", code="bad"), errors.LLMRejectedError, "too large", 1),
        (status(400, "too large", param="max_completion_tokens"), errors.LLMRejectedError, "too large", 1),
        (status(400, "must be below 1", param="temperature"), errors.LLMRejectedError, "must be below 1", 1),
        (status(400, param="temperature", code="unsupported_parameter"), errors.LLMRejectedError, None, 2),
    ],
)
def test_what_ends_a_run(step: Any, kind: type[errors.LLMError], words: str | None, n_requests: int) -> None:
    with scripted(step) as server:
        with pytest.raises(kind, match=words) as caught:
            ask_many(llm_of(server, concurrency=1), temperature=1.0, max_tokens=100_000)
        assert caught.value.stops_run
        assert KEY not in str(caught.value)
        assert len(server.requests) == n_requests


def test_prompts_that_are_too_long_fail_alone() -> None:
    def by_length(request: dict[str, Any]) -> Any:
        too_long = len(request["messages"][0]["content"]) > 10
        return status(400, "maximum context length exceeded") if too_long else reply("fits")

    texts = ["short", *["x" * (20 + n) for n in range(20)], "brief"]
    with scripted(answering(by_length)) as server:
        llm = llm_of(server, concurrency=1)
        first, *refused, last = answers_of(llm, *map(question, texts))
        assert (first.text, last.text) == ("fits", "fits")
        assert {type(error) for error in refused} == {errors.LLMRejectedError}
        assert not any(error.stops_run for error in refused)
        assert llm.budget.spent.calls == 2


def test_half_a_surrogate_pair_is_sent_and_kept_as_one_odd_character(store: Store) -> None:
    odd = json.dumps(completion("tea \ud83d")).encode()  # escaped, as a server may
    with scripted(body(odd)) as server:
        answers = [answer_of(llm_of(server, store), question("why \udc00\ud83c\udf75?")) for _ in range(2)]
        assert [answer.text for answer in answers] == ["tea \ufffd"] * 2
        (request,) = server.requests
        assert request.json["messages"][0]["content"] == "why \ufffd\U0001f375?"


def test_a_server_that_is_not_there_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidencebench_core.llm.http._RETRIES_AT_FIRST", 0)
    with pytest.raises(errors.LLMUnreachableError):
        ask_many(LLM(Connection("http://127.0.0.1:9/v1", KEY)))


HERE = "http://127.0.0.1:9/v1"
KEYS = [f"{KEY}\nsecond", "sk-\u2013secret0123", "sk secret"]


@pytest.mark.parametrize(
    "connection", [Connection(), Connection("ftp://h/v1", KEY), *(Connection(HERE, key) for key in KEYS)]
)
def test_a_server_that_cannot_be_asked_is_refused_in_one_line_without_the_key(connection: Connection) -> None:
    with pytest.raises(errors.SettingError) as caught:
        answer_of(LLM(connection), question())
    assert not any(part in str(caught.value) for part in ("secret", "second", "\n"))


def test_of_an_answer_parts_are_joined_and_keys_struck_out(store: Store) -> None:
    parts = [{"type": "text", "text": f"{KEY} DECI"}, {"type": "text", "text": "SION"}, "?"]
    with scripted(reply(None, message={"content": parts}, finish_reason=f"stop {KEY}")) as server:
        answer = answer_of(llm_of(server, store), question())
    assert (answer.text, answer.finish_reason) == ("[key] DECISION", "stop [key]")
    assert KEY.encode() not in store.path.read_bytes()


@pytest.mark.parametrize("code", [200, 404])
@pytest.mark.parametrize(
    "content", [b"Router\npassword: hunter2", b'{"error": {"message": "Router\\npassword: hunter2"}}']
)
def test_of_another_page_only_the_first_line_is_shown(code: int, content: bytes) -> None:
    with scripted(body(content, code=code)) as server:
        with pytest.raises(errors.LLMError) as caught:
            answer_of(llm_of(server), question())
        assert "hunter2" not in str(caught.value)


def test_the_models_that_a_server_lists() -> None:
    with scripted(reply(), listed=["b", "a"]) as server:
        assert listed_models(Connection(server.url, KEY)) == ("a", "b")
    with scripted(status(404)) as server:
        assert listed_models(Connection(server.url, KEY)) == ()
    with scripted(status(401)) as server, pytest.raises(errors.LLMRejectedError):
        listed_models(Connection(server.url, KEY))


COUNTS = [(math.nan, math.inf), ("7", 2.25), (-(10**9), True), (10**300, [1])]


def test_a_paid_answer_is_kept_whatever_its_usage_says(store: Store) -> None:
    usages = [{"prompt_tokens": n, "completion_tokens": m} for n, m in COUNTS]
    replies = [completion("paid") | {"usage": usage} for usage in (*usages, "lots", [1, 2], None)]
    with scripted(*(body(json.dumps(sent).encode()) for sent in replies)) as server:
        for number in range(2 * len(replies)):
            answer = answer_of(llm_of(server, store), question(f"why {number // 2}?"))
            assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("paid", None, None)
        assert len(server.requests) == len(replies)


def endless(handler: Any) -> None:
    """A body without an end."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.wait_for_client(0):
        handler.wfile.write(b" " * (1 << 20))


def test_what_is_no_answer_is_one_that_failed_and_was_paid(store: Store) -> None:
    pages = (b"<html>", b'{"choices": []}', b'{"choices": [{"message": []}]}', b"[" * 200_000, b"null")
    zipped = body(gzip.compress(b" " * (128 << 20), 9), headers={"Content-Encoding": "gzip"})
    for step in (*map(body, pages), endless, zipped):
        with scripted(step) as server:
            llm = llm_of(server, store, budget=Budget(calls=3))
            (failure,) = answers_of(llm, question(max_tokens=10))
            assert isinstance(failure, errors.LLMAnswerError)
            assert llm.budget.spent.calls == len(server.requests) == 1


def test_what_a_server_does_not_know_is_left_out_or_renamed_and_said() -> None:
    def picky(request: dict[str, Any]) -> Any:
        for name in ("temperature", "max_tokens"):
            if name in request:
                return status(400, "unsupported", param=name, code="unsupported_parameter")
        unknown = "reasoning_effort" in request
        return status(400, "Unrecognized request argument: reasoning_effort") if unknown else reply("fine")

    with scripted(answering(picky)) as server:
        llm = llm_of(server, concurrency=1)
        parameters = {"temperature": 0.0, "max_tokens": 7, "reasoning_effort": "low"}
        answers = answers_of(llm, *(question(str(n), **parameters) for n in range(20)))
        assert {answer.left_out for answer in answers} == {("reasoning_effort", "temperature")}
        assert server.requests[-1].json["max_completion_tokens"] == 7
        assert all(name in llm.note for name in parameters)
        assert len(server.requests) == 20 + 3  # learnt once


def test_a_silent_server_is_told_and_a_slow_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidencebench_core.llm.http._SILENCE_AT_FIRST", 0.05)
    monkeypatch.setattr("evidencebench_core.llm.http._PRESENCE", 0.3)
    with scripted(stall()) as server, pytest.raises(errors.LLMUnreachableError) as caught:
        ask_many(llm_of(server))
    assert caught.value.stops_run
    monkeypatch.setattr("evidencebench_core.llm.http._SILENCE", 0.5)
    with scripted(reply("here"), stall(), listed=["m"]) as server:  # it lists its models meanwhile
        llm = llm_of(server, concurrency=1)
        with pytest.raises(errors.LLMUnreachableError, match="has not answered a call"):
            ask_many(llm)
        assert llm.budget.spent.calls == 1


def test_stopped_it_begins_nothing() -> None:
    with scripted(reply("a")) as server, pytest.raises(errors.LLMCancelledError):
        answer_of(llm_of(server), question(), stopped=lambda: True)
    assert server.requests == []


def test_a_dry_run_counts_and_sends_nothing(store: Store) -> None:
    async def two(llm: LLM) -> str:
        first = await llm.chat([Message("user", "12345678")], model="m", max_tokens=9, rehearsal="then")
        return (await llm.chat([Message("user", first.text)], model="m")).text

    with scripted(reply("then"), reply("done")) as server:
        llm = llm_of(server, store)
        (result,), cost = rehearse(llm, two)
        # prompts of 8 and 4 characters, 4 tokens a turn; answers of 9 and, as nothing is said, 800
        assert result is None
        assert (cost.calls, cost.cached) == (2, 0)
        assert (cost.prompt_tokens, cost.completion_tokens) == ((2 + 4) + (1 + 4), 9 + 800)
        assert server.requests == []
        assert answer_of(llm, two) == "done"
        (result,), cost = rehearse(llm, two)
        assert (result, cost.calls, cost.cached) == ("done", 0, 2)
