"""Answers: systems by MedAESQA's metrics, one answer beside what it cites, judges against people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from components.answers.hypotheses import Hypotheses, draw_answer_to, pick_answer
from components.answers.judges import draw_disagreements, draw_judges
from components.answers.labels import Badge, badge, citation_badge, worst
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.systems import draw_systems
from components.answers.unit import draw_unit
from components.answers.view import JUDGED, answers_of, judge_picker, judgement_of, judges_of
from components.app import resources
from components.app.state import PageState
from components.frame.ask import Ask, ask_button
from components.frame.page import page
from components.models.server import session_model
from components.sets import SetKind, draw_files, draw_keeping, keep, picked_set
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.judging import judge_labels, judge_plan, judge_runs
from evidencebench_core.answers.model import Answer, AnswerSentence, unit_id
from evidencebench_core.answers.read import MOST_BYTES, SAMPLE, read_answers
from evidencebench_core.answers.store import (
    AnswerSetInfo,
    add_answers,
    answer_sets,
    delete_answers,
    marks,
    rename_answers,
)
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, RunStore
from evidencebench_core.words import quantity

JUDGING: Final = "answers"  # the kind of the jobs
PARTS: Final = {
    "systems": "Systems", "answer": "One answer", "judges": "Judges", "differ": "Disagreements", "set": "This set",
}  # fmt: skip
_TASKS: Final = {
    "citations": "Does each cited document support the sentence?",
    "relevance": "How much does the answer need each sentence?",
    "correctness": "Is each sentence supported by all it cites together?",
    "nuggets": "Which of the expert's facts does each answer give?",
}


def _ingest(paths: Sequence[Path], name: str) -> AnswerSetInfo:
    source = ", ".join(path.name for path in paths)
    return add_answers(resources.store(), name or paths[0].stem, read_answers(paths), source)


def _size(info: AnswerSetInfo | Hypotheses) -> str:
    if isinstance(info, Hypotheses):
        return f"{info.dataset.n_instances:,}"
    return quantity(info.counts["questions"], "question")


ANSWERS: Final = SetKind(
    "set", "Answers", "set of answers",
    "JSON lines with `kind`, `question_id`, `system` and `answer` (and labels, documents, clusters), "
    "or MedAESQA's main and cluster files. Files given together make one set.",
    _ingest, _size,
    lambda name, new: rename_answers(resources.store(), name, new),
    lambda name: delete_answers(resources.store(), name), MOST_BYTES,
)  # fmt: skip


def draw(state: PageState) -> None:
    st.markdown(
        "Which system answers best, does it cite what it says, and how far can a judge be trusted with that?"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        store = resources.store()
        info = picked_set(state, ANSWERS, [*answer_sets(store), *map(Hypotheses, store.datasets())])
        if isinstance(info, AnswerSetInfo):
            ask_button(_asking(info), "Have the answers judged")
        elif info is not None:
            chosen = pick_answer(state, info.dataset)
    job_panel(JUDGING)
    if not isinstance(info, AnswerSetInfo):
        if info is not None and chosen is None:
            st.info("No model has answered these hypotheses yet.")
        elif info is not None and chosen is not None:
            draw_answer_to(state, info.dataset, chosen)
        with st.expander("Answers of systems to questions", expanded=info is None):
            st.info("Load answers of systems to questions; labels of people and documents are optional.")
            st.button("Load the sample answers", on_click=_load_sample, args=(state,))
            draw_files(state, ANSWERS)
        return
    part = option_switch(state, "part", "Part of the page", PARTS, label_visibility="collapsed")
    parts = {"answer": draw_answer, "judges": draw_judges, "differ": draw_disagreements, "set": draw_set}
    parts.get(part, draw_systems)(state, info)


# -- one answer ---------------------------------------------------------------------------------------


def draw_answer(state: PageState, info: AnswerSetInfo) -> None:
    """An answer's sentences with people's labels and a judge's, beside what they cite."""
    answers = answers_of(info.name, info.sha256)
    if not answers.answers:
        st.info("This set has clusters alone: there is no answer to read.")
        return
    runs = judges_of(info, *JUDGED)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = {
            question.question_id: question.question or question.question_id for question in answers.questions
        }
        question = _picker(state, "question", texts)
        systems = [system for asked, system in answers.answer if asked == question]
        if not systems:
            st.info("No system has answered this question.")
            return
        answer = answers.answer[question, _picker(state, "system", dict(zip(systems, systems, strict=True)))]
        run = judge_picker(state, runs, "") if runs else None
    st.markdown(f"## {literal(texts[question])}")
    verdict = {
        True: "Judged accurate.",
        False: "Judged inaccurate: its sentences were not labelled.",
        None: "",
    }
    st.caption(verdict[answer.accurate])
    results = RunStore(resources.store()).results(run.id) if run else {}
    judged = judge_labels(resources.store(), run) if run else {}
    left, right = st.columns((3, 2), gap="large")
    sentence, document = _in_hand(state, answer)
    with left:
        answer_prose(
            [_prose(answer, part, judged) for part in answer.sentences], key=f"prose-{info.sha256[:8]}",
            chosen=sentence.id if sentence else "", document=document,
            on_choice=lambda place, cited: state.put(sentence=place, document=cited or None),
        )  # fmt: skip
        st.caption("Keys: j and k for the next and the previous sentence, n for the next problem.")
        reference = answers.question[question]
        if reference.reference or reference.nuggets:
            with st.expander("The expert's answer and its facts"):
                st.markdown(literal(reference.reference))
                st.markdown("\n".join(f"- {literal(nugget)}" for nugget in reference.nuggets))
    with right:
        if sentence is not None:
            unit = unit_id(question, answer.system, sentence.id, *filter(None, [document]))
            unit = unit if unit in judged else unit_id(question, answer.system, sentence.id)
            decisions = marks(resources.store(), info.sha256)
            draw_unit(answers, sentence, document, judgement_of(judged, results, unit), decisions.get(unit))


def _picker(state: PageState, name: str, texts: Mapping[str, str]) -> str:
    wanted = state[name] or next(iter(texts))
    if wanted not in texts:
        st.warning(f"There is no {name} {literal(wanted, 80)} here; the first is shown.")
        wanted = next(iter(texts))
    st.selectbox(
        name.capitalize(), list(texts), format_func=texts.__getitem__,
        **state.widget(name, wanted, reset=("sentence", "document")),
    )  # fmt: skip
    return wanted


def _in_hand(state: PageState, answer: Answer) -> tuple[AnswerSentence | None, str]:
    """The sentence and citation that the address names; else the first that cites something, and its first."""
    by_id = {sentence.id: sentence for sentence in answer.sentences}
    citing = next((sentence for sentence in answer.sentences if sentence.citations), None)
    sentence = by_id.get(state["sentence"]) or citing or next(iter(by_id.values()), None)
    known = sentence.citations if sentence else ()
    return sentence, state["document"] if state["document"] in known else next(iter(known), "")


def _prose(answer: Answer, sentence: AnswerSentence, judged: Mapping[str, str | None]) -> Sentence:
    """A sentence with its mark: its relevance, or where nobody judged that its worst citation."""

    def by_judge(*document: str) -> Badge | None:
        unit = unit_id(answer.question_id, answer.system, sentence.id, *document)
        return badge(judged[unit]) if unit in judged else None

    citations = tuple(
        Citation(document, citation_badge(sentence, document), by_judge(document))
        for document in sentence.citations
    )
    own, judge = badge(sentence.relevance) if sentence.relevance else None, by_judge()
    badges = [citation.judge or citation.human for citation in citations]
    has_bad = any(shown.tone in ("plain", "bad") for shown in (own, judge, *badges) if shown)
    pairs = [(own, judge)]
    pairs += [(citation.human, citation.judge) for citation in citations if citation.human.tone != "unknown"]
    has_dispute = any(human and by_model and human.tone != by_model.tone for human, by_model in pairs)
    note = f"judge: {judge}" if judge else ""
    return Sentence(
        sentence.id, sentence.claim, own or judge or worst(badges), note, has_bad or has_dispute, citations
    )


# -- the set, and asking ------------------------------------------------------------------------------


def draw_set(state: PageState, info: AnswerSetInfo) -> None:
    rows = [Row(name, (name.capitalize(), n)) for name, n in info.counts.items() if n]
    columns = (Column("what", "In this set"), Column("n", "n", "number"))
    table(columns, rows, key=f"counts-{info.sha256[:8]}", action="none", caption=f"What is in {info.name}")
    st.caption(literal(f"Source: {info.source}."))
    store = resources.store()
    dependents = {"run": len(judge_runs(store, info.sha256)), "mark": len(marks(store, info.sha256))}
    draw_keeping(state, ANSWERS, info, dependents)
    st.markdown("## More answers")
    draw_files(state, ANSWERS)


def _load_sample(state: PageState) -> None:
    keep(
        state, ANSWERS, add_answers(resources.store(), "sample answers", read_answers([SAMPLE]), SAMPLE.name)
    )


def _asking(info: AnswerSetInfo) -> Ask:
    def fields() -> tuple[str, int | None]:
        task = st.selectbox(
            "Question to the judge", list(_TASKS), format_func=_TASKS.__getitem__, key="answers.task"
        )
        most = max(1, info.counts["questions"])
        limit = st.number_input(
            "Only the first questions", 1, most, None, placeholder=f"all {most:,}", key="answers.limit"
        )
        return task, limit

    def plans(llm: LLM, choices: tuple[str, int | None]) -> list[Plan]:
        task, limit = choices
        return [judge_plan(resources.store(), info.name, task, session_model(), limit=limit, llm=llm)]

    return Ask("Have the answers judged", JUDGING, "judgement", fields, plans)


with page(
    "answers", "Answers", set="", part="systems", by="", metric="", question="", system="", sentence="", document="",
    run="", unit="", aspect="",
) as state:  # fmt: skip
    draw(state)
