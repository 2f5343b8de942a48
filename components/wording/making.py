"""Having a model write drafts of wordings: what it will take, and the job that does it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from components.app import resources
from components.app.jobs import Job, JobContext, JobStopped
from components.models.caps import session_budget, spent_text
from components.models.server import session_connection
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.llm import LLM, AnswerCache, price_of
from evidencebench_core.perturb import Draft, Drafts
from evidencebench_core.perturb.making import Kind, draft_plan, new_drafts, prompt_of
from evidencebench_core.runs import RunEstimate

__all__ = ["JOB_KIND", "Making", "making_estimate", "start_making"]

JOB_KIND: Final = "drafts"
_TOGETHER: Final = 32  # drafts a transaction, or what comes in a second


@dataclass(frozen=True, slots=True)
class Making:
    """What is to be written by whom; ``fresh`` asks again for what is there."""

    dataset: DatasetInfo
    model: str
    kinds: tuple[Kind, ...]
    limit: int | None = None
    fresh: bool = False

    def known(self) -> frozenset[tuple[str, str]]:
        """Instances and kinds that have a draft by this model and today's prompts."""
        if self.fresh:
            return frozenset()
        drafts = Drafts(resources.store(), self.dataset.name)
        return drafts.known(self.model, {kind: prompt_of(kind) for kind in self.kinds})


def making_estimate(making: Making) -> RunEstimate:
    """What is to be asked; ``n_instances`` counts the wordings.

    Raises
    ------
    SettingError
        If a prompt cannot be used.
    """
    store = resources.store()
    plan = draft_plan(
        store,
        making.dataset.name,
        making.model,
        LLM(session_connection(), AnswerCache(store)),
        kinds=making.kinds,
        limit=making.limit,
        known=making.known(),
        fresh=making.fresh,
    )
    return RunEstimate(
        making.model,
        plan.n_wordings,
        plan.n_wordings if plan.n_sampled == plan.n_instances else plan.n_sampled,
        plan.calls,
        plan.cached,
        plan.prompt_tokens,
        plan.completion_tokens,
        price_of(making.model),
    )


def start_making(making: Making) -> Job:
    """Ask in the background, within the session's caps; every draft is kept as it comes.

    Raises
    ------
    SettingError
        If a prompt cannot be used.
    """
    store, budget = resources.store(), session_budget()
    client = LLM(session_connection(), AnswerCache(store), budget=budget)
    drafts, known = Drafts(store, making.dataset.name), making.known()
    ids = store.ids(making.dataset.name, making.limit)
    total = sum((one, kind) not in known for one in ids for kind in making.kinds)

    def work(job: JobContext) -> str:
        made = new_drafts(
            store,
            making.dataset.name,
            making.model,
            client,
            kinds=making.kinds,
            limit=making.limit,
            known=known,
            fresh=making.fresh,
            cancelled=job.cancelled,
        )
        tally, waiting, last = _Tally(), list[Draft](), time.monotonic()
        try:
            for one in made:
                waiting.append(one)
                tally.add(one)
                if len(waiting) == _TOGETHER or time.monotonic() - last > 1:
                    drafts.add(waiting)
                    waiting, last = [], time.monotonic()
                job.report(tally.done, total, f"{tally}. Asked: {spent_text(budget.spent)}.")
        except BudgetReachedError as reached:
            raise JobStopped(f"{tally}. Asked: {spent_text(budget.spent)}. {reached}") from reached
        finally:
            drafts.add(waiting)
        resume = " Start it again to go on where it stopped." if job.cancelled() else ""
        return f"{tally}. Asked: {spent_text(budget.spent)}.{tally.why}{resume}"

    kinds = _listed(making.kinds)
    subject = f"{making.dataset.name}/{making.model}/{kinds}"
    title = f"{making.model} writes {kinds} for {making.dataset.name}"
    return resources.jobs().start(JOB_KIND, subject, title, work)


@dataclass(slots=True)
class _Tally:
    usable: int = 0
    refused: int = 0
    failed: int = 0
    why: str = ""

    @property
    def done(self) -> int:
        return self.usable + self.refused + self.failed

    def add(self, one: Draft) -> None:
        self.failed += one.failed
        self.refused += bool(one.problem) and not one.failed
        self.usable += not one.problem
        if one.failed and not self.why:
            self.why = f" The first failed call: {one.problem}"

    def __str__(self) -> str:
        parts = [f"{self.usable:,} draft{'' if self.usable == 1 else 's'}"]
        if self.refused:
            parts.append(f"{self.refused:,} refused by the checks")
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        return ", ".join(parts)


def _listed(kinds: Sequence[Kind]) -> str:
    return " and ".join(f"{kind}s" for kind in kinds)
