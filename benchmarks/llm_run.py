"""Runs that ask a model, against what the server's time alone would take.

``python benchmarks/llm_run.py [FILE] [--quick]`` prints a line of JSON for each case: a run of retriever ``llm``
with default settings over FILE (a dataset; without it the sample data), all default tasks, at so many seconds a
call and so many calls at once; and the paper with the most sections on its own, for the app. ``ratio`` is seconds
from the first call to the last answer stored, as a multiple of calls x latency / concurrency, or of the longest
chain of calls that need each other. Processor milliseconds a call, peak memory (MB) and the load before are beside
it. The server is a process of its own that answers always the same after a fixed time.

Exits 1 if a ratio passes its limit, or a call was asked for other than once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data" / "sample_data.json"
# seconds a call, calls at once, most of the ideal that it may take
CASES = ((0.2, 8, 1.3), (0.2, 32, 1.3), (1.0, 32, 1.1), (1.0, 128, 1.3))
QUICK = ((0.2, 32, 1.3),)
ONE_PAPER, ONE_PAPER_LIMIT = 1.0, 1.2
ONE_PAPER_CHAIN = 2  # the sections side by side, then the final choice


# -- the server -----------------------------------------------------------------------------------

_COMPLETION = json.dumps(
    {
        "object": "chat.completion",
        "model": "scripted",
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


@dataclass(slots=True)
class Served:
    """A running server."""

    url: str
    _n_requests: Any

    @property
    def n_requests(self) -> int:
        return int(self._n_requests.value)


@contextmanager
def served(latency: float) -> Iterator[Served]:
    """A server on a port of its own, until the block ends; ``latency`` in seconds."""
    context = multiprocessing.get_context("fork")
    n_requests = context.Value("q", 0, lock=False)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        process = context.Process(target=_serve, args=(listening, latency, n_requests), daemon=True)
        process.start()
        try:
            yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", n_requests)
        finally:
            process.terminate()
            process.join()


def _serve(listening: socket.socket, latency: float, n_requests: Any) -> None:
    """Read a request only as far as its length, and answer: as light as can be."""
    loop = asyncio.new_event_loop()

    class Connection(asyncio.BufferedProtocol):
        def connection_made(self, transport: Any) -> None:
            self.transport, self.buffer = transport, bytearray(1 << 20)
            self.n_there, self.n_whole = 0, 0  # bytes of the request in hand; 0: not yet known

        def get_buffer(self, sizehint: int) -> memoryview:
            return memoryview(self.buffer)[self.n_there :]

        def buffer_updated(self, n_bytes: int) -> None:
            self.n_there += n_bytes
            if not self.n_whole and (end := self.buffer.find(b"\r\n\r\n", 0, self.n_there)) >= 0:
                head = bytes(self.buffer[:end]).lower()
                length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
                self.n_whole = end + 4 + int(length or 0)
            if 0 < self.n_whole <= self.n_there:
                self.n_there = self.n_whole = 0
                n_requests.value += 1
                loop.call_later(latency, self.transport.write, _REPLY)

    server = loop.run_until_complete(loop.create_server(Connection, sock=listening))
    loop.run_until_complete(server.serve_forever())


# -- the cases ------------------------------------------------------------------------------------


def run_of(source: Path, latency: float, concurrency: int) -> dict[str, Any]:
    """A whole run into a new store."""
    from evidencebench_core.data.ingest import ingest
    from evidencebench_core.data.store import open_store
    from evidencebench_core.llm import LLM, Connection, Limits, listed_models
    from evidencebench_core.runs import execute, plan

    with tempfile.TemporaryDirectory() as folder, served(latency) as server:
        store = open_store(Path(folder) / "store.sqlite")
        ingest(store, source, name="papers")
        listed_models(Connection(server.url, "none"))  # imports the openai package
        llm = LLM(Connection(server.url, "none"), store, limits=Limits(concurrency))
        planned = plan(store, "papers", "llm", {"model": "scripted"}, llm=llm)
        load, began, began_cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
        *_, last = execute(planned)
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        n_calls = server.n_requests - 1
        whole = last.failed == 0 and n_calls == llm.budget.spent.calls
    ideal = n_calls * latency / concurrency
    return {
        "latency": latency,
        "concurrency": concurrency,
        "calls": n_calls,
        "ideal_seconds": round(ideal, 2),
        "seconds": round(seconds, 2),
        "ratio": round(seconds / ideal, 3),
        "cpu_ms_per_call": round(1e3 * cpu / n_calls, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load_before": round(load, 2),
        "whole": whole,
    }


def one_paper(source: Path, latency: float) -> dict[str, Any]:
    """The paper with the most sections, by sections, as in the app."""
    from evidencebench_core.data.format import parse_instance
    from evidencebench_core.llm import LLM, Connection, Limits, answer_of, listed_models
    from evidencebench_core.retrievers import make_retriever
    from evidencebench_core.retrievers.base import query_of

    instances = (
        parse_instance(key, raw) for key, raw in json.loads(source.read_text(encoding="utf-8")).items()
    )
    instance = max(instances, key=lambda one: len(set(one.sections)))
    query = query_of(instance, "all", 10)
    retriever: Any = make_retriever("llm", {"model": "scripted", "strategy": "section"})
    with served(latency) as server:
        llm = LLM(Connection(server.url, "none"), limits=Limits(64))
        listed_models(llm.connection)  # an app has imported the openai package before
        began = time.perf_counter()
        retrieval = answer_of(llm, lambda asking: retriever.answer(asking, query))
        seconds = time.perf_counter() - began
        n_calls = server.n_requests - 1
    return {
        "one_paper_at": latency,
        "calls": n_calls,
        "longest_chain": ONE_PAPER_CHAIN,
        "seconds": round(seconds, 2),
        "ratio": round(seconds / (ONE_PAPER_CHAIN * latency), 3),
        "selected": len(retrieval.selection),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--quick", action="store_true", help="one case only")
    options = parser.parse_args()
    good = True
    for latency, concurrency, limit in QUICK if options.quick else CASES:
        context = multiprocessing.get_context("spawn")  # each from the start, imports and all
        with ProcessPoolExecutor(1, context) as pool:
            found = pool.submit(run_of, options.file, latency, concurrency).result()
        print(json.dumps(found), flush=True)
        good &= found["whole"] and found["ratio"] <= limit
    found = one_paper(options.file, ONE_PAPER)
    print(json.dumps(found))
    return 0 if good and found["ratio"] <= ONE_PAPER_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
