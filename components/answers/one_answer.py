"""One answer beside what it cites, with people's labels and a judge's."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import resources
from components.answers.labels import Badge, badge, citation_badge, worst
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.unit import draw_unit
from components.answers.view import JUDGED, answers_of, judge_picker, judgement_of, judges_of
from components.markdown import literal
from components.state import PageState
from evidencebench_core.answers.judging import judge_labels
from evidencebench_core.answers.model import Answer, AnswerSentence, unit_id
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.runs import RunStore


def draw_answer(state: PageState, info: AnswerSetInfo) -> None:
    """An answer's sentences with people's labels and a judge's, beside what they cite."""
    answers = answers_of(info.name, info.sha256)
    if not answers.answers:
        st.info("This set has clusters alone: there is no answer to read.")
        return
    runs = judges_of(info, *JUDGED)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = {asked.question_id: asked.question or asked.question_id for asked in answers.questions}
        question = _picker(state, "question", texts)
        systems = [system for asked, system in answers.answer if asked == question]
        if not systems:
            st.info("No system has answered this question.")
            return
        answer = answers.answer[question, _picker(state, "system", dict(zip(systems, systems, strict=True)))]
        run = judge_picker(state, runs, "") if runs else None
    st.markdown(f"## {literal(texts[question])}")
    if answer.accurate is not None:
        unlabelled = "Judged inaccurate: its sentences were not labelled."
        st.caption("Judged accurate." if answer.accurate else unlabelled)
    results = RunStore(resources.store()).results(run.id) if run else {}
    judged = judge_labels(resources.store(), run) if run else {}
    left, right = st.columns((3, 2), gap="large")
    sentence, document = _in_hand(state, answer)
    with left:
        answer_prose(
            [_prose(answer, part, judged) for part in answer.sentences],
            key=f"prose-{info.sha256[:8]}",
            chosen=sentence.id if sentence else "",
            document=document,
            on_choice=lambda place, cited: state.put(sentence=place, document=cited or None),
        )
        st.caption(
            "● required, ◐ borderline, ○ unnecessary, ✕ inappropriate. A cited document: ✓ says so, ✕ says the "
            "opposite, ○ does not say so, ? not checked. Keys: j and k for next and previous, n for the next problem."
        )
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
        st.warning(f"There is no {literal(name)} {literal(wanted, 80)} here; the first is shown.")
        wanted = next(iter(texts))
    shown = state.widget(name, wanted, reset=("sentence", "document"))
    st.selectbox(literal(name.capitalize()), list(texts), format_func=texts.__getitem__, **shown)
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
