"""A question to a model about one instance: from the store if it was ever answered, else on a click.

The asking is a job: the reader goes on reading meanwhile, and an answer that was begun is kept even if they leave.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job, JobCancelled
from components.app.reading import Reading
from components.models.caps import spent_text
from evidencebench_core.errors import LLMCancelledError, SettingError
from evidencebench_core.llm import LLM, Budget, Connection, Cost, Work, answer_of, rehearse
from evidencebench_core.retrievers import Retrieval, ServedRetriever, make_retriever

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

JOB_KIND: Final = "ask"


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

    def work(self) -> Work[Retrieval]:
        """What is asked of the model; ``SettingError`` for a retriever that asks no server."""
        made = make_retriever(self.choice.name, self.choice.settings)
        if not isinstance(made, ServedRetriever):
            raise SettingError(f"retriever {self.choice.name}", "asks no server", "Choose one that does.")
        retriever = made.connected(resources.store())
        return lambda llm: retriever.answer(llm, self.reading.query())


class Asked(Protocol[_T_co]):
    """The part of a question that the functions below need."""

    @property
    def connection(self) -> Connection: ...
    @property
    def subject(self) -> str: ...
    @property
    def title(self) -> str: ...
    def work(self) -> Work[_T_co]: ...


def stored_answer(question: Asked[_T]) -> _T | Cost:
    """The answer, if all of it is in the store; else what is still to be asked. Nothing is sent."""
    (answer,), cost = rehearse(LLM(question.connection, resources.store()), question.work())
    return cost if answer is None else answer


def asking_job(question: Asked[object]) -> Job | None:
    """The latest job for a question."""
    jobs = resources.jobs().jobs(JOB_KIND)
    return next((job for job in jobs if job.subject == question.subject), None)


def start_asking(question: Asked[object], budget: Budget, fresh: bool = False) -> Job:
    """Ask in the background; ``fresh`` asks again for what is in the store."""
    llm = LLM(question.connection, resources.store(), budget, fresh=fresh)
    asked_work = question.work()

    def work(job: Job) -> str:
        def stopped() -> bool:
            job.report(budget.spent.calls + budget.spent.cached, 0)
            return job.cancelled()

        try:
            answer_of(llm, asked_work, stopped=stopped, grace=0.0)
        except LLMCancelledError as error:
            raise JobCancelled from error
        return spent_text(budget.spent)

    return resources.jobs().start(JOB_KIND, question.subject, question.title, work)
