"""Trying a server, before anything is asked of it in earnest."""

from __future__ import annotations

import asyncio

from evidencebench_core.llm.client import LLM
from evidencebench_core.llm.connection import Connection
from evidencebench_core.llm.request import Answer


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list.

    Raises
    ------
    LLMError
        If the server cannot be reached or refuses the key.
    """

    async def models() -> tuple[str, ...]:
        async with LLM(connection) as llm:
            return await llm.models()

    return asyncio.run(models())


def one_word(connection: Connection, model: str) -> Answer:
    """The answer to a question for one word, asked once: does this server answer with this model?

    Raises
    ------
    LLMError
    """

    async def answer() -> Answer:
        async with LLM(connection) as llm:
            return await llm.try_out(model)

    return asyncio.run(answer())
