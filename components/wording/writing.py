"""Having a model write drafts of paraphrases and negations: the form, the estimate and the job."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.state import PageState, local_widget
from components.models.caps import closing_note, draw_caps, draw_estimate, session_budget, session_llm
from components.models.server import address_text, draw_server, session_connection, session_model
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import first_instances
from evidencebench_core.data import DatasetInfo
from evidencebench_core.perturb import Draft, Drafts
from evidencebench_core.perturb.making import KINDS, Kind, new_drafts, prompt_of
from evidencebench_core.runs import RunEstimate
from evidencebench_core.runs.estimate import draft_estimate
from evidencebench_core.words import quantity

WRITING: Final = "drafts"  # the kind of the jobs
_TOGETHER: Final = 32  # drafts a transaction, or what comes in a second
_NAMES: Final[dict[Kind, str]] = {"paraphrase": "Paraphrases", "negation": "Negations"}


@dataclass(frozen=True, slots=True)
class Making:
    """Drafts to be written, and by whom; ``fresh`` asks again for what is there."""

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

    def n_left(self) -> int:
        """How many drafts are to be written."""
        known, ids = self.known(), resources.store().ids(self.dataset.name, self.limit)
        return sum((one, kind) not in known for one in ids for kind in self.kinds)


def draw_make(state: PageState, dataset: DatasetInfo) -> None:
    """Server and model, what to write, caps, estimate, button, progress."""
    st.markdown(
        "A language model writes other wordings of the hypotheses. What it writes are **drafts**: somebody reads "
        "each one and accepts it, changes it or rejects it, and only accepted ones are wordings that a run can "
        "use. Model, prompt, date and reviewer stay with every wording."
    )
    job_panel(WRITING)
    _draw_waiting(state, dataset)
    model = session_model()
    told = f"Asks **{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{told}: server, key and model", expanded=not model):
        draw_server()
    kinds = st.pills(
        "What to write",
        KINDS,
        selection_mode="multi",
        format_func=_NAMES.__getitem__,
        help="A paraphrase keeps every scientific term, number and direction; one that has lost a term such as "
        "IL-6 or 0.3 mg is refused. A negation turns the direction round. The prompts are on the page Models.",
        **local_widget("make.kinds", list(KINDS)),
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        limit = first_instances(dataset, f"make.limit.{dataset.id}")
    with right:
        fresh = st.checkbox(
            "Ask again where there is a draft",
            help="Pays again. Where the new words differ they take the old draft's place and wait to be read.",
            key="make.fresh",
        )
    draw_caps()
    if not kinds:
        st.info("Choose what to write.")
    elif model:
        _draw_start(Making(dataset, model, tuple(kind for kind in KINDS if kind in kinds), limit, fresh))


def _draw_start(making: Making) -> None:
    ready = draw_estimate(lambda: _estimate(making), "wording")
    left = making.fresh or making.n_left() > 0
    if not left:
        st.caption("Every instance chosen has such drafts already, by this model and these prompts.")
    if st.button("Write drafts", type="primary", disabled=not (ready and left), key="make.start"):
        _start_job(making)
        st.rerun()


def _draw_waiting(state: PageState, dataset: DatasetInfo) -> None:
    """How much there is to read, and the way there."""
    counts = Drafts(resources.store(), dataset.name).counts()
    if counts["waiting"] or counts["refused"]:
        refused = f", {counts['refused']:,} refused by the checks" if counts["refused"] else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{counts['waiting']:,} waiting to be read**{refused}.", width="content")
            st.button(
                "Review", key="make.review", on_click=lambda: state.put(part="review", drafts=None, at=None)
            )


def _estimate(making: Making) -> RunEstimate:
    store = resources.store()
    return draft_estimate(
        store,
        making.dataset.name,
        making.model,
        session_llm(),
        kinds=making.kinds,
        limit=making.limit,
        known=making.known(),
        fresh=making.fresh,
    )


def _start_job(making: Making) -> Job:
    """Ask in the background, within the session's caps; every draft is kept as it comes."""
    store, budget = resources.store(), session_budget()
    client = session_llm(budget)
    drafts, known, total = Drafts(store, making.dataset.name), making.known(), making.n_left()

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
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
        tally, why = Counter[str](), ""
        waiting, last = list[Draft](), time.monotonic()
        try:
            for one in made:
                waiting.append(one)
                tally["failed" if one.failed else "refused" if one.problem else "usable"] += 1
                if one.failed and not why:
                    why = f" The first failed call: {one.problem}"
                if len(waiting) == _TOGETHER or time.monotonic() - last > 1:
                    drafts.add(waiting)
                    waiting, last = [], time.monotonic()
                yield tally.total(), total, f"{_tally_text(tally)}{why}"
        finally:
            drafts.add(waiting)

    kinds = " and ".join(f"{kind}s" for kind in making.kinds)
    subject = f"{making.dataset.name}/{making.model}/{kinds}"
    title = f"{making.model} writes {kinds} for {making.dataset.name}"
    return resources.jobs().start(WRITING, subject, title, lambda job: closing_note(job, budget, steps(job)))


def _tally_text(tally: Mapping[str, int]) -> str:
    parts = [quantity(tally["usable"], "draft")]
    parts += [f"{tally['refused']:,} refused by the checks"] if tally["refused"] else []
    parts += [f"{tally['failed']:,} failed"] if tally["failed"] else []
    return f"{', '.join(parts)}."
