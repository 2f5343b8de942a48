"""Answers: systems by MedAESQA's metrics, one answer beside what it cites, judges against people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from components import resources
from components.answers.hypotheses import draw_hypotheses
from components.answers.judges import draw_disagreements, draw_judges
from components.answers.one_answer import draw_answer
from components.answers.systems import draw_systems
from components.ask import Ask, ask_button
from components.controls import option_switch
from components.job_panel import job_panel
from components.markdown import literal
from components.page import page
from components.server import session_model
from components.sets import SetKind, draw_files, draw_keeping, picked_set
from components.state import PageState
from evidencebench_core.answers.judging import judge_plan
from evidencebench_core.answers.read import MOST_BYTES, SAMPLE, read_answers
from evidencebench_core.answers.store import ANSWER_SETS, AnswerSetInfo, add_answers, marks
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, judge_runs
from evidencebench_core.words import quantity

JUDGING: Final = "answers"  # the kind of the jobs
ABOUT: Final = {"questions": "Answers to questions", "hypotheses": "Answers to hypotheses"}
PARTS: Final = {
    "systems": "Systems",
    "answer": "One answer",
    "judges": "Judges",
    "differ": "Disagreements",
    "set": "This set",
}
PARAMS: Final = dict.fromkeys(
    ("set", "by", "metric", "question", "system", "sentence", "document", "run", "unit", "aspect"), ""
)
_TASKS: Final = {
    "citations": "Does each cited document support the sentence?",
    "relevance": "How much does the answer need each sentence?",
    "correctness": "Is each sentence supported by all it cites together?",
    "nuggets": "Which of the expert's facts does each answer give?",
}


def _ingest(paths: Sequence[Path], name: str) -> AnswerSetInfo:
    source = ", ".join(path.name for path in paths)
    return add_answers(resources.store(), name or paths[0].stem, read_answers(paths), source)


ANSWERS: Final = SetKind(
    param="set",
    noun="set of answers",
    sets=ANSWER_SETS,
    size=lambda info: quantity(info.counts["questions"], "question"),
    form="JSON lines with `kind`, `question_id`, `system` and `answer` (and labels, documents, clusters), or the files "
    "of MedAESQA and BioGen. Files given together make one set.",
    most_bytes=MOST_BYTES,
    ingest=_ingest,
    add_sample=lambda: _ingest([SAMPLE], "sample answers"),
    sample="sample answers",
)


def draw_questions(state: PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        info = picked_set(state, ANSWERS)
        if info is not None:
            ask_button(_asking(info), "Have the answers judged")
    job_panel(JUDGING)
    if info is None:
        st.info(
            "Which system answers best, do its citations support what it says, and how far can a judge be trusted to "
            "decide that? Load systems' answers to questions; people's labels and the documents are optional."
        )
        draw_files(state, ANSWERS)
        return
    part = option_switch(state, "part", "Part of the page", PARTS, label_visibility="collapsed")
    parts = {"answer": draw_answer, "judges": draw_judges, "differ": draw_disagreements, "set": draw_set}
    parts.get(part, draw_systems)(state, info)


def draw_set(state: PageState, info: AnswerSetInfo) -> None:
    counts = ", ".join(f"{n:,} {name}" for name, n in info.counts.items() if n)
    st.caption(literal(f"{counts}. Source: {info.source}."))
    store = resources.store()
    dependents = {"run": len(judge_runs(store, info.sha256)), "mark": len(marks(store, info.sha256))}
    draw_keeping(state, ANSWERS, info, dependents)


def _asking(info: AnswerSetInfo) -> Ask:
    def fields() -> str:
        return st.selectbox("Question to the judge", list(_TASKS), format_func=_TASKS.__getitem__)

    def plans(llm: LLM, task: str) -> list[Plan]:
        return [judge_plan(resources.store(), info.name, task, session_model(), llm=llm)]

    return Ask("Have the answers judged", JUDGING, "judgement", fields, plans)


with page("answers", "Answers", about="questions", part="systems", **PARAMS) as state:
    about = option_switch(
        state, "about", "What is answered", ABOUT, reset=("part", *PARAMS), label_visibility="collapsed"
    )
    if about == "hypotheses":
        draw_hypotheses(state)
    else:
        draw_questions(state)
