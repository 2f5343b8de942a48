"""What ``app.py`` gives the server beside its pages: the guard, and what happens at the start."""

from __future__ import annotations

import os
import secrets
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from threading import Event, Thread
from typing import Final

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server import server_util

from components.app.guard import Guard

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
    """``EVIDENCEBENCH_TOKEN``, none where that is empty; without it a new one."""
    made = secrets.token_urlsafe(16)
    return os.environ.pop("EVIDENCEBENCH_TOKEN", made).strip() or None  # out of what child processes see
