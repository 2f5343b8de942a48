"""The way of one request to a server and back: over the openai package, or whatever an engine puts in its place."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from evidencebench_core.llm.connection import DEFAULT_ADDRESS, Connection
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import Events, Unusable

if TYPE_CHECKING:
    import httpx
    import openai

_CONNECT: Final = 30.0  # seconds
_ERROR_PAGE: Final = 64 << 10  # bytes of an error page that are read
_LARGEST: Final = {"/embeddings": 128 << 20}  # bytes of a reply
_LARGEST_CHAT: Final = 16 << 20
_SHARING: Final = 4  # calls at once of a client
_NO_KEY: Final = "none"  # the package wants one; it is not sent


@dataclass(frozen=True, slots=True)
class RawReply:
    """Status, headers with lower-case names, and the whole body, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ConnectionBroken(Exception):  # noqa: N818 - never leaves this package
    """No whole reply came.

    ``perhaps_billed``: the server may have done the work; ``for_good``: trying again cannot help.
    """

    remedy = "Check the address, the network and whether the server runs."

    def __init__(self, reason: str, perhaps_billed: bool = False, for_good: bool = False) -> None:
        super().__init__(reason, perhaps_billed, for_good)  # all of them, so that it can be pickled
        self.reason, self.perhaps_billed, self.for_good = reason, perhaps_billed, for_good


class ConnectionUnusable(ConnectionBroken):
    """The address or the key can be none; nothing was sent."""

    remedy = "Set OPENAI_BASE_URL and OPENAI_API_KEY, or type them on the Models page of the app."

    def __init__(self, reason: str) -> None:
        super().__init__(reason, for_good=True)


class Sender(Protocol):
    """Sends one request; many at once, all in one event loop."""

    async def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeouts: Timeouts,
        on_event: Callable[[str], None] | None = None,
    ) -> RawReply:
        """The reply to a POST of JSON (a GET without ``body``) of any status.

        ``path`` is below the server's address; ``on_event`` is given the data of each server-sent event as it comes.
        Raises `ConnectionBroken`, or `Unusable` if the body is too large.
        """
        ...

    async def close(self) -> None:
        """Let go of all connections; a later `send` opens new ones."""
        ...


class OpenAISender:
    """The openai package, without its retries and its models of replies.

    What it reads from the environment holds: organisation, project, further headers, proxies, certificates.
    A few calls at once share a client: one with many connections looks at all of them for every call, which took
    most of the time of a run with 32 calls at once, and to make one for each takes 3 ms.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._certificates: ssl.SSLContext | None = None
        self._idle: list[openai.AsyncOpenAI] = []  # each as often as it has room

    async def close(self) -> None:
        clients, self._idle = set(self._idle), []
        for client in clients:
            await client.close()

    async def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeouts: Timeouts,
        on_event: Callable[[str], None] | None = None,
    ) -> RawReply:
        import httpx

        if not self._idle:
            self._idle += [self._client()] * _SHARING
        client = self._idle.pop()
        timeout = httpx.Timeout(timeouts.first_byte, connect=min(_CONNECT, timeouts.first_byte), pool=None)
        how: Any = {"cast_to": httpx.Response, "stream": True, "options": {"timeout": timeout}}
        began = False
        try:
            async with asyncio.timeout(timeouts.total):
                if body is None:
                    response: httpx.Response = await client.get(path, **how)
                else:
                    how["options"]["headers"] = {"Content-Type": "application/json"}
                    response = await client.post(path, content=body, **how)
                began = True
                return await _whole(response, _LARGEST.get(path, _LARGEST_CHAT), on_event)
        except _ErrorPage as page:
            return page.reply
        except TimeoutError as error:
            raise ConnectionBroken("no whole answer came within the time limit", True) from error
        except _errors() as error:
            raise _broken(error, began) from error
        finally:
            self._idle.append(client)

    def _client(self) -> openai.AsyncOpenAI:
        import httpx
        import openai

        package, carrier = client_settings(self._connection)

        async def without_made_up_key(request: httpx.Request) -> None:
            drop_made_up_key(request)

        async def without_more_of_an_error_page(response: httpx.Response) -> None:
            if response.status_code >= 300:
                page = b""
                async for piece in response.aiter_bytes():
                    page += piece
                    if len(page) > _ERROR_PAGE:
                        break
                raise _ErrorPage(RawReply(response.status_code, dict(response.headers), page))

        hooks: Any = {"request": [without_made_up_key], "response": [without_more_of_an_error_page]}
        try:
            self._certificates = self._certificates or httpx.create_ssl_context()
            http = httpx.AsyncClient(**carrier, verify=self._certificates, event_hooks=hooks)
            return openai.AsyncOpenAI(**package, http_client=http)  # type: ignore[arg-type]  # or httpx2's
        except _errors() as error:
            raise _broken(error) from error


def client_settings(connection: Connection) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of a client of the openai package for a server, and of the httpx client below it.

    Without retries and redirects. A user name in the address is sent only where there is no key, and httpx's log
    lines are without secrets from now on. Raises `ConnectionUnusable` if the address or the key can be none.
    """
    import httpx

    parts = _checked(connection)
    logger = logging.getLogger("httpx")  # which writes addresses, secrets and all
    if _without_secrets not in logger.filters:
        logger.addFilter(_without_secrets)
    user = None
    if parts.username and connection.api_key is None:
        user = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    package = {
        "api_key": connection.api_key or _NO_KEY,
        "base_url": urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="")),
        "default_query": dict(parse_qsl(parts.query, keep_blank_values=True)),
        "max_retries": 0,
    }
    return package, {"auth": user, "follow_redirects": False}


def drop_made_up_key(request: httpx.Request) -> None:
    """A hook of httpx: where there is no key, none is sent."""
    if request.headers.get("authorization") == f"Bearer {_NO_KEY}":
        del request.headers["authorization"]


def _without_secrets(record: logging.LogRecord) -> bool:
    """A filter of log records that leaves user name, password and query out of addresses."""
    import httpx

    if isinstance(record.args, tuple):
        record.args = tuple(
            one.copy_with(userinfo=b"", query=None) if isinstance(one, httpx.URL) else one
            for one in record.args
        )
    return True


class _ErrorPage(Exception):  # noqa: N818 - never leaves this file
    """A status of 300 or more."""

    def __init__(self, reply: RawReply) -> None:
        super().__init__(reply.status)
        self.reply = reply


async def _whole(response: httpx.Response, n_most: int, on_event: Callable[[str], None] | None) -> RawReply:
    body, events = bytearray(), Events()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > n_most:
                raise Unusable(f"it is larger than {n_most:,} bytes")
            if on_event is not None:
                for data in events.of(piece):
                    on_event(data)
                if events.done:  # some servers leave the line open
                    break
    finally:
        await response.aclose()
    return RawReply(response.status_code, dict(response.headers), bytes(body))


def _checked(connection: Connection) -> SplitResult:
    """The parts of the address."""
    base_url, key = connection.base_url or DEFAULT_ADDRESS, connection.api_key or ""
    if not (key.isascii() and key.isprintable() and base_url.isprintable()):
        raise ConnectionUnusable("the key or the address holds characters that none has")
    if connection.api_key is None and connection.base_url is None:
        raise ConnectionUnusable("no key is set")
    try:
        parts = urlsplit(base_url)
        if parts.hostname and parts.port != 0 and parts.scheme in ("http", "https") and base_url.isascii():
            return parts
    except ValueError:
        pass
    raise ConnectionUnusable("the address is not of the form http://host:port/v1")


def _errors() -> tuple[type[Exception], ...]:
    import httpx
    import openai

    openai_errors = (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL)
    return (*openai_errors, OSError, ImportError, ValueError, TypeError)


def _broken(error: Exception, began: bool = False) -> ConnectionBroken:
    """An error of the layers below, in words."""
    import httpx

    settings = (httpx.InvalidURL, httpx.UnsupportedProtocol, ImportError, ValueError, TypeError)
    table: tuple[tuple[Any, str], ...] = (
        (httpx.ConnectTimeout, "nothing answers there (no connection within the time limit)"),
        (httpx.TimeoutException, "nothing came within the time limit"),
        (socket.gaierror, "there is no such host, or no network"),
        (ssl.SSLCertVerificationError, "its certificate is not to be trusted ({})"),
        (httpx.ProxyError, "the proxy does not let it through ({})"),
        (ConnectionRefusedError, "nothing listens there (connection refused)"),
        (httpx.DecodingError, "its compressed answer cannot be read"),
        ((httpx.NetworkError, ConnectionError), "the connection was broken by the server"),
        (httpx.RemoteProtocolError, "the connection was broken by the server, or it does not speak HTTP"),
        (settings, "the settings cannot be used ({})"),
        (Exception, "the connection failed ({})"),
    )
    for kind, reason in table:
        for cause in _causes(error):
            if isinstance(cause, kind):
                for_good = isinstance(cause, (ssl.SSLCertVerificationError, *settings)) or (
                    isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
                )
                billed = began or (kind is httpx.TimeoutException)
                words = getattr(cause, "verify_message", "") or str(cause) or type(cause).__name__
                return ConnectionBroken(reason.format(words), billed, for_good)
    raise AssertionError("the last of the kinds is every kind")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
