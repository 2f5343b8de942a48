"""Asking without a loop of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from evidencebench_core.llm import LLM, Answer, ChatRequest, EmbeddingRequest


def chats(llm: LLM, requests: Sequence[ChatRequest], **how: Any) -> list[Answer | BaseException]:
    """The answers to requests made all at once, or their errors."""

    async def replies() -> list[Answer | BaseException]:
        async with llm:
            asks = (llm.reply(request, **how) for request in requests)
            return await asyncio.gather(*asks, return_exceptions=True)

    return asyncio.run(replies())


def chat(llm: LLM, request: ChatRequest, **how: Any) -> Answer:
    (answer,) = chats(llm, [request], **how)
    if isinstance(answer, BaseException):
        raise answer
    return answer


def vectors(llm: LLM, *texts: str, model: str = "e", **how: Any) -> Any:
    async def reply() -> Any:
        async with llm:
            return await llm.reply(EmbeddingRequest(model, texts), **how)

    return asyncio.run(reply())
