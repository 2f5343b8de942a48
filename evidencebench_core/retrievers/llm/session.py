"""Everything a retriever needs to ask a server: a client, the store, and how to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from evidencebench_core.errors import LLMCancelledError
from evidencebench_core.llm.request import Answer, ChatRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.answers import AnswerCache
    from evidencebench_core.llm.budget import Budget
    from evidencebench_core.llm.connection import Connection
    from evidencebench_core.llm.policy import RetryPolicy
    from evidencebench_core.llm.prices import Price


OnStep = Callable[[str, str | None], None]
"""Given the step and a piece of the answer as it comes; ``None``: the answer starts over."""


class Client(Protocol):
    """The part of `evidencebench_core.llm.LLM` that retrievers use."""

    @property
    def answers(self) -> AnswerCache | None: ...

    def key(self, request: ChatRequest) -> str: ...

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer: ...

    def embed(self, model: str, texts: Sequence[str], *, fresh: bool = False) -> NDArray[np.float32]: ...

    def embedded(self, model: str, texts: Sequence[str]) -> frozenset[str]: ...

    def close(self) -> None: ...


class Session:
    """One piece of work with a server; for any number of threads.

    Parameters
    ----------
    client : Client
    store : Store or None
        Where examples come from.
    fresh : bool
        Ask even where the store has an answer.
    on_step : callable, optional
        Follows the answers as they stream in.
    """

    def __init__(
        self,
        client: Client,
        store: Store | None = None,
        *,
        fresh: bool = False,
        on_step: OnStep | None = None,
    ) -> None:
        self.client, self.store, self.fresh = client, store, fresh
        self._on_step = on_step
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let calls under way end and their answers be kept, and begin no other."""
        self._stopped.set()

    def close(self) -> None:
        """Break off even what is under way; the session is of no use any more."""
        self._stopped.set()
        self.client.close()

    def check(self) -> None:
        """
        Raises
        ------
        LLMCancelledError
            Once it is stopped.
        """
        if self._stopped.is_set():
            raise LLMCancelledError("the run", "was cancelled", "Start it again: it goes on from here.")

    def chat(self, step: str, request: ChatRequest) -> Answer:
        """The answer to a request; its pieces go to ``on_step`` as they come.

        Raises
        ------
        LLMError
            Also if the session is stopped.
        """
        self.check()
        if self._on_step is None:
            return self.client.chat(request, fresh=self.fresh)
        tell = self._on_step
        return self.client.chat(request, fresh=self.fresh, on_delta=lambda piece: tell(step, piece))

    @cached_property
    def prices(self) -> Mapping[str, Price]:
        """The table of prices, read once."""
        from evidencebench_core.llm.prices import prices

        return prices()


def session_for(
    store: Store,
    *,
    connection: Connection | None = None,
    budget: Budget | None = None,
    policy: RetryPolicy | None = None,
    fresh: bool = False,
    on_step: OnStep | None = None,
) -> Session:
    """A session with the server in force (`llm.current_connection`), its answers kept in the store.

    Parameters
    ----------
    store : Store
    connection, budget, policy : optional
        As of `llm.LLM`.
    fresh, on_step : optional
        As of `Session`.
    """
    from evidencebench_core.llm import LLM, AnswerCache

    client = LLM(connection, AnswerCache(store), policy, budget)
    return Session(client, store, fresh=fresh, on_step=on_step)


def default_session() -> Session:
    """With the store and the server that the environment names."""
    from evidencebench_core.data.store import open_store

    return session_for(open_store())
