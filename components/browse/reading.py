"""One instance, read: the paper on the left, what the retrievers picked and what it is worth on the right."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.browse.hypothesis import hypothesis_editor
from components.browse.ledger import (
    LEDGER_COLUMNS,
    References,
    aspect_columns,
    aspect_rows,
    ledger_rows,
    references,
)
from components.browse.unscored import draw_unscored, without_gold
from components.charts.curves import recall_curve
from components.charts.palette import MARKS, SYSTEMS
from components.models.asking import Question
from components.models.calls import draw_calls, outcome_line
from components.models.live import answer_or_button
from components.models.ranker.first_use import offered_training
from components.models.ranker.seen import tell_if_seen
from components.models.server import session_connection
from components.widgets.chart import draw_chart, is_dark
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, System, paper_view, view_of
from components.widgets.retriever_picker import Choice, retriever_picker
from components.widgets.sentence_note import LETTERS, sentence_note
from components.widgets.table import Column, Row, TableEvent, table
from components.widgets.task_picker import task_picker
from components.widgets.why_list import why_list, whys_of
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.metrics import (
    aspect_recall,
    ceiling,
    expected_recall,
    marginal_gains,
    random_expectation,
)
from evidencebench_core.retrievers import Retrieval, retriever_entries
from evidencebench_core.tasks import Task

__all__ = ["READING_DEFAULTS", "draw_reading"]

READING_DEFAULTS = {"h": "", "asif": "", "r": "bm25", "aspect": "", "sentence": "", "system": "0"}


def draw_reading(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """Everything about one instance."""
    hypothesis, gold_applies = hypothesis_editor(state, dataset, instance)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        task = task_picker(state)
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        choices = retriever_picker(state, "r")
    scored = bool(instance.evidence.focused(task.focus))
    questions: dict[str, Question] = {}
    answers: dict[str, Retrieval] = {}
    if scored or not gold_applies:
        questions = _questions(dataset, instance, task, choices, hypothesis)
        answers = _answers(dataset, instance, task, choices, hypothesis, questions)
    if not scored and gold_applies:
        st.info(f"This instance has no result aspects, so it is skipped on {task.title}, never scored 0.")
        if st.button("Read it on ER@Optimal"):
            state.put(task="er@optimal")
            st.rerun()
    _check_link(state, instance)
    names = list(answers)
    active = min(state.number("system") or 0, len(names) - 1) if names else None

    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        shown = instance if gold_applies else without_gold(instance)
        _paper(state, shown, task, answers, active)
    with side:
        sentence_note(shown, state.number("sentence"), answers)
        _model_words(answers, questions, task.budget_for(instance.evidence))
        if not gold_applies:
            draw_unscored(instance, answers, lambda event: _go(state, event))
        elif scored:
            beside = references(instance.evidence, task)
            _scores(instance, task, answers)
            if active is not None:
                _ledger(state, instance, task, answers, names[active], beside)
            _curve(instance, task, answers, beside)
            _aspects(state, instance, task, answers)


def _questions(
    dataset: DatasetInfo, instance: Instance, task: Task, choices: tuple[Choice, ...], hypothesis: str
) -> dict[str, Question]:
    """By label what is asked of those retrievers that ask a server."""
    entries, connection = retriever_entries(), session_connection()
    return {
        choice.label: Question(
            dataset, instance.id, task, choice.name, dict(choice.settings), hypothesis, connection
        )
        for choice in choices
        if entries[choice.name].asks_server
    }


def _answers(
    dataset: DatasetInfo,
    instance: Instance,
    task: Task,
    choices: tuple[Choice, ...],
    hypothesis: str,
    questions: Mapping[str, Question],
) -> dict[str, Retrieval]:
    """The retrievers' answers by label; one that fails, or waits for a click, is said and left out."""
    answers: dict[str, Retrieval] = {}
    waiting, entries = offered_training(choices), retriever_entries()
    for choice in choices:
        try:
            if choice.label in questions:
                found = answer_or_button(questions[choice.label], choice.label)
                if found is not None:
                    answers[choice.label] = found
                continue
            if choice in waiting:
                continue
            with st.spinner(f"{choice.name} reads the paper …", show_time=True):
                answers[choice.label] = resources.live_retrieval(
                    dataset, instance.id, task.name, choice.name, dict(choice.settings), hypothesis
                )
            if not entries[choice.name].sees_gold:
                tell_if_seen(dataset, instance, choice.name, dict(choice.settings))
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
    return answers


def _check_link(state: PageState, instance: Instance) -> None:
    """Say what a link names that this paper does not have, and go on without it."""
    wrong = []
    index, labels = state.number("sentence"), {aspect.label for aspect in instance.evidence.aspects}
    if state["sentence"] and (index is None or index >= len(instance.sentences)):
        wrong.append(f"sentence {state['sentence']} (the paper has 0 to {len(instance.sentences) - 1})")
        state.put(sentence=None)
    if state["aspect"] and state["aspect"] not in labels:
        wrong.append(f"aspect {state['aspect']} (the instance has A1 to A{len(labels)})")
        state.put(aspect=None)
    if wrong:
        st.warning(literal(f"The link names what is not there: {' and '.join(wrong)}."))


def _paper(
    state: PageState, instance: Instance, task: Task, answers: Mapping[str, Retrieval], active: int | None
) -> None:
    labels = [aspect.label for aspect in instance.evidence.aspects]
    pinned = labels.index(state["aspect"]) if state["aspect"] in labels else None

    def heard(event: PaperEvent) -> None:
        state.put(
            sentence=event.sentence,
            aspect=None if event.aspect is None else labels[event.aspect],
            system=event.system or None,
        )

    view = view_of(
        instance,
        focus=task.focus,
        systems=[System(label, answer.selection) for label, answer in answers.items()],
        active=active,
        selected=state.number("sentence"),
        aspect=pinned,
    )
    paper_view(view, key="reader", height=780, on_event=heard)


def _model_words(
    answers: Mapping[str, Retrieval], questions: Mapping[str, Question], budget: int | None
) -> None:
    """What came back from the models, and the calls behind it."""
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        if label not in questions:
            continue
        if line := outcome_line(answer, budget):
            st.markdown(f"{letter} {literal(label)}: {line}.")
        draw_calls(questions[label], letter, label, answer)


def _scores(instance: Instance, task: Task, answers: Mapping[str, Retrieval]) -> None:
    evidence = instance.evidence
    covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
    rows = []
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        covered = aspect_recall(answer.selection, covers) or 0.0
        recall = expected_recall(answer.selection, covers, budget)
        rows.append(
            Row(
                letter,
                (
                    f"{letter}  {label}",
                    recall,
                    f"{round(covered * len(covers))} of {len(covers)}",
                    len(answer.selection),
                ),
            )
        )
    best = ceiling(covers, budget)
    chance = random_expectation(evidence.n_sentences, covers, budget)
    rows.append(Row("ceiling", ("Ceiling (optimal selection)", best, None, None), muted=True))
    rows.append(Row("random", ("Random expectation", chance, None, None), muted=True))
    limit = "no limit" if budget is None else f"K = {budget}"
    st.markdown(f"#### {literal(task.title)} ({limit}), this instance")
    table(
        (
            Column("who", "Retriever"),
            Column("recall", "Aspect Recall", "percent", "Share of the task's aspects that the picks cover"),
            Column("covered", "Covered"),
            Column("picks", "Picks", "number"),
        ),
        rows,
        key="scores",
        action="none",
        caption="Aspect Recall on this instance",
    )


def _ledger(
    state: PageState,
    instance: Instance,
    task: Task,
    answers: Mapping[str, Retrieval],
    label: str,
    beside: References,
) -> None:
    st.markdown(f"#### What each pick of {literal(label)} adds")
    if len(answers) > 1:
        names = list(answers)
        st.segmented_control(
            "Picks of",
            range(len(names)),
            format_func=lambda n: f"{LETTERS[n]} {names[n]}",
            label_visibility="collapsed",
            **state.widget("system", names.index(label), lambda n: n or None),
        )
    selection = answers[label].selection
    rows = ledger_rows(instance, task, selection, beside)
    table(
        LEDGER_COLUMNS,
        rows,
        key="ledger",
        action="none",
        on_event=lambda event: _go(state, event),
        caption=f"Marginal gain of each pick of {label}",
        empty="Nothing was picked.",
        height=None if len(rows) <= 15 else 640,
    )
    if len(selection) > 60:
        st.caption(f"The first 60 of {len(selection)} picks.")
    _whys(state, instance, answers[label])


def _whys(state: PageState, instance: Instance, answer: Retrieval) -> None:
    """Why each was picked, where the retriever says by numbers; nothing otherwise."""
    whys = whys_of(answer, instance.sentences)
    if not whys:
        return
    st.markdown("#### Why each was picked")
    st.caption(
        "What each group of features adds to the sentence's score (filled, to the right of the line) or takes from it "
        "(hollow, to the left), in standard deviations of the scores over this paper. A line opens its features."
    )
    why_list(
        whys,
        key="whys",
        on_sentence=lambda index: state.put(sentence=index),
        height=None if len(whys) <= 10 else 640,
    )


def _curve(instance: Instance, task: Task, answers: Mapping[str, Retrieval], beside: References) -> None:
    covers = instance.evidence.covers(task.focus)
    dark = is_dark()
    lines = {f"{LETTERS[n]} {label}": answer.selection for n, (label, answer) in enumerate(answers.items())}
    colours = {name: SYSTEMS[n].on(dark) for n, name in enumerate(lines)}
    colours |= {"optimal": MARKS["gold"].on(dark), "greedy": MARKS["both"].on(dark)}
    points = [
        (name, pick, recall)
        for name, picks in {**lines, "greedy": beside.greedy, "optimal": beside.best}.items()
        for pick, recall in enumerate(
            [0.0, *((g.recall_so_far or 0.0) for g in marginal_gains(picks[:60], covers))]
        )
    ]
    draw_chart(
        recall_curve(
            pd.DataFrame(points, columns=["name", "pick", "recall"]), colours, ("greedy", "optimal")
        ),
        key="curve",
        alt="Aspect Recall so far after each pick: "
        + "; ".join(
            f"{name} ends at {percent(points_of[-1])}" for name, points_of in _by_name(points).items()
        ),
    )


def _by_name(points: list[tuple[str, int, float]]) -> dict[str, list[float]]:
    series: dict[str, list[float]] = {}
    for name, _, recall in points:
        series.setdefault(name, []).append(recall)
    return series


def _aspects(state: PageState, instance: Instance, task: Task, answers: Mapping[str, Retrieval]) -> None:
    only = state["aspect"]
    which = "Result aspects" if task.focus == "results" else "Study aspects"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {which}")
        if only and st.button("Show all aspects", key="all-aspects"):
            state.put(aspect=None)
            st.rerun()
    table(
        aspect_columns([f"{LETTERS[n]} {label}" for n, label in enumerate(answers)]),
        aspect_rows(instance, task, answers, only),
        key="aspects",
        action="none",
        on_event=lambda event: _go(state, event),
        caption=f"{which} of this instance",
        empty="The chosen aspect is not among those of this task.",
        height=640,
    )


def _go(state: PageState, event: TableEvent) -> None:
    """A chip was clicked: go to its sentence, or pin its aspect (again: let go)."""
    kind, _, value = event.value.partition(":")
    if event.kind == "chip" and kind == "sentence":
        state.put(sentence=value)
    elif event.kind == "chip" and kind == "aspect":
        state.put(aspect=None if state["aspect"] == value else value)
