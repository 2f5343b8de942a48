"""A question to a model about one instance: from the store if it was ever answered, else on a click.

The asking is a job: the reader goes on reading while the answer streams in, and an answer that was begun is
kept even if they leave.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job, JobCancelled
from components.app.reading import Reading
from components.models.caps import spent_text
from evidencebench_core.errors import LLMCancelledError, SettingError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection
from evidencebench_core.llm.conversation import Conversation, Planned, answer_of, planned, stored
from evidencebench_core.retrievers import Retrieval, ServedRetriever, make_retriever

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

JOB_KIND: Final = "ask"
_LONGEST: Final = 200_000  # characters of a streamed answer that are kept for watching


@dataclass(frozen=True, slots=True)
class Question:
    """A retriever that asks a server, and what it is asked."""

    reading: Reading
    choice: Choice
    connection: Connection

    @property
    def subject(self) -> str:
        """Tells it from other questions; no key is in it."""
        asked = (self.reading.key, self.choice.name, dict(self.choice.settings), self.connection.address)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    @property
    def title(self) -> str:
        """How a list of jobs names it."""
        return f"{self.choice.name} reads {self.reading.instance.id}"

    def conversation(self) -> Conversation[Retrieval]:
        """The conversation with the model; ``SettingError`` for a retriever that asks no server."""
        made = make_retriever(self.choice.name, self.choice.settings)
        if not isinstance(made, ServedRetriever):
            raise SettingError(f"retriever {self.choice.name}", "asks no server", "Choose one that does.")
        return made.connected(resources.store()).conversation(self.reading.query())


class Asked(Protocol[_T_co]):
    """The part of a question that the functions below need."""

    @property
    def connection(self) -> Connection: ...
    @property
    def subject(self) -> str: ...
    @property
    def title(self) -> str: ...
    def conversation(self) -> Conversation[_T_co]: ...


class AnswerFeed:
    """The answers as they come in, step by step; written by the thread that asks, read by those that draw."""

    def __init__(self, connection: Connection) -> None:
        self._lock = threading.Lock()
        self._connection = connection
        self._steps: dict[str, list[str]] = {}
        self._length = 0

    def add(self, step: str, piece: str | None) -> None:
        """A piece of an answer; ``None``: this step's answer starts over."""
        with self._lock:
            pieces = self._steps.setdefault(step, [])
            if piece is None:
                pieces.clear()
            elif self._length < _LONGEST:
                pieces.append(piece)
                self._length += len(piece)

    def __call__(self) -> tuple[tuple[str, str], ...]:
        """Steps and texts, without keys that the server echoes."""
        with self._lock:
            texts = {step: "".join(pieces) for step, pieces in self._steps.items()}
        return tuple((step, self._connection.without_keys(text)) for step, text in texts.items())


def stored_answer(question: Asked[_T]) -> _T | Planned:
    """The answer, if all of it is in the store; else what is still to be asked. Nothing is sent."""
    llm = LLM(question.connection, AnswerCache(resources.store()))
    found = stored(llm, question.conversation())
    return planned(llm, question.conversation()) if found is None else found


def asking_job(question: Asked[object]) -> Job | None:
    """The latest job for a question."""
    jobs = resources.jobs().jobs(JOB_KIND)
    return next((job for job in jobs if job.subject == question.subject), None)


def start_asking(question: Asked[object], budget: Budget, fresh: bool = False) -> Job:
    """Ask in the background; ``fresh`` asks again for what is in the store."""
    feed = AnswerFeed(question.connection)
    llm = LLM(question.connection, AnswerCache(resources.store()), budget=budget)
    conversation = question.conversation()

    def work(job: Job) -> str:
        def follow(step: str, piece: str | None) -> None:
            feed.add(step, piece)
            job.report(budget.spent.calls + budget.spent.cached, len(feed()))

        job.report(0, 1)
        try:
            answer_of(llm, conversation, fresh=fresh, on_step=follow, stopped=job.cancelled, grace=0.0)
        except LLMCancelledError as error:
            raise JobCancelled from error
        return spent_text(budget.spent)

    return resources.jobs().start(JOB_KIND, question.subject, question.title, work, feed=feed)
