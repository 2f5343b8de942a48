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

    def __init__(self, reason: str, perhaps_billed: bool = False, for_good: bool = False) -> None:
        super().__init__(reason, perhaps_billed, for_good)  # all of them, so that it can be pickled
        self.reason, self.perhaps_billed, self.for_good = reason, perhaps_billed, for_good


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
        """The reply to a POST (a GET without ``body``) of any status.

        Parameters
        ----------
        path : str
            Below the server's address, such as ``"/chat/completions"``.
        body : bytes or None
            JSON.
        timeouts : Timeouts
        on_event : callable, optional
            Given the data of each server-sent event as it comes.

        Raises
        ------
        ConnectionBroken
        Unusable
            If the body is too large.
        """
        ...

    async def close(self) -> None:
        """Let go of all connections; a later `send` opens new ones."""
        ...


class OpenAISender:
    """The openai package, without its retries and its models of replies.

    What it reads from the environment holds: organisation, project, further headers, proxies, certificates.
    Every call under way has a client of its own: one with many connections looks at all of them for every call,
    which took most of the time of a run with 32 calls at once.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._certificates: ssl.SSLContext | None = None
        self._idle: list[openai.AsyncOpenAI] = []

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeouts: Timeouts,
        on_event: Callable[[str], None] | None = None,
    ) -> RawReply:
        import httpx
        import openai

        client = None
        try:
            client = self._idle.pop() if self._idle else self._client()
            async with asyncio.timeout(timeouts.total):
                return await _exchange(client, path, body, timeouts.first_byte, on_event)
        except openai.APIStatusError as error:
            reply = error.response
            return RawReply(reply.status_code, dict(reply.headers), reply.content[:_ERROR_PAGE])
        except TimeoutError as error:
            raise ConnectionBroken(
                "no whole answer came within the time limit", perhaps_billed=True
            ) from error
        except (
            openai.OpenAIError,
            httpx.HTTPError,
            httpx.InvalidURL,
            OSError,
            ValueError,
            TypeError,
        ) as error:
            raise _broken(error) from error
        finally:
            if client is not None:
                self._idle.append(client)

    def _client(self) -> openai.AsyncOpenAI:
        import httpx
        import openai

        parts = _checked(self._connection)
        self._certificates = self._certificates or httpx.create_ssl_context()

        async def without_made_up_key(request: httpx.Request) -> None:
            if request.headers.get("authorization") == f"Bearer {_NO_KEY}":
                del request.headers["authorization"]

        async def bounded(response: httpx.Response) -> None:
            if response.status_code >= 300 and isinstance(response.stream, httpx.AsyncByteStream):
                response.stream = _start_of(response.stream)

        logger = logging.getLogger("httpx")  # which writes addresses, secrets and all
        if _without_secrets not in logger.filters:
            logger.addFilter(_without_secrets)
        user = None
        if parts.username and self._connection.api_key is None:
            user = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
        carrier = httpx.AsyncClient(
            auth=user,
            follow_redirects=False,
            verify=self._certificates,
            event_hooks={"request": [without_made_up_key], "response": [bounded]},
        )
        return openai.AsyncOpenAI(
            api_key=self._connection.api_key or _NO_KEY,
            base_url=urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="")),
            default_query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            max_retries=0,
            http_client=carrier,  # type: ignore[arg-type]  # the package takes httpx's clients and httpx2's
        )


def _without_secrets(record: logging.LogRecord) -> bool:
    """A filter of log records that leaves user name, password and query out of addresses."""
    import httpx

    if isinstance(record.args, tuple):
        record.args = tuple(
            one.copy_with(userinfo=b"", query=None) if isinstance(one, httpx.URL) else one
            for one in record.args
        )
    return True


async def _exchange(
    client: openai.AsyncOpenAI,
    path: str,
    body: bytes | None,
    first_byte: float,
    on_event: Callable[[str], None] | None,
) -> RawReply:
    import httpx

    timeout = httpx.Timeout(first_byte, connect=min(_CONNECT, first_byte), pool=None)
    how: Any = {"cast_to": httpx.Response, "stream": True, "options": {"timeout": timeout}}
    if body is None:
        response: httpx.Response = await client.get(path, **how)
    else:
        how["options"]["headers"] = {"Content-Type": "application/json"}
        response = await client.post(path, content=body, **how)
    pieces, n_bytes, most = [], 0, _LARGEST.get(path, _LARGEST_CHAT)
    events = Events()
    try:
        async for piece in response.aiter_bytes():
            n_bytes += len(piece)
            if n_bytes > most:
                raise Unusable(f"it is larger than {most:,} bytes")
            pieces.append(piece)
            if on_event is not None:
                for data in events.of(piece):
                    on_event(data)
                if events.done:  # some servers leave the line open
                    break
    except (httpx.HTTPError, OSError) as error:
        raise ConnectionBroken(_broken(error).reason, perhaps_billed=True) from error
    finally:
        await response.aclose()
    return RawReply(response.status_code, dict(response.headers), b"".join(pieces))


def _checked(connection: Connection) -> SplitResult:
    """The parts of the address."""
    if connection.api_key is None and connection.base_url is None:
        raise ConnectionBroken("no key is set", for_good=True)
    base_url, key = connection.base_url or DEFAULT_ADDRESS, connection.api_key or ""
    try:
        parts = urlsplit(base_url)
        good = bool(parts.hostname and (parts.port is None or parts.port)) and base_url.isprintable()
    except ValueError:
        good = False
    if not good or parts.scheme not in ("http", "https") or not base_url.isascii():
        raise ConnectionBroken("the address is not of the form http://host:port/v1", for_good=True)
    if not (key.isascii() and key.isprintable()):
        raise ConnectionBroken("the key holds characters that no key has", for_good=True)
    return parts


def _start_of(stream: httpx.AsyncByteStream) -> httpx.AsyncByteStream:
    """As much of a body as is read of an error page."""
    import httpx

    class Start(httpx.AsyncByteStream):
        async def __aiter__(self) -> Any:
            n_bytes = 0
            async for piece in stream:
                yield piece
                n_bytes += len(piece)
                if n_bytes > _ERROR_PAGE:
                    return

        async def aclose(self) -> None:
            await stream.aclose()

    return Start()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__


def _broken(error: Exception) -> ConnectionBroken:  # noqa: PLR0911, PLR0912 - a table of kinds
    """An error of the layers below, in words."""
    import httpx

    causes = list(_causes(error))

    def cause(*kinds: type[BaseException]) -> Any:
        return next((one for one in causes if isinstance(one, kinds)), None)

    if found := cause(ConnectionBroken):
        return ConnectionBroken(*found.args)
    if cause(httpx.ConnectTimeout):
        return ConnectionBroken("nothing answers there (no connection within the time limit)")
    if cause(httpx.TimeoutException):
        return ConnectionBroken("nothing came within the time limit", perhaps_billed=True)
    if found := cause(socket.gaierror):
        return ConnectionBroken(
            "there is no such host, or no network", for_good=found.errno == socket.EAI_NONAME
        )
    if found := cause(ssl.SSLCertVerificationError):
        return ConnectionBroken(
            f"its certificate is not to be trusted ({found.verify_message})", for_good=True
        )
    if found := cause(httpx.ProxyError):
        return ConnectionBroken(f"the proxy does not let it through ({found})")
    if cause(ConnectionRefusedError):
        return ConnectionBroken("nothing listens there (connection refused)")
    if cause(httpx.DecodingError):
        return ConnectionBroken("its compressed answer cannot be read")
    if cause(httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, ConnectionError):
        words = str(cause(httpx.RemoteProtocolError) or "")
        if "peer closed" in words:
            return ConnectionBroken("the answer broke off before its end")
        if words and "disconnected" not in words:
            return ConnectionBroken("what answers there does not speak HTTP")
        return ConnectionBroken("the connection was broken by the server")
    if cause(httpx.ConnectError):
        return ConnectionBroken("the connection failed")
    if cause(httpx.InvalidURL, httpx.UnsupportedProtocol, ImportError, ValueError, TypeError):
        return ConnectionBroken(f"the settings cannot be used ({error})", for_good=True)
    return ConnectionBroken(f"the connection failed ({type(error).__name__})")
