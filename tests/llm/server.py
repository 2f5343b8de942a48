"""A server that does what a script tells it, request by request.

::

    with scripted(reply("DECISION: [1]"), status(500), reset(), ...) as server:
        LLM(Connection(server.url, "secret")).chat(...)

Each request takes the next step; the last step is repeated. With ``listed`` the server has a list of models,
and the requests for it neither take a step nor are recorded. No step sleeps: what shall last waits on an event
that ends with the server (or that the test sets).
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = Callable[["Handler"], None]
Headers = Mapping[str, str] | None
Reply = tuple[int, Headers, bytes]
"""Status, headers and body."""


def completion(text: str | None, **choice: object) -> dict[str, Any]:
    """A chat completion; ``choice`` overrides parts of its only choice."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def reply(text: str | None = "DECISION: [1]", **choice: object) -> Step:
    return body(json.dumps(completion(text, **choice)).encode())


def body(content: bytes, kind: str = "application/json", code: int = 200, headers: Headers = None) -> Step:
    """Any content, whole."""

    def step(handler: Handler) -> None:
        handler.send_response(code)
        length = {"Content-Type": kind, "Content-Length": str(len(content))}
        for name, value in {**length, **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(content)

    return step


def status(number: int, message: str = "no", headers: Headers = None, **error: object) -> Step:
    """A failure in the protocol's form."""
    return body(json.dumps({"error": {"message": message, **error}}).encode(), code=number, headers=headers)


def reset() -> Step:
    """A TCP reset."""

    def step(handler: Handler) -> None:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True

    return step


def stall() -> Step:
    """Nothing until the client goes."""
    return lambda handler: handler.wait_for_client() and None


def answering(function: Callable[[dict[str, Any]], Step]) -> Step:
    """What a function of the request's JSON says."""
    return lambda handler: function(handler.request_json)(handler)


@dataclass(slots=True)
class Request:
    """One that the server got."""

    method: str
    path: str
    headers: Mapping[str, str]
    json: dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Scripted

    def do_POST(self) -> None:
        self.content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.request_json = json.loads(self.content) if self.content.startswith(b"{") else {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        listed = self.server.listed
        if listed is not None and self.command == "GET" and self.path.endswith("/models"):
            step = body(json.dumps({"data": [{"id": name} for name in listed]}).encode())
        else:
            step = self.server.next_step(Request(self.command, self.path, headers, self.request_json))
        try:
            step(self)
        except OSError:  # the client went first
            self.close_connection = True

    do_GET = do_HEAD = do_POST  # noqa: N815 - the base class's names

    def wait_for_client(self, seconds: float = 60) -> bool:
        """Whether the client hung up, or the test ended, within so many seconds."""
        gone, _, _ = select.select([self.connection, self.server.over], [], [], seconds)
        self.close_connection = True
        return bool(gone)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


class Scripted(ThreadingHTTPServer):
    """A running server."""

    daemon_threads = False  # so that the end waits for them
    request_queue_size = 128

    def __init__(self, steps: Sequence[Step], listed: Sequence[str] | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps, self.requests, self.lock = list(steps), list[Request](), threading.Lock()
        self.connections: list[socket.socket] = []
        self.listed = listed
        self.over, self._ending = socket.socketpair()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next_step(self, request: Request) -> Step:
        with self.lock:
            self.requests.append(request)
            return self.steps[min(len(self.requests), len(self.steps)) - 1]

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def end(self) -> None:
        self.shutdown()
        self._ending.send(b"x")
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        self.over.close()
        self._ending.close()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients that go away are part of the script


@contextmanager
def scripted(*steps: Step, listed: Sequence[str] | None = None) -> Iterator[Scripted]:
    """A server until the block ends."""
    server = Scripted(steps, listed)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


@contextmanager
def serving(answer: Callable[[Handler], Reply]) -> Iterator[str]:
    """The address of a web server that answers with a status, headers and a body."""

    def step(handler: Handler) -> None:
        code, headers, content = answer(handler)
        body(content, "text/plain", code, headers)(handler)

    with scripted(step) as server:
        yield server.url.removesuffix("/v1")
