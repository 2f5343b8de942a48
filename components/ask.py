"""The dialog for everything that costs model calls: choices, the server, the estimate, and the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from components import resources
from components.caps import draw_caps, estimate_text, session_budget, session_llm
from components.guarded import guarded_part
from components.jobs import InChild, Work
from components.markdown import literal
from components.retrievers import choice_of
from components.server import address_text, draw_chosen_server, session_model
from components.state import session_connection
from components.work import carry_out, run_retrievers
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.llm import LLM
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.runs import Plan, RunInfo, estimate, plan
from evidencebench_core.runs.engines.batch import batches_under_way
from evidencebench_core.tasks import Task
from evidencebench_core.words import quantity


@dataclass(frozen=True)
class Ask:
    """Work with a model that is started from a dialog."""

    title: str  # of the dialog
    kind: str  # of the job, for `job_panel`
    noun: str  # what one unit is: "question"
    fields: Callable[[], Any]  # draws the choices and returns them, or None while they are incomplete
    plans: Callable[[LLM, Any], Sequence[Plan]]  # for these choices; called on every redraw
    job: str = ""  # title of the job, if not that of the dialog

    def asks_server(self, choices: Any) -> bool:
        return True

    def job_title(self, choices: Any) -> str:
        return f"{session_model()}: {self.job or self.title}"

    def start(self, choices: Any) -> None:
        budget = session_budget()
        plans = self.plans(session_llm(budget), choices)
        self.begin(choices, plans, lambda job: carry_out(job, plans, self.noun, budget))

    def begin(self, choices: Any, plans: Sequence[Plan], work: Work) -> None:
        subject = "/".join(made.run_id for made in plans)
        resources.jobs().start(self.kind, subject, self.job_title(choices), work)


NewRun = partial[Plan]
"""A call of `runs.plan` without the store and, for a server, the client."""


def new_run(run: RunInfo, tasks: Sequence[Task], **more: Any) -> NewRun:
    """The rest of a run, or a new run of the same retriever with other options."""
    same: dict[str, Any] = {
        "dataset": run.dataset,
        "retriever": run.retriever,
        "settings": dict(run.settings),
    }
    return partial(plan, **same, tasks=tasks, sample=run.sample, **more)


class RunAsk(Ask):
    """Runs of retrievers, local or on a server: the choices are `NewRun`s."""

    def __init__(self, title: str, kind: str, fields: Callable[[], Any], job: str = "") -> None:
        super().__init__(title, kind, "instance", fields, _plans, job)

    def asks_server(self, choices: Any) -> bool:
        return any(map(_asks_server, choices))

    def job_title(self, choices: Any) -> str:
        given = [new.keywords for new in choices]
        labels = [choice_of(call["retriever"], call["settings"]).label for call in given]
        titles = ", ".join(task.title for task in given[0]["tasks"])
        name = f"{', '.join(dict.fromkeys(labels))} on {given[0]['dataset']}: {titles}"
        return f"{name}, {self.job}" if self.job else name

    def start(self, choices: Any) -> None:
        here = [new for new in choices if not _asks_server(new)]
        if here:
            work = InChild(run_retrievers, (resources.store().path, here))
            self.begin(here, [new(resources.store()) for new in here], work)
        if len(here) < len(choices):
            super().start([new for new in choices if _asks_server(new)])


def _asks_server(new: NewRun) -> bool:
    return retriever_entry(new.keywords["retriever"]).asks_server


def _plans(llm: LLM, choices: Sequence[NewRun]) -> list[Plan]:
    store = resources.store()
    return [new(store, llm=llm if _asks_server(new) else None) for new in choices]


def ask_button(ask: Ask, label: str, **options: Any) -> None:
    if st.button(label, **options):
        open_dialog(ask)


def open_dialog(ask: Ask) -> None:
    st.dialog(ask.title, width="medium")(_draw)(ask)


@guarded_part("This dialog")
def _draw(ask: Ask) -> None:
    choices = ask.fields()
    is_ready = choices is not None
    if is_ready and ask.asks_server(choices):
        draw_chosen_server()
        draw_caps()
        is_ready = bool(session_model())
    is_ready = is_ready and _draw_cost(ask, choices)
    if st.button("Start", type="primary", disabled=not is_ready, key=f"start.{ask.kind}"):
        ask.start(choices)
        st.rerun()


def _draw_cost(ask: Ask, choices: Any) -> bool:
    """Draw the cost of all plans together; returns whether they can be started.

    Warns of batches that a server may still have of these runs: who asks now pays twice.
    """
    try:
        with st.spinner("Estimating …"):
            plans = ask.plans(session_llm(), choices)
            cost = estimate(*plans)
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return False
    if any(made.llm is not None for made in plans):
        place = address_text(session_connection())
        server = f" {literal(cost.model)} is asked, at {place}." if cost.calls else ""
        st.info(f"{estimate_text(cost, ask.noun)}{server}")
    for made in plans:
        for address, n in batches_under_way(resources.store(), made.run_id).items():
            st.warning(
                f"{quantity(n, 'batch')} of this run may still be under way at {literal(address)}: "
                "`evidencebench run --engine batch` continues with them. Otherwise they are paid for twice."
            )
    if not resources.jobs().under_way(ask.kind).isdisjoint(made.run_id for made in plans):
        st.info("This is under way already.")
        return False
    if cost.calls and cost.money is None and session_budget().money is not None:
        st.warning("A cap in dollars needs the model's price. See docs/models.md.")
        return False
    return True
