"""Having a model write drafts of paraphrases and negations: the form, the estimate and the job."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.session import local_widget
from components.app.state import PageState
from components.models.caps import closing_note, draw_caps, draw_estimate, session_budget, session_llm
from components.models.server import address_text, draw_server, session_connection, session_model
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import first_few
from evidencebench_core.perturb import KINDS, Draft, Drafts, Kind
from evidencebench_core.perturb.making import new_drafts
from evidencebench_core.runs.estimate import draft_estimate
from evidencebench_core.words import quantity

WRITING: Final = "drafts"  # the kind of the jobs
_TOGETHER: Final = 32  # drafts a transaction, or what comes in a second
_ABOUT: Final = (
    "A language model writes other wordings of the hypotheses. What it writes are **drafts**: somebody reads each one "
    "and accepts it, changes it or rejects it, and only accepted ones are wordings that a run can use. Model, prompt, "
    "date and reviewer stay with every wording."
)
_ABOUT_ITEMS: Final = (
    "A language model writes each question in other words, and each context so that its answer becomes the opposite. "
    "What it writes are **drafts**: somebody reads each one and accepts it, changes it or rejects it. Runs use those "
    "that nobody has read yet too, and every figure says how many they were."
)
_HELP: Final = (
    "A paraphrase keeps every scientific term, number and direction; one that has lost a term such as IL-6 or 0.3 mg "
    "is refused. A negation turns the direction round."
)
_HELP_ITEMS: Final = (
    "A paraphrase must end with a question mark and keep every term such as IL-6 or 0.3 mg, else it is refused. A "
    "negation rewrites the context so that yes becomes no, and no yes."
)
_NAMES: Final[dict[Kind, str]] = {"paraphrase": "Paraphrases", "negation": "Negations"}


@dataclass(frozen=True, slots=True)
class Making:
    """Drafts to be written, and by whom; ``fresh`` asks again for what is there."""

    drafts: Drafts
    model: str
    kinds: tuple[Kind, ...]
    limit: int | None = None
    fresh: bool = False

    def wanted(self) -> list[tuple[str, Kind]]:
        """Ids and kinds that have no draft by this model and today's prompts."""
        return self.drafts.missing(self.model, self.kinds, self.limit, fresh=self.fresh)


def draw_make(state: PageState, drafts: Drafts) -> None:
    """Server and model, what to write, caps, estimate, button, progress."""
    of_items = drafts.noun != "dataset"
    st.markdown(_ABOUT_ITEMS if of_items else _ABOUT)
    job_panel(WRITING)
    _draw_waiting(state, drafts)
    model = session_model()
    told = f"Asks **{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{told}: server, key and model", expanded=not model):
        draw_server()
    kinds = st.pills(
        "What to write",
        KINDS,
        selection_mode="multi",
        format_func=_NAMES.__getitem__,
        help=_HELP_ITEMS if of_items else _HELP,
        **local_widget("make.kinds", list(KINDS)),
    )
    if drafts.can_check and "negation" in kinds:
        drafts.checker = st.text_input(
            "Model that checks the negations",
            placeholder="none",
            help="A model at the same server, best another one, answers the question from the new context. Where it "
            "does not give the opposite answer, the draft is refused; you can still read and accept it.",
            key="make.checker",
        ).strip()
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        n = len(drafts.ids())
        limit = first_few("items" if of_items else "instances", n, f"make.limit.{drafts.table}.{drafts.name}")
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
        _draw_start(Making(drafts, model, tuple(kind for kind in KINDS if kind in kinds), limit, fresh))


def _draw_start(making: Making) -> None:
    wanted = making.wanted()
    ready = draw_estimate(
        lambda: draft_estimate(making.drafts, wanted, making.model, session_llm(), fresh=making.fresh),
        "wording",
    )
    if not wanted:
        chosen = "instance" if making.drafts.noun == "dataset" else "item"
        st.caption(f"Every {chosen} chosen has such drafts already, by this model and these prompts.")
    if st.button("Write drafts", type="primary", disabled=not (ready and wanted), key="make.start"):
        _start_job(making, wanted)
        st.rerun()


def _draw_waiting(state: PageState, drafts: Drafts) -> None:
    """How much there is to read, and the way there."""
    counts = drafts.counts()
    if counts["waiting"] or counts["refused"]:
        refused = f", {counts['refused']:,} refused by the checks" if counts["refused"] else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{counts['waiting']:,} waiting to be read**{refused}.", width="content")
            st.button(
                "Review", key="make.review", on_click=lambda: state.put(part="review", drafts=None, at=None)
            )


def _start_job(making: Making, wanted: Sequence[tuple[str, Kind]]) -> Job:
    """Ask in the background, within the session's caps; every draft is kept as it comes."""
    budget, drafts = session_budget(), making.drafts
    client = session_llm(budget)

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        made = new_drafts(drafts, wanted, making.model, client, fresh=making.fresh, cancelled=job.cancelled)
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
                yield tally.total(), len(wanted), f"{_tally_text(tally)}{why}"
        finally:
            drafts.add(waiting)

    kinds = " and ".join(f"{kind}s" for kind in making.kinds)
    subject = f"{drafts.name}/{making.model}/{kinds}"
    title = f"{making.model} writes {kinds} for {drafts.name}"
    return resources.jobs().start(WRITING, subject, title, lambda job: closing_note(job, budget, steps(job)))


def _tally_text(tally: Mapping[str, int]) -> str:
    parts = [quantity(tally["usable"], "draft")]
    parts += [f"{tally['refused']:,} refused by the checks"] if tally["refused"] else []
    parts += [f"{tally['failed']:,} failed"] if tally["failed"] else []
    return f"{', '.join(parts)}."
