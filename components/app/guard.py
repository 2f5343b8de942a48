"""Which hosts and origins are served, and the token that others need: checked before Streamlit sees a request."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
_HEADERS: Final = {
    "Content-Security-Policy": "frame-ancestors 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}


class Guard:
    """ASGI middleware that refuses foreign hosts and origins and asks for the token, websockets included.

    Parameters
    ----------
    app
        What is guarded.
    hosts
        The names under which it is served, patterns as of ``server.allowedHosts``; none: those of this machine,
        and any address in digits, which no foreign name can pose as.
    address
        Where it listens, itself one of those names.
    token
        What a link must carry once, if any; a cookie keeps it.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], address: str, token: str | None) -> None:
        self._app = app
        self._hosts = [host.strip().lower().rstrip(".") for host in hosts]
        self._own = {*_THIS_MACHINE, address.lower(), socket.gethostname().lower()}
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"].endswith("http.response.start"):
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        connection = HTTPConnection(scope)
        answer = self._app
        if refusal := self._refusal(connection):
            answer = PlainTextResponse(refusal, 403)
        elif self._token is not None and not _holds(connection.cookies.get(_cookie(scope)), self._token):
            answer = _answer_to_stranger(connection, self._token)
        elif origin := connection.headers.get("origin"):
            # Found right; what Streamlit finds foreign it compares with this machine's address, asked outside.
            host = connection.headers["host"]
            MutableHeaders(scope=scope)["origin"] = f"{urlsplit(origin).scheme}://{host}"
        await answer(scope, receive, send_with_headers)

    def _refusal(self, connection: HTTPConnection) -> str | None:
        host = connection.headers.get("host", "").lower()
        name = _hostname(host)
        if not self._is_served(name):
            return (
                f"This app is not served under the name {name!r}; `evidencebench app --allow-host` adds one."
            )
        for origin in connection.headers.getlist("origin"):
            place = urlsplit(origin.lower()).netloc
            if place != host and not self._is_proxy(_hostname(place), name):
                return "A page of another site asked for this. Open the app in a window of its own."
        return None

    def _is_served(self, name: str) -> bool:
        if self._hosts:
            return any(pattern == "*" or _matches(name, pattern) for pattern in self._hosts)
        return name in self._own or _is_address(name)

    def _is_proxy(self, page: str, name: str) -> bool:
        """Whether a page's host is that of a proxy, named by the user, which passes another host on."""
        is_named = any(_matches(page, pattern) for pattern in self._hosts)
        return is_named and page not in (name, *_THIS_MACHINE)


def _holds(given: str | None, token: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


def _answer_to_stranger(connection: HTTPConnection, token: str) -> Response:
    """With the right token in the link a cookie, and the way on without it; else a refusal."""
    if connection.scope["type"] != "http" or not _holds(connection.query_params.get("token"), token):
        return PlainTextResponse("Open the link that was printed where the app was started.", 401)
    rest = [(name, value) for name, value in connection.query_params.multi_items() if name != "token"]
    page = connection.url.path.rpartition("/")[2]
    response = RedirectResponse(f"./{page}?{urlencode(rest)}" if rest else f"./{page}", 303)
    is_encrypted = "https" in (connection.url.scheme, connection.headers.get("x-forwarded-proto"))
    cookie = _cookie(connection.scope)
    response.set_cookie(cookie, token, httponly=True, samesite="lax", secure=is_encrypted)
    return response


def _cookie(scope: Scope) -> str:
    """Its name, of this port alone: the apps of a machine share their cookies."""
    return f"evidencebench_{scope['server'][1]}"


def _hostname(place: str) -> str:
    """Of ``host:port``; empty if that is not one."""
    try:
        parts = urlsplit(f"//{place}")
        _ = parts.port
    except ValueError:
        return ""
    return (parts.hostname or "").rstrip(".") if parts.netloc == place and "@" not in place else ""


def _matches(name: str, pattern: str) -> bool:
    return bool(name) and (name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:])))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
