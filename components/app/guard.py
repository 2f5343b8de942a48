"""Which hosts and origins are served, and the pass phrase: asked before Streamlit sees a request."""

from __future__ import annotations

import hmac
import secrets
import socket
import time
from collections import deque
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
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
_PAGE: Final = (Path(__file__).parent / "sign_in.html").read_text("utf-8")
_LONGEST_FORM: Final = 4096  # bytes
_WRONG_TRIES: Final = 10  # of everybody together: the address of who tries can be made up on localhost
_WITHIN: Final = 60  # seconds
_MOST_SESSIONS: Final = 1000


class Guard:
    """ASGI middleware that refuses foreign hosts and origins and asks for the pass phrase, websockets included.

    Parameters
    ----------
    app
        What is guarded.
    hosts
        The names under which it is served, patterns as of ``server.allowedHosts``; none: those of this machine,
        and any address in digits, which no foreign name can pose as.
    address
        Where it listens, itself one of those names.
    phrase
        What opens it, if that is asked.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], address: str, phrase: str | None) -> None:
        self._app = app
        self._hosts = [host.strip().lower().rstrip(".") for host in hosts]
        self._own = {*_THIS_MACHINE, address.lower(), socket.gethostname().lower()}
        self._phrase = phrase
        self._sessions: deque[str] = deque(maxlen=_MOST_SESSIONS)
        self._wrong: deque[float] = deque(maxlen=_WRONG_TRIES)

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
        elif self._phrase is not None and (_is_form(connection) or not self._has_session(connection)):
            answer = await self._sign_in(scope, receive, self._phrase)
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

    def _has_session(self, connection: HTTPConnection) -> bool:
        value = connection.cookies.get(_cookie(connection.scope), "").encode()
        return any(hmac.compare_digest(value, session.encode()) for session in self._sessions)

    async def _sign_in(self, scope: Scope, receive: Receive, phrase: str) -> Response:
        """The page that asks for the phrase; after the right one, the way back to the page that was asked for."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "POST"):
            return PlainTextResponse("Open the app in a browser and give the pass phrase.", 401)
        if scope["method"] == "GET":
            return _page("", 401)
        now = time.monotonic()
        if len(self._wrong) == _WRONG_TRIES and now - self._wrong[0] < _WITHIN:
            return _page("Too many wrong tries. Wait a minute, then try again.", 429)
        form = parse_qs((await _short_body(Request(scope, receive))).decode("latin-1"))
        given = form.get("phrase", [""])[0].strip()
        if not hmac.compare_digest(given.encode(), phrase.encode()):
            self._wrong.append(now)
            return _page("That is not the pass phrase.", 403)
        session = secrets.token_urlsafe(32)
        self._sessions.append(session)
        page = scope.get("raw_path", b"/").decode("latin-1").rpartition("/")[2]
        query = scope["query_string"].decode("latin-1")
        response = RedirectResponse(f"./{page}?{query}" if query else f"./{page}", 303)
        is_encrypted = "https" in (scope["scheme"], Request(scope).headers.get("x-forwarded-proto"))
        response.set_cookie(_cookie(scope), session, httponly=True, samesite="lax", secure=is_encrypted)
        return response


def _page(message: str, status: int) -> HTMLResponse:
    return HTMLResponse(_PAGE.replace("{message}", message), status, {"Cache-Control": "no-store"})


def _is_form(connection: HTTPConnection) -> bool:
    """Whether it is the answer to the question for the phrase, perhaps in a second window."""
    kind = connection.headers.get("content-type", "")
    return connection.scope.get("method") == "POST" and kind.startswith("application/x-www-form-urlencoded")


async def _short_body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return b""
    return body


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
