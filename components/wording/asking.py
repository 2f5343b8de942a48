"""The systems on the page Wording: what is stored of them, the dialog and the job that ask the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job
from components.app.page import guarded_part
from components.models.caps import (
    closing_note,
    draw_batches,
    draw_caps,
    draw_estimate,
    session_budget,
    session_llm,
)
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, first_instances
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.variant_runs import Setup, n_unanswered, run_variants
from evidencebench_core.analyses.wording import WORDING_REPORTS
from evidencebench_core.data import DatasetInfo
from evidencebench_core.llm import LLM
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.runs import RunEstimate, RunStore, Variant, estimate, plan
from evidencebench_core.tasks import Task

ASKING: Final = "wording"  # the kind of the jobs


@dataclass(frozen=True, slots=True)
class System:
    """A retriever, as it was chosen, asked about a dataset and a task."""

    choice: Choice
    asked: Setup

    @property
    def label(self) -> str:
        return self.choice.label

    @property
    def asks_server(self) -> bool:
        """Whether its questions may cost something."""
        return retriever_entry(self.choice.name).asks_server


def systems_of(dataset: DatasetInfo, task: Task, choices: Sequence[Choice]) -> tuple[System, ...]:
    """One system a choice of the picker; an error of ours where one cannot be asked with its settings."""
    return tuple(
        System(choice, Setup(dataset.name, choice.name, _run_settings(dataset, choice), task))
        for choice in choices
    )


def _run_settings(dataset: DatasetInfo, choice: Choice) -> Mapping[str, object]:
    """Those that make the id of the run: what asks a server adds its prompts and examples to them."""
    if not retriever_entry(choice.name).asks_server:
        return dict(choice.settings)
    store = resources.store()
    return plan(store, dataset.name, choice.name, choice.settings, (), llm=session_llm()).spec.settings


def variants_with_original(dataset: DatasetInfo, question: str) -> tuple[Variant | None, ...]:
    """The wordings behind a question; ``None``, the original, first."""
    return (None, *resources.wording_variants(dataset, question))


def unanswered(dataset: DatasetInfo, systems: Sequence[System], question: str) -> int:
    """How many queries have no stored answer."""
    variants = variants_with_original(dataset, question)
    return sum(n_unanswered(resources.store(), system.asked, variants) for system in systems)


def wording_report(dataset: DatasetInfo, system: System, question: str) -> Report:
    """The report on what is stored, computed again whenever there are more answers."""
    store, asked = resources.store(), system.asked
    wanted = {asked.run_id(store, variant) for variant in variants_with_original(dataset, question)}
    runs = [run for run in RunStore(store).runs(dataset.name, variants=True) if run.id in wanted]
    key = (dataset.version, system.label, asked.task.name, sorted(wanted), answer_key(runs, asked.task))
    return resources.report(f"wording.{question}", key, lambda: WORDING_REPORTS[question](store, asked))


@st.dialog("Ask what is missing", width="medium")
@guarded_part("This dialog")
def ask_dialog(dataset: DatasetInfo, systems: Sequence[System], question: str) -> None:
    """One estimate for each system that asks a server; the others are asked along."""
    variants = variants_with_original(dataset, question)
    n_wordings = len(variants)
    st.markdown(
        f"Each instance is asked in up to {n_wordings} wordings, the original among them, so this takes up to "
        f"{n_wordings} times what a run takes."
    )
    limit = first_instances(
        dataset,
        f"wording.limit.{dataset.id}",
        "The same instances in every wording, so that what is compared is paired.",
    )
    draw_caps()
    ready = True
    llm = session_llm()
    for system in systems:
        if system.asks_server:
            st.markdown(f"**{literal(system.label)}**")
            ready &= draw_estimate(
                lambda system=system: _estimate(dataset, system, question, llm, limit),  # type: ignore[misc]
                "wording",
            )
            draw_batches(system.asked.run_id(resources.store(), variant) for variant in variants)
    if len(systems) > 1:
        st.caption(
            "The caps hold for all of them together. Wording by wording is asked, retriever by retriever."
        )
    if st.button("Start", type="primary", disabled=not ready, key="wording.start"):
        start_asking(dataset, systems, question, limit)
        st.rerun()


def _estimate(
    dataset: DatasetInfo, system: System, question: str, llm: LLM, limit: int | None
) -> RunEstimate:
    """The cost of the questions that a system still has to be asked; ``n_instances`` counts the wordings."""
    asked, settings = system.asked, system.asked.settings
    estimates = [
        estimate(
            plan(
                resources.store(),
                dataset.name,
                asked.retriever,
                settings,
                (asked.task,),
                limit,
                variant=variant,
                llm=llm,
            )
        )
        for variant in variants_with_original(dataset, question)
    ]
    counts = [field.name for field in fields(RunEstimate) if field.name not in ("model", "price", "batch")]
    return replace(estimates[0], **{name: sum(getattr(one, name) for one in estimates) for name in counts})


def start_asking(
    dataset: DatasetInfo, systems: Sequence[System], question: str, limit: int | None = None
) -> Job:
    """Ask in the background whatever is missing; it resumes where it was cancelled.

    Those that ask a server ask that of the session, all within the session's caps.
    """
    store = resources.store()
    variants = variants_with_original(dataset, question)
    llm = budget = None
    if any(system.asks_server for system in systems):
        budget = session_budget()
        llm = session_llm(budget)

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        done = total = 0
        for place, system in enumerate(systems, start=1):
            which = f"{system.label}, {place} of {len(systems)}: " if len(systems) > 1 else ""
            own = llm if system.asks_server else None
            for step in run_variants(store, system.asked, variants, job.cancelled, llm=own, limit=limit):
                done, total = step.done, step.total
                yield done, total, f"{which}{step.text}. What was answered is kept."
            if job.cancelled():
                return
        some = "" if limit is None else f" of the first {limit:,} instances"
        left = sum(n_unanswered(store, system.asked, variants, limit) for system in systems)
        missing = f"was asked; {left:,} got no answer. Ask again to try only those."
        yield done, total, f"Every wording{some} {missing if left else 'is answered.'}"

    task = systems[0].asked.task
    names = ", ".join(system.label for system in systems)
    subject = f"{dataset.name}/{question}/{task.name}/{names}"
    title = f"{names} on {dataset.name}, {task.title}: {question}"
    return resources.jobs().start(ASKING, subject, title, lambda job: closing_note(job, budget, steps(job)))
