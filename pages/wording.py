"""Wording: what paraphrases, negation and spelling errors do to retrievers."""

from __future__ import annotations

import streamlit as st

from components import resources
from components.copy_link import copy_link
from components.job_panel import job_panel
from components.markdown import literal
from components.page import dataset_picker, guarded
from components.retriever_picker import retriever_picker
from components.state import PageState
from components.task_picker import task_picker
from components.wording.add_wordings import draw_add_wordings
from components.wording.instances import draw_instances, draw_side_by_side
from components.wording.published import draw_published_wordings
from components.wording.summary import draw_spelling, draw_spread, draw_summary
from components.wording.work import JOB_KIND, System, start_asking, systems_of, unanswered, wording_report
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import UnknownNameError

DEFAULTS = {
    "dataset": "",
    "task": "er@optimal",
    "r": "bm25",
    "question": "paraphrases",
    "instance": "",
    "system": "0",
}
QUESTIONS = {"paraphrases": "Paraphrases", "negation": "Negation", "spelling": "Spelling errors"}
SAID = {
    "paraphrases": "The same hypothesis in other words. A retriever that understands it should find the same "
    "sentences; gold and K are those of the original.",
    "negation": "The opposite hypothesis. **Gold stays the same, because evidence that supported the original now "
    "refutes:** the same sentences are sources of information for both. *negation* was written by hand or came "
    "with the data; *negation:rules* is made by rules that refuse what they cannot negate honestly, so its n is "
    "smaller.",
    "spelling": "The same hypothesis, badly typed: in each of so many words one letter or digit is replaced by "
    "another of its class, as in RAmBLA. A hypothesis with fewer words than that has all of them misspelt and "
    "counts as capped. The errors are one draw, with seed 0.",
}


def draw(state: PageState) -> None:
    st.title("Wording")
    st.markdown("Would a retriever have found the same evidence, had the hypothesis been worded differently?")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        task = task_picker(state)
        copy_link(state.link("task", "r", "question", dataset=dataset.name))
    choices = retriever_picker(state, "r", servers=False)
    if state["question"] not in QUESTIONS:
        st.warning(f"There is no question {literal(state['question'])}; paraphrases are shown instead.")
        state.put(question=None)
    st.segmented_control(
        "Question",
        list(QUESTIONS),
        format_func=QUESTIONS.__getitem__,
        **state.widget("question", state["question"], lambda name: name),
    )
    question = state["question"]
    st.markdown(SAID[question])
    draw_add_wordings(dataset)
    job_panel(JOB_KIND)
    systems = systems_of(dataset, task, choices)
    if not systems:
        st.info("Choose at least one retriever above.")
    elif not resources.wording_variants(dataset, question):
        st.info(f"No hypothesis of {literal(dataset.name)} has {literal(question)} yet: add a file above.")
    else:
        _answer(state, dataset, systems, question)


def _answer(state: PageState, dataset: DatasetInfo, systems: tuple[System, ...], question: str) -> None:
    missing = unanswered(dataset, systems, question)
    if missing:
        n_wordings = 1 + len(resources.wording_variants(dataset, question))
        st.info(
            f"{missing:,} queries ({n_wordings} wordings, the original among them) have no answer yet"
            " and are left out below. Asking takes seconds for bm25, minutes for dense."
        )
        if st.button("Ask what is missing", type="primary"):
            start_asking(dataset, systems, question)
            st.rerun()
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


with guarded():
    draw(PageState("wording", DEFAULTS))
