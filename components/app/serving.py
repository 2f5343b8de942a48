"""What ``app.py`` gives the server beside its pages: the guard, and what happens at the start."""

from __future__ import annotations

import os
import secrets
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from ipaddress import ip_address
from threading import Event, Thread
from typing import Final

import streamlit as st
from starlette.middleware import Middleware
from streamlit.web.server import server_util

from components.app.guard import Guard

_is_serving: Final = Event()


def middleware() -> list[Middleware]:
    """The guard, as this server's settings want it."""
    return [Middleware(Guard, st.get_option("server.allowedHosts"), _address(), _token())]


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Print the link where it carries a token; open the browser, unless told not to."""
    url = server_util.get_url(st.get_option("browser.serverAddress"))
    if token := _token():
        url = f"{url}/?token={token}"
        print(f"\n  Open {url}", file=sys.stderr, flush=True)
    if not st.get_option("server.headless"):
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    _is_serving.set()
    yield


def load_encoder() -> None:
    """Begin to load the embedding model, once, behind the first page that a server has drawn."""
    if _is_serving.is_set():
        _load_encoder()


@cache
def _load_encoder() -> None:
    from evidencebench_core.retrievers.encoding import MINILM, load_encoder

    Thread(target=load_encoder, args=(MINILM,), name="load encoder", daemon=True).start()


@cache
def _token() -> str | None:
    """``EVIDENCEBENCH_TOKEN``, or a new one where it is empty or others can reach the app; else none."""
    token = os.environ.pop("EVIDENCEBENCH_TOKEN", None)  # out of what child processes see
    if token is None and _is_loopback(_address()):
        return None
    return (token or "").strip() or secrets.token_urlsafe(16)


def _address() -> str:
    return st.get_option("server.address") or "0.0.0.0"  # noqa: S104 - Streamlit's own default


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
