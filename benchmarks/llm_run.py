"""A run that asks a model, against what the server's time alone would take.

``python -m benchmarks.llm_run [FILE]`` prints a line of JSON for each case: a run of retriever ``llm`` with default
settings over FILE (a dataset; without it 96 copies of the sample data), all default tasks, at so many seconds a call
and so many calls at once. ``ratio`` is seconds from the first call to the last answer stored, as a multiple of calls x
latency / concurrency. Processor milliseconds a call, peak memory (MB) and the load before are beside it. The server is
a process of its own that answers always the same after a fixed time. Exits 1 if a ratio passes its limit, or a call was
asked for other than once.
"""

from __future__ import annotations

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

from benchmarks.engines import copies

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data" / "sample_data.json"
CASES = ((0.2, 32, 1.15), (1.0, 32, 1.05))  # seconds a call, calls at once, the highest ratio


# -- the server -----------------------------------------------------------------------------------

_MESSAGE = {"role": "assistant", "content": "3: the effect\n7: its size\n\nDECISION: [3, 7]"}
_COMPLETION = json.dumps(
    {
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": _MESSAGE}],
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
    from evidencebench_core.data.ingestion import ingest
    from evidencebench_core.data.store import open_store
    from evidencebench_core.llm import LLM, Connection, listed_models
    from evidencebench_core.runs import execute, plan

    with tempfile.TemporaryDirectory() as folder, served(latency) as server:
        store = open_store(Path(folder) / "store.sqlite")
        ingest(store, source, name="papers")
        listed_models(Connection(server.url, "none"))  # imports the openai package
        llm = LLM(Connection(server.url, "none"), store, concurrency=concurrency)
        planned = plan(store, "papers", "llm", {"model": "scripted"}, llm=llm)
        load, began, began_cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
        *_, last = execute(planned)
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        n_calls = server.n_requests - 1
        is_whole = last.failed == 0 and n_calls == llm.budget.spent.calls
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
        "whole": is_whole,
    }


def main() -> int:
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        source = Path(sys.argv[1]) if sys.argv[1:] else copies(SAMPLE, 96, Path(folder) / "copies.json")
        for latency, concurrency, limit in CASES:
            context = multiprocessing.get_context("spawn")  # each from the start, imports and all
            with ProcessPoolExecutor(1, context) as pool:
                result = pool.submit(run_of, source, latency, concurrency).result()
            print(json.dumps(result), flush=True)
            is_good &= result["whole"] and result["ratio"] <= limit
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
