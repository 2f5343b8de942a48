"""Listing, trying out, chatting, streaming and embedding, on servers that no one here wrote."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.data import open_store
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError
from evidencebench_core.llm import LLM, AnswerCache, ChatRequest, Connection, Message, listed_models, one_word
from tests.llm.asking import chat, chats, vectors
from tests.llm.real.conftest import Server, need_servers
from tests.llm.real.tiny_models import ANSWER

need_servers()

WHOLE = "".join(ANSWER)
TOO_LONG = "one of many words " * 1_000


def request(model: str, text: str = "Question", max_tokens: int | None = None) -> ChatRequest:
    return ChatRequest(model, (Message("system", "Answer."), Message("user", text)), max_tokens=max_tokens)


def test_models_are_listed(server: Server) -> None:
    models = listed_models(server.connection)
    print(server.name, "lists", *models)
    assert {server.choosing, server.random} <= set(models)


def test_a_model_is_tried_out(server: Server) -> None:
    answer = one_word(server.connection, server.choosing)
    print(server.name, answer)
    assert answer.text == WHOLE


def test_an_answer_with_its_counts(server: Server) -> None:
    answer = chat(LLM(server.connection), request(server.choosing))
    assert (answer.text, answer.finish_reason) == (WHOLE, "stop")
    assert answer.prompt_tokens
    # With the token that ends the turn, or without.
    assert answer.completion_tokens in (len(ANSWER), len(ANSWER) + 1)
    assert answer.left_out == ()


@pytest.mark.parametrize("max_tokens", [None, 30])
def test_an_answer_in_pieces(server: Server, max_tokens: int | None, tmp_path: Path) -> None:
    model = server.choosing if max_tokens is None else server.random
    llm = LLM(server.connection, AnswerCache(open_store(tmp_path / "store.sqlite")))
    pieces: list[str | None] = []
    answer = chat(llm, request(model, max_tokens=max_tokens), on_delta=pieces.append)
    print(server.name, pieces, answer)
    assert "".join(piece or "" for piece in pieces) == answer.text
    assert None not in pieces
    assert len(pieces) > 8
    assert answer.finish_reason == ("stop" if max_tokens is None else "length")
    if max_tokens is None:
        assert pieces == list(ANSWER)
    again: list[str | None] = []
    assert chat(llm, request(model, max_tokens=max_tokens), on_delta=again.append).cached
    assert again == [answer.text]
    assert llm.budget.spent.calls == 1


def test_temperature_0_and_a_seed_give_one_answer(server: Server) -> None:
    asked = request(server.random, max_tokens=30)
    first, second = (chat(LLM(server.connection), asked) for _ in range(2))
    assert first.text == second.text != ""
    assert first.finish_reason == "length"


def test_many_at_once(server: Server) -> None:
    llm = LLM(server.connection)
    answers = chats(llm, [request(server.choosing, f"Question {number}") for number in range(24)])
    assert {getattr(answer, "text", answer) for answer in answers} == {WHOLE}
    assert llm.budget.spent.calls == 24


def test_a_stream_is_left_and_the_server_goes_on(server: Server) -> None:
    llm = LLM(server.connection)

    async def leave() -> None:
        begun = asyncio.Event()
        async with llm:
            asked = request(server.random, max_tokens=5_000)
            call = asyncio.create_task(llm.reply(asked, on_delta=lambda _: begun.set()))
            await asyncio.wait_for(begun.wait(), 60)
            call.cancel()

    asyncio.run(leave())
    assert llm.budget.spent.perhaps_billed == 1
    assert chat(LLM(server.connection), request(server.choosing)).text == WHOLE


def test_a_stream_that_another_caller_breaks_off(llama_cpp: Server, tmp_path: Path) -> None:
    # The server breaks a stream off as soon as somebody else asks, with [DONE] and nothing to tell it by.
    llm = LLM(llama_cpp.connection, AnswerCache(open_store(tmp_path / "store.sqlite")))
    begun, pieces = threading.Event(), list[str | None]()

    def follow(piece: str | None) -> None:
        pieces.append(piece)
        begun.set()

    def ask_between() -> str:
        begun.wait(60)
        return chat(LLM(llama_cpp.connection), request(llama_cpp.random, "Another", 3)).finish_reason

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask_between)
        answer = chat(llm, request(llama_cpp.random, max_tokens=1_000), on_delta=follow)
        assert other.result(60) == "length"
    print(len(pieces), "pieces, started over", pieces.count(None), "times;", answer.attempts, "attempts")
    assert (pieces.count(None), answer.attempts, answer.finish_reason) == (1, 2, "length")
    assert answer.completion_tokens in (1_000, 1_001)  # it counts the last one twice at times
    assert pieces[-1] == answer.text


@pytest.mark.parametrize("streamed", [False, True])
def test_a_prompt_that_is_too_long(llama_cpp: Server, streamed: bool) -> None:
    with pytest.raises(LLMRejectedError, match="maximum context length is 512") as caught:
        chat(
            LLM(llama_cpp.connection),
            request("short-sighted", TOO_LONG),
            on_delta=(lambda _: None) if streamed else None,
        )
    print(caught.value)
    assert not caught.value.stops_run


def test_a_wrong_key(llama_cpp: Server) -> None:
    llm = LLM(Connection(llama_cpp.url, "sk-wrong-0123456789abcdef"))
    for ask in (
        lambda: chat(llm, request("choosing")),
        lambda: listed_models(llm.connection),
        lambda: vectors(llm, "a", model="vectors"),
    ):
        with pytest.raises(LLMRejectedError, match="answers 401") as caught:
            ask()
        assert caught.value.stops_run
        assert "0123456789abcdef" not in str(caught.value)
    print(caught.value)


def test_a_server_without_embeddings(transformers: Server) -> None:
    with pytest.raises(LLMRejectedError, match="answers 404") as caught:
        vectors(LLM(transformers.connection), "a", model=transformers.random)
    print(caught.value)
    assert caught.value.stops_run


def test_embeddings(llama_cpp: Server, tmp_path: Path) -> None:
    llm = LLM(llama_cpp.connection, AnswerCache(open_store(tmp_path / "store.sqlite")))
    texts = [f"Sentence {number} of the paper reports an outcome." for number in range(70)] + ["", TOO_LONG]
    found = vectors(llm, *texts, model="vectors")
    assert found.shape == (72, 64)
    assert np.isfinite(found).all()
    assert np.linalg.matrix_rank(found[:64]) > 30  # they differ
    assert llm.budget.spent.calls == 1
    assert np.array_equal(vectors(llm, *texts[::-1], model="vectors"), found[::-1])
    assert (llm.budget.spent.calls, llm.budget.spent.cached) == (1, 72)
    print(llm.budget.spent)


@pytest.mark.parametrize(
    ("model", "kind", "reason"),
    [
        ("vectors-of-tokens", LLMAnswerError, "a vector for every token"),
        ("random", LLMRejectedError, "Name a model that makes embeddings"),
    ],
)
def test_models_without_embeddings(llama_cpp: Server, model: str, kind: type[LLMError], reason: str) -> None:
    with pytest.raises(kind, match=reason) as caught:
        vectors(LLM(llama_cpp.connection), "a", "b", model=model)
    print(caught.value)
