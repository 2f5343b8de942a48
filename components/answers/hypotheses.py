"""A model's answers to the hypotheses of a dataset: which model's, which answer, and how to have them answered."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.answers.cited import draw_answer
from components.answers.view import report_of
from components.ask import Ask, ask_button
from components.controls import option_box
from components.job_panel import job_panel
from components.markdown import literal
from components.server import session_model
from components.state import PageState, open_later
from evidencebench_core.answers.asking import KIND, answer_plan, answers_of
from evidencebench_core.answers.cited import CitedAnswer
from evidencebench_core.answers.judging import judge_plan
from evidencebench_core.data import DatasetInfo
from evidencebench_core.data.model import Focus
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, RunInfo, RunStore, judge_runs
from evidencebench_core.words import quantity

_OF_ANSWER: Final = ("sentence", "document", "aspect")  # parameters of the address for one answer


def draw_hypotheses(state: PageState) -> None:
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.info("A model can answer the hypotheses of a dataset from its papers. No dataset is loaded yet.")
        st.button("Load a dataset", type="primary", on_click=open_later, args=("home", {}))
        return
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    with bar:
        names = dict(zip(datasets, datasets, strict=True))
        shown = option_box(state, "dataset", "Dataset", names, reset=("run", "question", *_OF_ANSWER))
    dataset, store = datasets[shown], RunStore(resources.store())
    runs = {run.id: run for run in store.runs_of(KIND, dataset.sha256) if run.n_answered + run.n_failed}
    labels = {run_id: _label(run) for run_id, run in reversed(runs.items())}
    run = None
    job_panel(KIND)
    if not runs:
        st.info("No model has answered these hypotheses yet.")
    else:
        with bar:
            run = runs[option_box(state, "run", "Answered by", labels, reset=("question", *_OF_ANSWER))]
        judges = tuple(judge.stamp for judge in judge_runs(resources.store(), run.id))
        answers, report = _answers_of(dataset, run), report_of(run.id, "", "", (run.stamp, *judges))
        ids = list(answers)
        place = ids.index(state["question"]) + 1 if state["question"] in ids else 1
        number = state.widget("question", place, lambda place: ids[place - 1], reset=_OF_ANSWER)
        bar.number_input(f"Answer (of {len(ids):,})", 1, len(ids), width=150, **number)
        if state["question"] not in ("", *ids):
            st.warning(f"There is no answer to {literal(state['question'], 80)}; the first is shown.")
        instance = resources.instance(dataset, ids[place - 1])
        draw_answer(state, instance, run, answers[instance.id], report)
    with bar:
        ask_button(_asking(dataset, run), "Have a model answer", type="secondary" if runs else "primary")


def _label(run: RunInfo) -> str:
    focus = "findings only, " if run.settings["settings"]["focus"] == "results" else ""
    return f"{run.settings['model']} ({focus}{quantity(run.n_answered, 'answer')})"


@resources.cached()
def _answers_of(dataset: DatasetInfo, run: RunInfo) -> dict[str, CitedAnswer]:
    return answers_of(resources.store(), run)


def _asking(dataset: DatasetInfo, run: RunInfo | None) -> Ask:
    questions = {
        "all": "What does the paper find on the hypothesis?",
        "results": "What does it find? Findings only.",
    }
    if run is not None:
        questions["judge"] = f"Do the sentences support what {run.settings['model']} cites them for?"

    def fields() -> str:
        return st.selectbox("Question to the model", list(questions), format_func=questions.__getitem__)

    def plans(llm: LLM, choice: str) -> list[Plan]:
        if choice == "judge" and run is not None:
            return [judge_plan(resources.store(), run.id, "citations", session_model(), llm=llm)]
        focus: Focus = "results" if choice == "results" else "all"
        return [answer_plan(resources.store(), dataset.name, session_model(), focus=focus, llm=llm)]

    return Ask("Have hypotheses answered", KIND, "question", fields, plans)
