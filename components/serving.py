"""How the app is served: a token, who may connect, what pages may load; warm-up."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from ipaddress import ip_address
from threading import Event, Thread
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server import server_util

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

    ``hosts`` are the names under which the app is served, patterns as of ``server.allowedHosts``; without any those
    of this machine, the ``address`` where it listens, and any address in digits, which no foreign name can pose as.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], address: str, token: str | None) -> None:
        self._app, self._token = app, token
        self._hosts = [host.strip().lower().rstrip(".") for host in hosts]
        self._own = {*_THIS_MACHINE, address.lower(), socket.gethostname().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"].endswith("http.response.start"):
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        connection = HTTPConnection(scope)
        await (self._refusal(connection) or self._app)(scope, receive, send_with_headers)

    def _refusal(self, connection: HTTPConnection) -> Response | None:
        """The answer to who is not served; the origin of others is this host for Streamlit, which else looks it up."""
        host, origin = connection.headers.get("host", "").lower(), connection.headers.get("origin")
        name = _hostname(host)
        if not self._is_served(name):
            text = (
                f"This app is not served under the name {name!r}; `evidencebench app --allow-host` adds one."
            )
            return PlainTextResponse(text, 403)
        if any(urlsplit(other.lower()).netloc != host for other in connection.headers.getlist("origin")):
            text = "A page of another site asked for this. Open the app in a window of its own."
            return PlainTextResponse(text, 403)
        cookie = f"evidencebench_{connection.scope['server'][1]}"  # the apps of a machine share their cookies
        if self._token is not None and not _is_equal(connection.cookies.get(cookie), self._token):
            return _answer_to_stranger(connection, cookie, self._token)
        if origin:
            MutableHeaders(scope=connection.scope)["origin"] = f"{urlsplit(origin).scheme}://{host}"
        return None

    def _is_served(self, name: str) -> bool:
        if self._hosts:
            return any(pattern == "*" or _matches(name, pattern) for pattern in self._hosts)
        with suppress(ValueError):
            return bool(ip_address(name))
        return name in self._own


def _answer_to_stranger(connection: HTTPConnection, cookie: str, token: str) -> Response:
    """With the right token in the link a cookie, and the way on without it; else a refusal.

    A browser that another site's link led here keeps the cookie back; after a `Refresh` it sends it.
    """
    if connection.scope["type"] != "http" or not _is_equal(connection.query_params.get("token"), token):
        is_led = connection.headers.get("sec-fetch-site") == "cross-site"
        text = "Open the link that was printed where the app was started."
        return PlainTextResponse(text, 403, {"Refresh": "0"} if is_led else None)
    rest = [(name, value) for name, value in connection.query_params.multi_items() if name != "token"]
    page = connection.url.path.rpartition("/")[2]
    address = f"./{page}?{urlencode(rest)}" if rest else f"./{page}"
    response = PlainTextResponse("Opening the app", headers={"Refresh": f"0; url={address}"})
    is_encrypted = "https" in (connection.url.scheme, connection.headers.get("x-forwarded-proto"))
    response.set_cookie(cookie, token, httponly=True, samesite="strict", secure=is_encrypted)
    return response


def _is_equal(given: str | None, token: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


def _hostname(place: str) -> str:
    """Of ``host:port``; empty if that is not one."""
    with suppress(ValueError):
        parts = urlsplit(f"//{place}")
        is_whole = parts.netloc == place and "@" not in place and (parts.port or 1) > 0
        return (parts.hostname or "").rstrip(".") if is_whole else ""
    return ""


def _matches(name: str, pattern: str) -> bool:
    return bool(name) and (name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:])))


_is_serving: Final = Event()


def middleware() -> list[Middleware]:
    """The guard, as this server's settings want it."""
    PagesManager.uses_pages_directory = False  # else the first link is run without app.py
    address = st.get_option("server.address") or "localhost"
    return [Middleware(Guard, st.get_option("server.allowedHosts"), address, _token())]


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Print the link, with the token where one is asked for; open the browser, unless told not to."""
    url = server_util.get_url(st.get_option("browser.serverAddress"))
    if token := _token():
        url = f"{url}/?token={token}"
    print(f"\n  Open {url}\n", file=sys.stderr, flush=True)
    if not st.get_option("server.headless"):
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    _is_serving.set()
    yield


@cache
def warm_up() -> None:
    """Begin to load the embedding model, once, behind the first page that a server has drawn."""
    if _is_serving.is_set():
        from evidencebench_core.retrievers.encoding import MINILM, load_encoder

        Thread(target=load_encoder, args=(MINILM,), name="load encoder", daemon=True).start()


@cache
def _token() -> str | None:
    """``EVIDENCEBENCH_TOKEN``, none where that is empty; without it a new one."""
    made = secrets.token_urlsafe(16)
    return os.environ.pop("EVIDENCEBENCH_TOKEN", made).strip() or None  # out of what child processes see
