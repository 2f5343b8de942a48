"""Parts that ``app.py`` gives the server beside its pages: the guard, the first paint, the browser that is opened."""

from __future__ import annotations

import os
import re
import secrets
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Final

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from streamlit.web.server import server_util

from components.app.guard import Guard

_HERE: Final = Path(__file__).parent
# What most pages ask for with their first content. Not PlotlyChart: to compile it early holds up all else.
_EARLY: Final = ("BidiComponent", "serialization", "recordbatch", "Selectbox", "useMenuTrigger", "Html")
_PHRASE: Final = "EVIDENCEBENCH_PASS_PHRASE"


def middleware() -> list[Middleware]:
    """The guard, as this server's settings want it."""
    address = st.get_option("server.address") or "0.0.0.0"  # noqa: S104 - Streamlit's own default
    return [Middleware(Guard, st.get_option("server.allowedHosts"), address, _pass_phrase(address))]


def routes() -> list[Route]:
    """The pages' addresses, answered with what can be seen before Streamlit's scripts have started."""
    page = _first_paint()

    def answer(_request: Request) -> HTMLResponse:
        return HTMLResponse(page, headers={"Cache-Control": "no-cache"})

    names = [path.stem for path in (_HERE.parents[1] / "pages").glob("*.py")]
    return [Route("/" if name == "home" else f"/{name}", answer) for name in names]


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Have what every page needs imported by the time the first is asked for; open the browser, unless told not to."""
    Thread(target=import_module, args=("components.app.page",), daemon=True).start()
    if not st.get_option("server.headless"):
        url = server_util.get_url(st.get_option("browser.serverAddress"))
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    yield


def _pass_phrase(address: str) -> str | None:
    """The user's own, from the environment; one made and printed now where others can reach the app; else none."""
    phrase = os.environ.pop(_PHRASE, None)  # out of what child processes see
    if phrase is None and _is_loopback(address):
        return None
    if not phrase:
        phrase = secrets.token_urlsafe(12)
        print(f"\n  Pass phrase, asked in the browser: {phrase}", file=sys.stderr, flush=True)
    return phrase.strip()


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _first_paint() -> str:
    """Streamlit's empty page, with what is seen until its scripts have something to show, which waits for no styles."""
    folder = Path(st.__file__).parent / "static"
    page = (folder / "index.html").read_text("utf-8")
    page = re.sub(r"<title>.*?</title>", "<title>EvidenceBench Explorer</title>", page)
    page = re.sub(r'<link\s+rel="preload"[^>]*as="font"[^>]*>', "", page)  # which the theme does not use
    styles = re.findall(r'<link rel="stylesheet"[^>]*>', page)
    for style in styles:
        page = page.replace(style, "")
    files = (path.name for stem in _EARLY for path in (folder / "static" / "js").glob(f"{stem}.*.js"))
    early = [f'<link rel="modulepreload" crossorigin href="./static/js/{file}">' for file in files]
    page = page.replace("</head>", "\n".join([*early, "</head>"]))
    opening = (_HERE / "opening.html").read_text("utf-8")
    return page.replace('<div id="root">', "\n".join([opening, *styles, '<div id="root">']))
