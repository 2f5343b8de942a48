"""What a call costs the client: ours beside the openai package, in one run.

``python benchmarks/llm_throughput.py [--calls 2000] [--latency 0.02] [--concurrency 32]`` prints one JSON
document: for each way of asking a server that answers after 20 ms, 32 at a time, the seconds, their ratio to
the ideal (calls x latency / concurrency) and the processor milliseconds a call; then the processor time of each
as a multiple of our bare transport's, the peak memory of this process in MB, and the load of the machine.

``chat``: ours as it is used, with the prompt made, the answer kept in a store and parsed. ``transport``: only
the exchange of bytes. ``openai``: the package as its manual has it. ``openai_raw``: the package with the body
already serialised and the reply unread, the least that it can be made to do. ``httpx``: the client below it.
Each prompt is a paper of 200 sentences (about 30 kB).

Exits 1 if ``chat`` passes 1.3 times the ideal or 500 MB, or if a call was asked for other than once.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.llm_server import served

LIMIT_RATIO, LIMIT_MB = 1.3, 500.0
SENTENCES = [f"Sentence {i} says {'something of some length ' * 5}." for i in range(200)]

Ask = Callable[[int], object]


def request(number: int) -> Any:
    """A prompt as long as real ones, unlike all others."""
    from evidencebench_core.llm import ChatRequest, numbered

    fields: dict[str, Any] = {"hypothesis": f"Hypothesis {number}.", "budget": 5}
    return ChatRequest("scripted", template().messages(sentences=numbered(SENTENCES), **fields))


@cache
def template() -> Any:
    from evidencebench_core.llm import prompt

    return prompt("cot")


@contextmanager
def chat(url: str) -> Iterator[Ask]:
    from evidencebench_core.data.store import open_store
    from evidencebench_core.llm import LLM, AnswerCache, Connection, parsed

    def ask(number: int) -> object:
        return parsed(llm.chat(request(number)).text, range(len(SENTENCES))).indices == (3, 7)

    with tempfile.TemporaryDirectory() as folder:
        answers = AnswerCache(open_store(Path(folder) / "store.sqlite"))
        with LLM(Connection(url, "none"), answers) as llm:
            yield ask


@contextmanager
def transport(url: str) -> Iterator[Ask]:
    from evidencebench_core.llm import Connection
    from evidencebench_core.llm.request import json_bytes
    from evidencebench_core.llm.route import route_of
    from evidencebench_core.llm.transport import Transport

    content = json_bytes(request(0).body())
    wires = Transport(route_of(Connection(url, "none")), time.monotonic)

    def ask(_: int) -> object:
        with wires.exchange("/chat/completions", content, time.monotonic() + 60, 60) as response:
            return b"".join(response.pieces)

    yield ask
    wires.close()


@contextmanager
def openai(url: str) -> Iterator[Ask]:
    import openai

    body = request(0).body()
    with openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
        yield lambda _: client.chat.completions.create(**body).choices[0].message.content


@contextmanager
def openai_raw(url: str) -> Iterator[Ask]:
    import httpx2
    import openai

    content = json.dumps(request(0).body()).encode()
    with openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
        yield lambda _: client.post("/chat/completions", content=content, cast_to=httpx2.Response).content


@contextmanager
def httpx(url: str) -> Iterator[Ask]:
    import httpx2

    content = json.dumps(request(0).body()).encode()
    with httpx2.Client(limits=httpx2.Limits(max_connections=1_000)) as client:
        yield lambda _: client.post(f"{url}/chat/completions", content=content).content


WAYS = {one.__name__: one for one in (chat, transport, openai, openai_raw, httpx)}


def exchanged(ask: Ask, n: int, concurrency: int) -> tuple[float, float]:
    """Seconds and processor seconds of so many calls; the first one, which loads what it needs, is not in it."""
    assert ask(n)
    began, began_cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(concurrency) as pool:
        assert all(pool.map(ask, range(n)))
    return time.perf_counter() - began, time.process_time() - began_cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    ideal = options.calls * options.latency / options.concurrency
    found: dict[str, dict[str, float]] = {}
    load, memory, whole = os.getloadavg()[0], 0.0, True
    with served(options.latency) as server:
        for name, way in WAYS.items():
            before = server.n_requests
            with way(server.url) as ask:
                seconds, cpu = exchanged(ask, options.calls, options.concurrency)
            whole &= server.n_requests - before == options.calls + 1
            found[name] = {
                "seconds": round(seconds, 3),
                "ratio": round(seconds / ideal, 3),
                "cpu_ms_per_call": round(1e3 * cpu / options.calls, 3),
            }
            memory = memory or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # of chat alone
    bare = found["transport"]["cpu_ms_per_call"]
    result = {
        "calls": options.calls,
        "ideal_seconds": round(ideal, 3),
        **found,
        "cpu_as_multiple_of_transport": {
            name: round(one["cpu_ms_per_call"] / bare, 1) for name, one in found.items()
        },
        "peak_mb": round(memory),
        "load_before": round(load, 2),
    }
    print(json.dumps(result, indent=1))
    return 0 if whole and found["chat"]["ratio"] <= LIMIT_RATIO and memory < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
