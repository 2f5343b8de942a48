"""Asks a server from a fresh process: ``python asker.py URL STORE N``; prints the texts and what was spent."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evidencebench_core.data.store import open_store
from evidencebench_core.llm import LLM, AnswerCache, ChatRequest, Connection, Message


async def main() -> None:
    url, store, n = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    async with LLM(Connection(url, "secret"), AnswerCache(open_store(store))) as llm:
        requests = (ChatRequest("scripted", (Message("user", f"Question {i}"),)) for i in range(n))
        answers = await asyncio.gather(*map(llm.reply, requests))
    print(json.dumps({"texts": [answer.text for answer in answers], **asdict(llm.budget.spent)}))


if __name__ == "__main__":
    asyncio.run(main())
