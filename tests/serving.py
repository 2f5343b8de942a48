"""A web server on this machine that answers what a test tells it to."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

Answer = tuple[int, Mapping[str, str], bytes]


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], Answer]) -> Iterator[str]:
    """Its address; to GET and HEAD it answers with a status, headers and, to GET, a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            pass

    with _running(Handler) as address:
        yield address


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def dripping(head: bytes) -> Iterator[str]:
    """Address of a server that sends these bytes at once, then one every 50 ms, for ever."""
    stop = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(head)
            try:
                while not stop.wait(0.05):
                    self.wfile.write(b"x")
            except OSError:
                pass  # the client has had enough

        def log_message(self, *_: object) -> None:
            pass

    with _running(Handler) as address:
        try:
            yield address
        finally:
            stop.set()


DRIPS = [
    b"HTTP/1.1 200 OK\r\nX-Slow: ",  # the headers never end
    b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\n<article>",  # it would end wherever it is cut
]
