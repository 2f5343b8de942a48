"""HTTP to one server, over connections that are kept: the only place that opens a socket.

A request through the openai package or httpx costs 1 ms and more of the interpreter's one lock, which is all
the time there is between two of 1,600 answers a second; this costs a fifth of it. And a time limit
here is one: it holds for whatever drips in, header or body.
"""

from __future__ import annotations

import base64
import http.client
import io
import select
import socket
import ssl
import threading
import urllib.request
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = ["ConnectionBroken", "Response", "Transport", "check_address"]

_PIECE: Final = 1 << 16
_KEPT: Final = 256  # idle connections


class ConnectionBroken(Exception):  # noqa: N818 - never leaves this package
    """No whole answer came; ``for_good`` if trying again cannot help."""

    def __init__(self, reason: str, for_good: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.for_good = reason, for_good


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers with lower-case names, and the body as it comes in."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class Transport:
    """Sends requests; for any number of threads.

    Parameters
    ----------
    base_url : str
        With scheme and host; a query in it goes along with every request.
    headers : mapping of str to str
    now : callable
        The clock of deadlines, in seconds.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], now: Callable[[], float]) -> None:
        parts, host, port = _address(base_url)
        self._host, self._port, self._tls = host, port, parts.scheme == "https"
        self._base, self._query, self._now = parts.path.rstrip("/"), parts.query, now
        self._proxy = _proxy_for(parts)
        sent = {**headers, "Host": parts.netloc.rpartition("@")[2], "Accept-Encoding": "identity"}
        if parts.username and "Authorization" not in sent:
            sent["Authorization"] = _basic(parts)
        if self._proxy and self._proxy.username and not self._tls:
            sent["Proxy-Authorization"] = _basic(self._proxy)
        self._head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        self._through = f"http://{sent['Host']}" if self._proxy and not self._tls else ""
        self._context: ssl.SSLContext | None = None
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
    def exchange(
        self, method: str, path: str, body: bytes | None, deadline: float, stall: float
    ) -> Iterator[Response]:
        """One request and its response; the body is read by the caller, within the block.

        Parameters
        ----------
        deadline : float
            On the clock; no waiting goes on beyond it.
        stall : float
            Seconds that may pass without a byte.

        Raises
        ------
        ConnectionBroken
            Also while the body is read.
        """
        wire = self._wire()
        wire.deadline, wire.stall = deadline, stall
        whole = False
        try:
            with _explained(self):
                response = wire.sent(method, self._target(path), self._head, body)
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

    def _target(self, path: str) -> str:
        return f"{self._through}{self._base}{path}" + (f"?{self._query}" if self._query else "")

    def _pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        with _explained(self):
            while piece := response.read1(_PIECE):
                yield piece
            if response.length:
                raise ConnectionBroken(f"the answer broke off {response.length:,} bytes before its end")

    def _wire(self) -> _Wire:
        with self._lock:
            if self.closed:
                raise ConnectionBroken("the connection was closed", for_good=True)
            while self._idle:
                wire = self._idle.pop()
                if wire.is_quiet():
                    self._busy.add(wire)
                    return wire
                wire.close()
            wire = self._new()
            self._busy.add(wire)
            return wire

    def _new(self) -> _Wire:
        if self._tls and self._context is None:
            self._context = _certificates()
        host, port = self._host, self._port
        if self._proxy:
            host, port = self._proxy.hostname or "", self._proxy.port or 80
        plain = (
            http.client.HTTPSConnection(host, port, context=self._context)
            if self._tls
            else (http.client.HTTPConnection(host, port))
        )
        if self._proxy and self._tls:
            authorization = {"Proxy-Authorization": _basic(self._proxy)} if self._proxy.username else {}
            plain.set_tunnel(self._host, self._port, headers=authorization)
        return _Wire(plain, self._now)


class _Wire:
    """A connection whose every wait ends at the deadline."""

    def __init__(self, connection: http.client.HTTPConnection, now: Callable[[], float]) -> None:
        self.connection, self._now = connection, now
        self._socket: socket.socket | None = None
        self._link: _LimitedSocket | None = None
        self.deadline, self.stall = 0.0, 0.0

    def sent(self, method: str, target: str, head: str, body: bytes | None) -> http.client.HTTPResponse:
        """The response to a request, as far as its headers; head and body go out in one piece."""
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        request = f"{method} {target} HTTP/1.1\r\n{head}{length}\r\n".encode("ascii")
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
    """What http.client needs of a socket, within the limits of a wire."""

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


def check_address(base_url: str) -> None:
    """Nothing, if requests can be sent there.

    Raises
    ------
    ConnectionBroken
    """
    _address(base_url)


def _address(base_url: str) -> tuple[SplitResult, str, int | None]:
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or not base_url.isprintable():
        raise ConnectionBroken("the address is not of the form http://host:port/v1", for_good=True)
    return parts, host, port


def _close_all(wires: list[_Wire]) -> None:
    while wires:
        wires.pop().close()


@contextmanager
def _explained(transport: Transport) -> Iterator[None]:
    """What goes wrong below, in words."""
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


def _certificates() -> ssl.SSLContext:
    """The system's, or those of SSL_CERT_FILE; where the system has none, those of certifi."""
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"] and not ssl.get_default_verify_paths().capath:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _proxy_for(parts: SplitResult) -> SplitResult | None:
    """The proxy that the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) wants for an address."""
    proxies = urllib.request.getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all")
    if not url or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ConnectionBroken(
            f"the proxy of the environment is of a kind not known here ({proxy.scheme})", for_good=True
        )
    return proxy


def _basic(parts: SplitResult) -> str:
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")
