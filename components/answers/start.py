"""Having a model judge the answers of a set: of what, how, what it will take; the same again goes on with a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import streamlit as st

from components.answers import cached
from components.app import resources
from components.app.jobs import Job
from components.app.page import guarded_part
from components.models.caps import draw_caps
from components.models.plans import draw_chosen_server, draw_plans_cost, start_plans
from components.models.server import session_model
from components.widgets.markdown import literal
from evidencebench_core.answers.score_judging import score_judge
from evidencebench_core.answers.set_judging import What, set_judge_plan
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.llm import LLM
from evidencebench_core.runs import ChatPlan
from evidencebench_core.words import quantity

JUDGING: Final = "answers"  # the kind of the jobs
TASKS: Final[Mapping[What, str]] = {
    "citations": "Does each cited document support the sentence?",
    "relevance": "How much does the answer need each sentence?",
    "correctness": "Is each sentence correct by its documents?",
    "nuggets": "List the facts (nuggets) of each answer",
    "nugget-support": "Which of the expert's facts does each answer give?",
}
_NOUNS: Final[Mapping[What, str]] = {
    "citations": "citation", "relevance": "sentence", "correctness": "sentence",
    "nuggets": "answer", "nugget-support": "answer",
}  # fmt: skip
_SCORED: Final[tuple[What, ...]] = ("citations", "correctness")
_SHOWN: Final[Mapping[str, Mapping[str, str]]] = {
    "source": {"document": "the whole document", "maxsim": "its closest sentence", "nuggets": "its facts"},
    "scale": {
        "ternary": "supports, neutral, contradicts",
        "binary": "attributable or not",
        "four": "supporting, contradicting, neutral, not relevant",
    },
    "context": {"sentence": "the sentence alone", "answer": "the whole answer, too"},
    "documents": {
        "cited": "all that it cites",
        "supported": "those that people found supporting",
        "retrieved": "those closest to the question",
    },
}
_LABELS: Final = {
    "source": "The judge reads", "scale": "Labels", "context": "The judge reads", "documents": "Documents",
}  # fmt: skip


@st.dialog("Have the answers judged", width="large")
@guarded_part("This dialog")
def judge_dialog(info: AnswerSetInfo) -> None:
    """The task and its settings, the model, caps, estimate and the button."""
    by_model = st.segmented_control(
        "Judged by",
        ["model", "cosine"],
        format_func={"model": "A language model", "cosine": "Similarity of the texts: no model is asked"}.__getitem__,
        required=True,
        default="model",
        key="answers.by",
    ) == "model"  # fmt: skip
    if by_model:
        draw_chosen_server("The judge: ")
    tasks = list(TASKS) if by_model else [*_SCORED]
    what = st.selectbox("Question to the judge", tasks, format_func=TASKS.__getitem__, key="answers.what")
    settings = _settings(what, by_model)
    limit = st.number_input(
        "Only the first questions",
        min_value=1,
        max_value=max(1, info.counts["questions"]),
        value=None,
        placeholder=f"all {info.counts['questions']:,}",
        key=f"answers.limit.{info.sha256[:8]}",
    )
    if not by_model:
        _draw_cosine(info, what, settings, limit)
        return
    st.caption(
        "The same judge on the same question goes on with the run that there is: nothing is asked twice. People's "
        "labels are never shown to it."
    )
    draw_caps()
    if not (model := session_model()):
        st.info("Choose a server and a model.")
        return
    answers, store = cached.answer_set(info), resources.store()

    def plans(llm: LLM) -> list[ChatPlan]:
        plan = set_judge_plan(
            store, info.sha256, answers, what, model, settings=settings, limit=limit, llm=llm
        )
        return [plan]

    if not plans(LLM())[0].total:
        st.warning("There is nothing to ask: no document with text, or no expert's facts, in these answers.")
        return
    ready = draw_plans_cost(plans, _NOUNS[what])
    if st.button("Judge", type="primary", disabled=not ready, key="answers.judge"):
        start_plans(JUDGING, f"{model} on {info.name}: {TASKS[what]}", plans, _NOUNS[what])
        st.rerun()


def _draw_cosine(info: AnswerSetInfo, what: What, settings: Mapping[str, Any], limit: int | None) -> None:
    """The threshold and the button of the judge that compares sentence and source by their cosine."""
    threshold = st.slider("Cosine from which a source supports", 0.0, 1.0, 0.5, 0.01, key="answers.cosine")
    st.caption(
        "It is fast and free, and cannot tell a sentence from its opposite: see how far it agrees with people before "
        "you use it."
    )
    if not st.button("Judge", type="primary", key="answers.judge"):
        return
    run_id, n, kept = score_judge(
        resources.store(),
        info.sha256,
        cached.answer_set(info),
        cast('Literal["citations", "correctness"]', what),
        "cosine",
        threshold=threshold,
        settings=settings,
        limit=limit,
    )

    def work(job: Job) -> str:
        done = 0
        for done in kept:
            job.report(done, n, f"{done:,} of {quantity(n, _NOUNS[what])} judged.", stop=True)
        return f"{done:,} of {quantity(n, _NOUNS[what])} judged."

    resources.jobs().start(JUDGING, run_id, f"Cosine on {info.name}: {TASKS[what]}", work)
    st.rerun()


def _settings(what: What, by_model: bool) -> dict[str, Any]:
    """The settings of a question to the judge, each with a widget of its own."""
    settings: dict[str, Any] = {}
    names = {"citations": ("source", "scale"), "relevance": ("context",), "correctness": ("documents",)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names.get(what, ()):
            if name == "scale" and (settings["source"] == "nuggets" or not by_model):
                continue  # facts have four labels, a score two
            options = {one: shown for one, shown in _SHOWN[name].items() if by_model or one != "nuggets"}
            settings[name] = st.selectbox(
                _LABELS[name], list(options), format_func=options.__getitem__, key=f"answers.{name}"
            )
        if what == "correctness":
            settings["window"] = st.number_input(
                "Sentences at once", min_value=1, max_value=10, value=3, key="answers.window"
            )
        if what == "correctness" and by_model:
            settings["prefilter"] = st.number_input(
                "Closest passages put to the judge",
                min_value=0,
                max_value=1000,
                value=5,
                help="0: all of them. Fewer can only lower the share of correct sentences.",
                key="answers.prefilter",
            )
    return settings


def task_text(settings: Mapping[str, Any]) -> str:
    """A run's task, in words."""
    return TASKS.get(cast("What", settings["task"]), literal(str(settings["task"]), 80))
