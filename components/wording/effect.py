"""The part of the page Wording that tells what other wordings do to retrievers."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.state import PageState, open_later
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.retriever_picker import retriever_picker
from components.wording.ask_dialog import ask_dialog
from components.wording.instances import draw_instances, draw_side_by_side
from components.wording.published import draw_published_wordings
from components.wording.summary import draw_spelling, draw_spread, draw_summary
from components.wording.work import JOB_KIND, System, start_asking, systems_of, unanswered, wording_report
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.tasks import Task

__all__ = ["QUESTIONS", "draw_effect"]

QUESTIONS: Final = {"paraphrases": "Paraphrases", "negation": "Negation", "spelling": "Spelling errors"}
_SAID: Final = {
    "paraphrases": "The same hypothesis in other words. A retriever that understands it should find the same "
    "sentences; gold and K are those of the original.",
    "negation": "The opposite hypothesis. **Gold stays the same, because evidence that supported the original now "
    "refutes:** the same sentences are sources of information for both. *negation* came with the data or "
    "a file, or was accepted from a model's drafts; *negation:rules* is made by rules that refuse what they cannot "
    "negate honestly, so its n is smaller.",
    "spelling": "The same hypothesis, badly typed: in each of so many words one letter or digit is replaced by "
    "another of its class, as in RAmBLA. A hypothesis with fewer words than that has all of them misspelt and "
    "counts as capped. The errors are one draw, with seed 0.",
}


def draw_effect(state: PageState, dataset: DatasetInfo, task: Task) -> None:
    """Retrievers, question, what is missing, and the report on what is stored."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices = retriever_picker(state, "r")
    if state["question"] not in QUESTIONS:
        st.warning(f"There is no question {literal(state['question'])}; paraphrases are shown instead.")
        state.put(question=None)
    st.segmented_control(
        "Question",
        list(QUESTIONS),
        format_func=QUESTIONS.__getitem__,
        required=True,
        **state.widget("question", state["question"], str),
    )
    question = state["question"]
    st.markdown(_SAID[question])
    job_panel(JOB_KIND)
    systems = systems_of(dataset, task, _with_model(choices))
    if not choices:
        st.info("Choose at least one retriever above.")
    elif not systems:
        return
    elif not resources.wording_variants(dataset, question):
        st.info(
            f"No hypothesis of {literal(dataset.name)} has {literal(question)} yet. Bring a file with some, or have "
            "a model write drafts that you then read."
        )
        with st.container(horizontal=True):
            st.button("Bring a file", on_click=lambda: state.put(part="wordings"))
            st.button("Write some with a model", on_click=lambda: state.put(part="make"))
    else:
        _answer(state, dataset, systems, question)


def _with_model(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Those that can be asked; what to do about the others is said."""
    ready = []
    for choice in choices:
        if not retriever_entry(choice.name).asks_server or choice.settings.get("model"):
            ready.append(choice)
            continue
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{literal(choice.label)}** has no model yet. Choose a server and a model first.")
            st.button("Open Models", key=f"models.{choice.label}", on_click=open_later, args=("models", {}))
    return tuple(ready)


def _answer(state: PageState, dataset: DatasetInfo, systems: tuple[System, ...], question: str) -> None:
    missing = unanswered(dataset, systems, question)
    if missing and any(not job.status.ended for job in resources.jobs().jobs(JOB_KIND)):
        st.caption(f"{missing:,} queries have no answer yet and are left out below.")
    elif missing:
        _missing(dataset, systems, question, missing)
    reports = {system.label: wording_report(dataset, system, question) for system in systems}
    if all(report.tables[question]["n"].sum() == 0 for report in reports.values()):
        return
    if question == "spelling":
        draw_spelling(systems, reports)
    else:
        draw_summary(question, systems, reports)
        if question == "paraphrases":
            draw_spread(systems, reports)
        _instances(state, dataset, systems, question, reports)
        where = {"paraphrases": "appendix F", "negation": "section 5.2"}[question]
        draw_published_wordings(reports[systems[0].label].tables["published"], where)
    with st.expander("How to read these figures"):
        lines = dict.fromkeys(line for report in reports.values() for line in report.notes)
        st.markdown("\n".join(f"- {literal(line)}" for line in lines))


def _missing(dataset: DatasetInfo, systems: tuple[System, ...], question: str, missing: int) -> None:
    n_wordings = 1 + len(resources.wording_variants(dataset, question))
    st.info(
        f"{missing:,} queries ({n_wordings} wordings, the original among them) have no answer yet"
        f" and are left out below. {_how_long(systems)}"
    )
    if st.button("Ask what is missing", type="primary"):
        if any(system.asks_server for system in systems):
            ask_dialog(dataset, systems, question)
        else:
            start_asking(dataset, systems, question)
            st.rerun()


def _how_long(systems: tuple[System, ...]) -> str:
    if any(system.asks_server for system in systems):
        return "Asking a language model may cost: the next step tells what it will take, and nothing is asked before."
    return "Asking takes seconds for bm25, minutes for dense."


def _instances(
    state: PageState,
    dataset: DatasetInfo,
    systems: tuple[System, ...],
    question: str,
    reports: dict[str, Report],
) -> None:
    st.markdown("### Instance by instance")
    place = min(state.number("system") or 0, len(systems) - 1)
    if len(systems) > 1:
        st.segmented_control(
            "Retriever",
            range(len(systems)),
            format_func=lambda n: systems[n].label,
            **state.widget("system", place, lambda n: n or None),
        )
    system = systems[place]
    tables = reports[system.label].tables
    if question == "paraphrases":
        frame = tables["instances"]
        steps = ["original", *tables["paraphrases"]["wording"][: len(frame.columns) - 8]]
    else:
        name = next(name for name in tables if name.startswith("instances"))
        frame = tables[name].rename(columns={"recall": name.removeprefix("instances ")})
        steps = ["original", name.removeprefix("instances ")]
    draw_instances(state, system, frame, steps)
    if not state["instance"]:
        return
    try:
        instance = resources.instance(dataset, state["instance"])
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        return
    draw_side_by_side(dataset, system, instance, resources.wording_variants(dataset, question))
