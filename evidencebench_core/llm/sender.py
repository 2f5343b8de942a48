"""The way of one request to a server and back: over the openai package, or whatever an engine puts in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from evidencebench_core.llm.limiter import Timeouts


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
        """
        ...

    async def close(self) -> None:
        """Let go of all connections; a later `send` opens new ones."""
        ...
