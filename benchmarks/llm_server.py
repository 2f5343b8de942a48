"""A server that answers every chat after so many milliseconds, as light as can be: what is measured is the client.

It is a process of its own with one loop and no HTTP library, reads a request only as far as its length, and
answers always the same. It counts what it is asked.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

ANSWER = "3: the effect\n7: its size\n\nDECISION: [3, 7]"
_COMPLETION = json.dumps(
    {
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
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
