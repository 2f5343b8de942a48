"""HTTP to one server, over connections that are kept: the only place that opens a socket.

Address, key and headers are those of the openai package (see `route`; tests compare what arrives at a server),
but the package does not carry the bytes. 2,000 calls of 20 ms, 32 at a time, are to end within 1.3 times the
ideal: that leaves 0.8 ms of the interpreter's one lock for each, prompt, store and parsing included. In one run
of ``benchmarks/llm_throughput.py`` on two busy cores the package took 1.7 ms of processor time a call, 0.8 ms
where it is given the body as bytes and the reply is not read, the httpx below it 0.5 ms, and this 0.13 ms.
Besides, a time limit here is one: it holds for whatever drips in, header or body.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from evidencebench_core.llm.route import ConnectionBroken, Route

_PIECE: Final = 1 << 16
_KEPT: Final = 256  # idle connections


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers with lower-case names, and the body as it comes in."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class Transport:
    """Sends requests; for any number of threads."""

    def __init__(self, route: Route, now: Callable[[], float]) -> None:
        self._route, self._now = route, now
        self._idle: list[_Wire] = []
        self._busy: set[_Wire] = set()
        self._lock = threading.Lock()
        self.closed = False
        self._finalizer = weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Break off whatever is under way; nothing can be sent any more."""
        with self._lock:
            self.closed = True
            wires, idle = [*self._busy], [*self._idle]
            self._idle.clear()
        for wire in wires:
            wire.cut()
        _close_all(idle)

    @contextmanager
    def exchange(self, path: str, body: bytes | None, deadline: float, stall: float) -> Iterator[Response]:
        """One request and its response; the body is read by the caller, within the block."""
        wire = self._wire()
        wire.deadline, wire.stall = deadline, stall
        whole = False
        try:
            with _explained(self):
                response = wire.sent(self._route, path, body)
                headers = {name.lower(): value for name, value in response.getheaders()}
            yield Response(response.status, headers, self._pieces(response))
            whole = (response.isclosed() or response.length == 0) and not response.will_close
            response.close()
        finally:
            with self._lock:
                self._busy.discard(wire)
                keep = whole and not self.closed and len(self._idle) < _KEPT
                if keep:
                    self._idle.append(wire)
            if not keep:
                wire.close()

    def _pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        with _explained(self):
            while piece := response.read1(_PIECE):
                yield piece
            if response.length:
                raise ConnectionBroken(f"the answer broke off {response.length:,} bytes before its end")

    def _wire(self) -> _Wire:
        while True:
            with self._lock:
                if self.closed:
                    raise ConnectionBroken("the connection was closed", for_good=True)
                known = self._idle.pop() if self._idle else None
                wire = known or _Wire(self._route.connection(), self._now)
                self._busy.add(wire)
            if known is None or wire.is_quiet():
                return wire
            with self._lock:
                self._busy.discard(wire)
            wire.close()


class _Wire:
    """A connection whose every wait ends at the deadline."""

    def __init__(self, connection: http.client.HTTPConnection, now: Callable[[], float]) -> None:
        self.connection, self._now = connection, now
        self._socket: socket.socket | None = None
        self._link: _LimitedSocket | None = None
        self.deadline, self.stall = 0.0, 0.0

    def sent(self, route: Route, path: str, body: bytes | None) -> http.client.HTTPResponse:
        """The response to a request, as far as its headers; head and body go out in one piece."""
        method = "GET" if body is None else "POST"
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        request = f"{method} {route.target(path)} HTTP/1.1\r\n{route.head}{length}\r\n".encode("ascii")
        link = self._link or self._connected()
        link.sendall(request + (body or b""))
        response = http.client.HTTPResponse(link, method=method)  # type: ignore[arg-type]
        response.begin()
        return response

    def _connected(self) -> _LimitedSocket:
        self.connection.timeout = self.patience()
        self.connection.connect()
        self._socket = self.connection.sock
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link = _LimitedSocket(self._socket, self)
        return self._link

    def patience(self) -> float:
        """Seconds that the next wait may take."""
        left = self.deadline - self._now()
        if left <= 0:
            raise TimeoutError
        return min(left, self.stall)

    def is_quiet(self) -> bool:
        """Whether an idle connection still stands: a server that hung up has left something to read."""
        if self._socket is None:
            return False
        try:
            return not select.select([self._socket], [], [], 0)[0]
        except (OSError, ValueError):  # closed, or beyond what select can count
            return False

    def cut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.connection.close()
        if self._socket is not None:
            self._socket.close()


class _LimitedSocket:
    """The part of a socket that http.client uses, within the limits of a wire."""

    def __init__(self, plain: socket.socket, wire: _Wire) -> None:
        self._plain, self._wire = plain, wire

    def sendall(self, data: bytes) -> None:
        self._plain.settimeout(self._wire.patience())
        self._plain.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Bytes(self._plain, self._wire), 8192)

    def close(self) -> None:
        self._plain.close()


class _Bytes(io.RawIOBase):
    def __init__(self, plain: socket.socket, wire: _Wire) -> None:
        self._plain, self._wire = plain, wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._plain.settimeout(self._wire.patience())
        return self._plain.recv_into(buffer)


def _close_all(wires: list[_Wire]) -> None:
    while wires:
        wires.pop().close()


@contextmanager
def _explained(transport: Transport) -> Iterator[None]:
    """An error of the layers below, in words."""
    try:
        yield
    except (OSError, http.client.HTTPException, ValueError) as error:
        if transport.closed:
            raise ConnectionBroken("the connection was closed", for_good=True) from error
        reason, for_good = _reason(error)
        raise ConnectionBroken(reason, for_good) from error


def _reason(error: Exception) -> tuple[str, bool]:  # noqa: PLR0911 - a table of kinds
    if isinstance(error, TimeoutError):
        return "nothing came within the time limit", False
    if isinstance(error, socket.gaierror):
        return "there is no such host, or no network", error.errno == socket.EAI_NONAME
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not to be trusted ({error.verify_message})", True
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there (connection refused)", False
    if isinstance(error, http.client.IncompleteRead):
        return "the answer broke off before its end", False
    if isinstance(error, (http.client.RemoteDisconnected, ConnectionError)):
        return "the connection was broken by the server", False
    if isinstance(error, http.client.BadStatusLine):
        return "what answers there does not speak HTTP", False
    return f"the connection failed ({type(error).__name__})", False
