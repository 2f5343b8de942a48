"""One answer: its sentences with people's labels and a judge's, what they cite, and its nuggets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import streamlit as st

from components.answers import cached
from components.answers.judge import READABLE, Judge, judge_from, judges_of, picked_run
from components.answers.labels import RELEVANCE, UNCHECKED, Look, citation_look, worst
from components.answers.matrix import draw_nuggets
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.unit import draw_unit
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.answers.model import Answer, AnswerSentence, Question
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.words import quantity


def draw_reading(state: PageState, info: AnswerSetInfo) -> None:
    answers = cached.answer_set(info)
    if not answers.answers:
        st.info("This set has clusters alone: there is no answer to read.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {one.id: one.text or one.id for one in answers.questions.values()}
        question = answers.questions[_picker(state, "question", list(titles), titles)]
        systems = [system for asked, system in answers.answers if asked == question.id]
        if not systems:
            st.info("No system has answered this question.")
            return
        answer = answers.answers[question.id, _picker(state, "system", systems, {})]
        runs = judges_of(info, *READABLE)
        run = picked_run(state, info, runs, none="People alone") if runs else None
    judge = judge_from(info, run) if run else None
    st.markdown(f"## {literal(question.text or question.id)}")
    drawn = [_sentence(answer, one, judge) for one in answer.sentences]
    st.caption(_counts(answer, drawn, judge))
    if not drawn:
        st.info("The answer has no sentence.")
    left, right = st.columns((3, 2), gap="large")
    sentence, document = _sentence_in_hand(state, answer)
    with left:
        answer_prose(
            drawn,
            key=f"answer-prose-{info.sha256[:8]}",
            chosen=sentence.id if sentence else "",
            document=document,
            on_choice=lambda one, cited: state.put(sentence=one, document=cited or None),
        )
        if drawn:
            st.caption(
                "Click a sentence or a citation. Keys: j and k for the next and the previous sentence, n for the next "
                "that is not needed, not supported, or labelled otherwise by the judge."
                + (" Of two symbols the second is the judge's." if judge and judge.is_of_citations else "")
            )
    with right:
        if sentence is not None:
            draw_unit(info, answer, sentence, document, judge)
    draw_nuggets(state, info, answer)
    _draw_gold(question)


def _picker(state: PageState, name: str, known: list[str], titles: Mapping[str, str]) -> str:
    """The question or system that the address names, with a picker; the first where it is not there."""
    wanted = state[name] or known[0]
    if wanted not in known:
        st.warning(f"There is no {name} {literal(wanted, 80)} here; the first is shown.")
        wanted = known[0]
    st.selectbox(
        name.capitalize(),
        known,
        format_func=lambda one: titles.get(one, one),
        **state.widget(name, wanted, reset=("sentence", "document")),
    )
    return wanted


def _sentence_in_hand(state: PageState, answer: Answer) -> tuple[AnswerSentence | None, str]:
    """The sentence and citation that the address names; else the first that cites something, and its first."""
    by_id = {one.id: one for one in answer.sentences}
    if state["sentence"] not in ("", *by_id):
        st.warning(f"There is no sentence {literal(state['sentence'], 80)} in this answer; another is shown.")
    cites = next((one for one in answer.sentences if one.citations), None)
    sentence = by_id.get(state["sentence"]) or cites or next(iter(by_id.values()), None)
    if sentence is None:
        return None, ""
    known = sentence.citations
    return sentence, state["document"] if state["document"] in known else next(iter(known), "")


def _sentence(answer: Answer, sentence: AnswerSentence, judge: Judge | None) -> Sentence:
    """A sentence with its mark: its relevance, or where nobody judged that its worst citation."""
    people = RELEVANCE.get(sentence.relevance or "")
    by_judge = judge.look(answer, sentence) if judge and not judge.is_of_citations else None
    citations = tuple(
        Citation(
            document,
            citation_look(sentence.relations(document)),
            judge.look(answer, sentence, document) if judge and judge.is_of_citations else None,
        )
        for document in sentence.citations
    )
    looks = [one.judge or one.human for one in citations if one.judge or one.human != UNCHECKED]
    differ = any(
        one.judge and one.human != UNCHECKED and one.judge.tone != one.human.tone for one in citations
    )
    notes = [f"judge: {by_judge}"] if by_judge else []
    if people and by_judge and people.tone != by_judge.tone and judge and judge.can_be_corrected:
        differ = True
    bad = any(look.tone in ("plain", "bad") for look in (*looks, *filter(None, (people, by_judge))))
    return Sentence(
        sentence.id,
        sentence.claim or sentence.text,
        people or by_judge or worst(looks),
        "; ".join([*([str(people)] if people and notes else []), *notes]),
        bad or differ,
        citations,
    )


def _counts(answer: Answer, drawn: list[Sentence], judge: Judge | None) -> str:
    """The counts of the answer, its labels, and what was not checked."""
    verdict = {
        True: "Judged accurate. ",
        False: "Judged inaccurate: its sentences were not labelled. ",
        None: "",
    }[answer.accurate]
    citations = [one for sentence in drawn for one in sentence.citations]
    relevances = [RELEVANCE.get(one.relevance or "") for one in answer.sentences]
    parts = [
        f"{quantity(len(drawn), 'sentence')}{_tally(relevances)}",
        f"{quantity(len(citations), 'citation')}{_tally(one.human for one in citations)}",
    ]
    if judge and judge.is_of_citations:
        unasked = sum(one.judge is None for one in citations)
        parts.append(f"by the judge{_tally(one.judge for one in citations)}")
        parts += [f"{unasked:,} not put to it"] * bool(unasked)
    return f"{verdict}{'; '.join(parts)}."


def _tally(looks: Iterable[Look | None]) -> str:
    """``: 3 ✓ says so, 1 ? not checked``; empty of none."""
    counts = Counter(str(look) for look in looks if look is not None)
    return ": " + ", ".join(f"{n:,} {words}" for words, n in counts.items()) if counts else ""


def _draw_gold(question: Question) -> None:
    if not question.reference and not question.nuggets:
        return
    with st.expander("The expert's answer and its nuggets"):
        if question.reference:
            st.markdown(literal(question.reference))
        st.markdown("\n".join(f"- {literal(one)}" for one in question.nuggets or ()))
