"""Having a model propose, or look for the aspects in the papers: with what, the estimate by stage, and the button."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.page import guarded_part
from components.models.caps import closing_note, draw_caps, draw_estimate, session_budget, session_llm
from components.models.plans import draw_chosen_server
from components.models.server import session_model
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.construction import ConstructionSettings
from evidencebench_core.construction.cost import StageCost, StageRun
from evidencebench_core.construction.pipeline import Construction, construction
from evidencebench_core.construction.store import construction_info, use_settings
from evidencebench_core.llm.prices import price_of
from evidencebench_core.runs import RunEstimate, execute
from evidencebench_core.words import quantity

STAGE_NAMES: Final[Mapping[str, str]] = {
    "boundary": "Sentences about the paper",
    "suitability": "Is it particular enough",
    "motive": "Question behind it",
    "hypothesis": "Hypothesis",
    "pool": "Paper",
    "aspects": "Study aspects",
    "leak": "Nothing but the summary",
    "results": "Which are results",
    "alignment": "Sentences of the paper",
    "second": "The same by the second model",
    "coverage": "Enough aspects covered",
}
_COLUMNS: Final = (
    Column("stage", "Asked for"),
    Column("calls", "Calls", "number"),
    Column("tokens", "Tokens", "number"),
    Column("stored", "In the store", "number"),
)
Until = Literal["results", "alignment"]


def jobs_of(name: str) -> str:
    """The kind of the jobs of a construction."""
    return f"construction {name}"


def construction_here(name: str) -> Construction:
    """A construction with the settings it was run with last; before that those of the session's model."""
    info = construction_info(resources.store(), name)
    return Construction(
        resources.store(), info, info.settings or ConstructionSettings(session_model() or "-")
    )


@st.dialog("Have a model work on it", width="large")
@guarded_part("This dialog")
def work_dialog(name: str, ids: Sequence[str], until: Until) -> None:
    """The model, how it looks, caps, the estimate by stage, and the button."""
    draw_chosen_server()
    draw_caps()
    if not (model := session_model()):
        st.info("Choose a server and a model.")
        return
    made = construction_here(name)
    settings = replace(made.settings, model=model)
    if until == "alignment":
        careful = st.toggle(
            "Look at title and abstract twice",
            value=made.settings.profile == "careful",
            help="And ask again where an answer does not quote the sentences it names.",
            key="construct.careful",
        )
        settings = replace(settings, profile="careful" if careful else "paper")
    if made.info.settings and made.info.settings.model != model:
        st.warning(f"{literal(made.info.settings.model)} was asked before. What it answered is asked again.")
    planned = Construction(made.store, made.info, settings)
    costs = {
        stage: cost for stage, cost in planned.costs(ids, until=until).items() if cost.calls or cost.stored
    }
    rows = [_row(stage, cost) for stage, cost in costs.items() if cost.calls]
    table(_COLUMNS, rows, key="construct.costs", action="none", caption="What is asked for, at most")
    ready = draw_estimate(
        lambda: _estimate(settings.align_model or model, model, costs, len(ids)), "instance"
    )
    if st.button("Start", type="primary", disabled=not ready, key="construct.start"):
        use_settings(resources.store(), name, settings)
        _start(name, ids, until, round(sum(cost.calls for cost in costs.values())))
        st.rerun()


def _row(stage: str, cost: StageCost) -> Row:
    tokens = round(cost.prompt_tokens + cost.completion_tokens)
    return Row(stage, (STAGE_NAMES[stage], round(cost.calls), tokens, round(cost.stored)))


def _estimate(aligner: str, model: str, costs: Mapping[StageRun, StageCost], n_builds: int) -> RunEstimate:
    total = sum(costs.values(), StageCost())
    price = price_of(model) if aligner == model else None
    counts = (total.calls, total.stored, total.prompt_tokens, total.completion_tokens)
    calls, stored, prompt, completion = map(round, counts)
    return RunEstimate(model, n_builds, n_builds, calls, stored, prompt, completion, price)


def _start(name: str, ids: Sequence[str], until: Until, expected: int) -> Job:
    """Carry builds on in the background, within the session's caps; what is stored is not asked again."""
    budget = session_budget()
    llm = session_llm(budget)
    made = construction(resources.store(), name)

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        before = failed = 0
        for stage, plan in made.plans(llm, ids=ids, until=until):
            of_plan = done = 0
            for step in execute(plan, None, job.cancelled):
                of_plan, done = step.failed, step.done
                lost = f", {failed + of_plan:,} failed" if failed + of_plan else ""
                text = f"{STAGE_NAMES[stage]}: {quantity(before + done, 'question')} answered{lost}."
                yield before + done, max(expected, before + done), text
            before, failed = before + done, failed + of_plan
            if job.cancelled():
                return

    title = "Looks in the papers" if until == "alignment" else "Proposals"
    work = lambda job: closing_note(job, budget, steps(job))  # noqa: E731
    return resources.jobs().start(jobs_of(name), until, f"{title}: {name}", work)
