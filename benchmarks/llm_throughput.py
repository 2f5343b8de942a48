"""How much of the time of 2,000 calls is the client's: 20 ms each at the server, 32 at a time.

``python benchmarks/llm_throughput.py [--calls 2000] [--latency 0.02] [--concurrency 32]`` prints one JSON
document: seconds, the ideal (calls x latency / concurrency), their ratio, and the peak memory of this process
in MB. Each call is a prompt with a paper of 200 sentences (about 30 kB) and a hypothesis of its own; its
answer is kept in a new store the moment it comes, and then parsed. The server is a process of its own. Exits
1 if the ratio is above 1.3 or the memory 500 MB or more, or if a call was asked for other than once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evidencebench_core.data.store import open_store
from evidencebench_core.llm import LLM, AnswerCache, ChatRequest, Connection, numbered, parsed, prompt

LIMIT_RATIO, LIMIT_MB = 1.3, 500.0

_COMPLETION = json.dumps(
    {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "3: the effect\n7: its size\n\nDECISION: [3, 7]"},
            }
        ],
        "usage": {"prompt_tokens": 7_000, "completion_tokens": 20, "total_tokens": 7_020},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
    len(_COMPLETION),
    _COMPLETION,
)


def serve(listening: socket.socket, latency: float) -> None:
    """Answer every request after so many seconds, for ever."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
                arrived = time.perf_counter()
                await reader.readexactly(int(length or 0))
                await asyncio.sleep(max(0.0, latency - (time.perf_counter() - arrived)))
                writer.write(_REPLY)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(connection, sock=listening, limit=1 << 20)
        await server.serve_forever()

    asyncio.run(run())


PROMPT = prompt("cot")
SENTENCES = [f"Sentence {i} says {'something of some length ' * 5}." for i in range(200)]


def request(number: int) -> ChatRequest:
    """A prompt as long as real ones, unlike all others."""
    messages = PROMPT.messages(hypothesis=f"Hypothesis {number}.", sentences=numbered(SENTENCES), budget=5)
    return ChatRequest("scripted", messages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    with (
        socket.create_server(("127.0.0.1", 0), backlog=256) as listening,
        tempfile.TemporaryDirectory() as folder,
    ):
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        context = multiprocessing.get_context("fork")
        server = context.Process(target=serve, args=(listening, options.latency), daemon=True)
        server.start()
        llm = LLM(Connection(address, "none"), AnswerCache(open_store(Path(folder) / "store.sqlite")))
        llm.chat(ChatRequest("warm-up", request(0).messages))

        def chosen(number: int) -> tuple[int, ...]:
            answer = llm.chat(request(number))
            return parsed(answer.text, range(len(SENTENCES))).indices

        began, began_cpu = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(options.concurrency) as pool:
            selections = list(pool.map(chosen, range(options.calls)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        llm.close()
        server.terminate()
        server.join()
    ideal = options.calls * options.latency / options.concurrency
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {
        "calls": options.calls,
        "seconds": round(seconds, 3),
        "ideal_seconds": round(ideal, 3),
        "ratio": round(seconds / ideal, 3),
        "cpu_seconds": round(cpu, 3),
        "peak_mb": round(memory),
    }
    print(json.dumps(result))
    whole = all(selection == (3, 7) for selection in selections) and llm.spending().calls == options.calls + 1
    return 0 if whole and result["ratio"] <= LIMIT_RATIO and memory < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
