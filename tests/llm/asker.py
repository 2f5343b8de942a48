"""Asks a server from a fresh process: ``python asker.py URL STORE N [policy fields as JSON]``.

Prints one JSON document: for each of N requests the answer's text and whether it was kept, or the kind of
error, its line, and whether it stops a run; and what was spent. ``announce`` in the policy prints each number on a line
of stderr the moment its answer is kept.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import LLMError
from evidencebench_core.llm import LLM, AnswerCache, ChatRequest, Connection, Message, RetryPolicy

KEY = "sk-verysecret0123456789"


def request(number: int) -> ChatRequest:
    return ChatRequest("scripted", (Message("user", f"Question {number}"),))


def main() -> None:
    url, store, n = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    options = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    threads, streamed = options.pop("threads", 1), options.pop("stream", False)
    llm = LLM(
        Connection(url, KEY), AnswerCache(open_store(store)), RetryPolicy(**{"first_wait": 0.001, **options})
    )

    def outcome(number: int) -> dict[str, object]:
        pieces: list[str | None] = []
        try:
            answer = llm.chat(request(number), on_delta=pieces.append if streamed else None)
        except LLMError as error:
            return {"error": type(error).__name__, "line": str(error), "stops_run": error.stops_run}
        return {"text": answer.text, "cached": answer.cached, "attempts": answer.attempts, "pieces": pieces}

    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(outcome, range(n)))
    spent = llm.spending()
    print(
        json.dumps(
            {"outcomes": outcomes, "calls": spent.calls, "cached": spent.cached, "failed": spent.failed}
        )
    )


if __name__ == "__main__":
    main()
