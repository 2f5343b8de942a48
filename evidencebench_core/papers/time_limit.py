"""A limit of time for all that is received in a block."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


@contextmanager
def time_limit(client: httpx.Client, seconds: float) -> Iterator[None]:
    """`httpx.ReadTimeout` once the block has taken so long; httpx itself limits each wait for bytes only."""
    import httpx

    sockets: list[socket.socket] = []
    late = threading.Event()

    def cut() -> None:
        late.set()
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def remember(event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            sockets.append(info["return_value"].get_extra_info("socket"))
            if late.is_set():
                cut()

    def watch(request: httpx.Request) -> None:
        request.extensions["trace"] = remember

    client.event_hooks = {**client.event_hooks, "request": [*client.event_hooks["request"], watch]}
    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if not late.is_set():  # else it is what is made of an answer that was cut
            raise
    finally:
        timer.cancel()
    if late.is_set():  # an answer without a length just ends when it is cut
        raise httpx.ReadTimeout(f"took longer than {seconds:g} seconds")
