"""The way of one request to a server and back: over the openai package, or whatever an engine puts in its place."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from evidencebench_core.llm.connection import DEFAULT_ADDRESS, Connection
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import Action, Events, RawReply, Setback, no_answer

if TYPE_CHECKING:
    import httpx
    import openai

OnEvent = Callable[[dict[str, Any]], None]

_CONNECT: Final = 30.0  # seconds
_ERROR_PAGE: Final = 64 << 10  # bytes of an error page that are read
_LARGEST: Final = {"/embeddings": 128 << 20}  # bytes of a reply
_LARGEST_CHAT: Final = 16 << 20
_SHARING: Final = 4  # calls at once of a client
_NO_KEY: Final = "none"  # the package wants one; it is not sent
_OTHERS: Final = (OSError, ImportError, ValueError, TypeError)
_CHECK: Final = "Check the address, the network and whether the server runs."
_SET: Final = "Set OPENAI_BASE_URL and OPENAI_API_KEY, or type them on the Models page of the app."


class Sender(Protocol):
    """Sends one request; many at once, all in one event loop."""

    async def send(
        self, path: str, body: bytes | None, *, timeouts: Timeouts, on_event: OnEvent | None = None
    ) -> RawReply:
        """The reply to a POST of JSON (a GET without ``body``) of any status, or a `Setback`.

        ``path`` is below the server's address; ``on_event`` is given each server-sent event as it comes.
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
        self, path: str, body: bytes | None, *, timeouts: Timeouts, on_event: OnEvent | None = None
    ) -> RawReply:
        import httpx
        import openai

        began, client = False, None
        try:
            if not self._idle:
                self._idle += [self._new_client()] * _SHARING
            client = self._idle.pop()
            timeout = httpx.Timeout(
                timeouts.first_byte, connect=min(_CONNECT, timeouts.first_byte), pool=None
            )
            how: Any = {"cast_to": httpx.Response, "stream": True, "options": {"timeout": timeout}}
            async with asyncio.timeout(timeouts.total):
                if body is None:
                    response: httpx.Response = await client.get(path, **how)
                else:
                    how["options"]["headers"] = {"Content-Type": "application/json"}
                    response = await client.post(path, content=body, **how)
                began = True
                return await _whole(response, _LARGEST.get(path, _LARGEST_CHAT), on_event)
        except _ErrorPage as page:
            reply: RawReply = page.args[0]
            return reply
        except TimeoutError as error:
            reason = "no whole answer came within the time limit"
            raise Setback(reason, remedy=_CHECK, perhaps_billed=True) from error
        except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, *_OTHERS) as error:
            raise _setback(error, began) from error
        finally:
            if client is not None:
                self._idle.append(client)

    def _new_client(self) -> openai.AsyncOpenAI:
        import httpx
        import openai

        async def raise_error_page(response: httpx.Response) -> None:
            if response.status_code >= 300:  # the package would read it whole, however long
                page = b""
                async for piece in response.aiter_bytes():
                    page += piece
                    if len(page) > _ERROR_PAGE:
                        break
                raise _ErrorPage(RawReply(response.status_code, dict(response.headers), page))

        package, carrier = client_settings(self._connection)
        self._certificates = self._certificates or httpx.create_ssl_context()
        hooks: Any = {"response": [raise_error_page]}
        http = httpx.AsyncClient(**carrier, verify=self._certificates, event_hooks=hooks)
        return openai.AsyncOpenAI(**package, http_client=http)  # type: ignore[arg-type]  # or httpx2's


def client_settings(connection: Connection) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of a client of the openai package for a server, and of the httpx client below it.

    Without retries and redirects. Where there is no key, none is sent, but a user name in the address is. httpx
    writes addresses into its log, secrets and all: it does not any more. A `Setback` if address or key can be none.
    """
    import httpx

    logging.getLogger("httpx").setLevel(logging.WARNING)
    parts = _checked(connection)
    auth: Any = None if connection.api_key else _drop_made_up_key
    if parts.username and connection.api_key is None:
        auth = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    package = {
        "api_key": connection.api_key or _NO_KEY,
        "base_url": urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="")),
        "default_query": dict(parse_qsl(parts.query, keep_blank_values=True)),
        "max_retries": 0,
    }
    return package, {"auth": auth, "follow_redirects": False}


def _drop_made_up_key(request: httpx.Request) -> httpx.Request:
    if request.headers.get("authorization") == f"Bearer {_NO_KEY}":
        del request.headers["authorization"]
    return request


class _ErrorPage(Exception):  # noqa: N818 - never leaves this file
    """A reply with a status of 300 or more."""


async def _whole(response: httpx.Response, n_most: int, on_event: OnEvent | None) -> RawReply:
    body, events = bytearray(), Events()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > n_most:
                raise no_answer(f"it is larger than {n_most:,} bytes")
            if on_event is not None:
                for event in events.of(piece):
                    on_event(event)
                if events.done:  # some servers leave the line open
                    break
    finally:
        await response.aclose()
    return RawReply(response.status_code, dict(response.headers), bytes(body))


def _checked(connection: Connection) -> SplitResult:
    """The parts of the address."""
    base_url, key = connection.base_url or DEFAULT_ADDRESS, connection.api_key or ""
    if not (key.isascii() and key.isprintable() and base_url.isprintable()):
        raise Setback("the key or the address holds characters that are not allowed", "end_run", _SET)
    if connection.api_key is None and connection.base_url is None:
        raise Setback("no key is set", "end_run", _SET)
    with suppress(ValueError):
        parts = urlsplit(base_url)
        if parts.hostname and parts.port != 0 and parts.scheme in ("http", "https") and base_url.isascii():
            return parts
    raise Setback("the address is not of the form http://host:port/v1", "end_run", _SET)


def _setback(error: Exception, began: bool) -> Setback:
    """An error of the layers below, in words."""
    import httpx

    wrong = (httpx.InvalidURL, httpx.UnsupportedProtocol, ImportError, ValueError, TypeError)
    broken = (httpx.NetworkError, ConnectionError, httpx.RemoteProtocolError)
    table: tuple[tuple[Any, str], ...] = (
        (httpx.ConnectTimeout, "nothing answers there (no connection within the time limit)"),
        (httpx.TimeoutException, "nothing came within the time limit"),
        (socket.gaierror, "there is no such host, or no network"),
        (ssl.SSLCertVerificationError, "its certificate cannot be trusted ({})"),
        (httpx.ProxyError, "the proxy does not let it through ({})"),
        (ConnectionRefusedError, "nothing listens there (connection refused)"),
        (httpx.DecodingError, "its compressed answer cannot be read"),
        (broken, "the connection was broken by the server, or it does not speak HTTP"),
        (wrong, "the settings cannot be used ({})"),
        (Exception, "the connection failed ({})"),
    )
    kind, reason, cause = next(
        (kind, reason, cause) for kind, reason in table for cause in _causes(error) if isinstance(cause, kind)
    )
    no_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    for_good = no_host or isinstance(cause, (ssl.SSLCertVerificationError, *wrong))
    words = getattr(cause, "verify_message", "") or str(cause) or type(cause).__name__
    billed = began or kind is httpx.TimeoutException
    action: Action = "end_run" if for_good else "again"
    return Setback(reason.format(words), action, _CHECK, perhaps_billed=billed)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
