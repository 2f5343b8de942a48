"""One instance, read: the paper on the left, what the retrievers picked and what it is worth on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten

import pandas as pd
import streamlit as st

from components.app.choices import Choice
from components.app.page import drop_missing, percent
from components.app.reading import Reading
from components.app.state import PageState
from components.browse.cited_answer import ANSWER_DEFAULTS, draw_cited_answer
from components.browse.edited import draw_edit
from components.browse.hypothesis import hypothesis_editor
from components.browse.ledger import (
    LEDGER_COLUMNS,
    MOST_PICKS,
    References,
    aspect_columns,
    aspect_rows,
    ledger_rows,
    references,
)
from components.browse.notes import draw_notes, sentence_notes
from components.charts.curves import recall_curve
from components.models.asking import Question
from components.models.calls import draw_calls, outcome_line
from components.widgets.answers import (
    active_system,
    answer_at_hand,
    answers_to,
    choice_behind,
    draw_paper,
    system_switch,
    words_to_underline,
)
from components.widgets.chart import draw_chart, is_dark
from components.widgets.chips import go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.rank_columns import COLUMN_DEFAULTS, draw_columns_switch
from components.widgets.sentence_note import LETTERS, sentence_note
from components.widgets.table import Column, Row, table
from components.widgets.task_picker import TASK_HELP
from components.widgets.why_list import why_list, whys_of
from evidencebench_core.annotation.provenance import provenance_line
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.metrics import (
    aspect_recall,
    ceiling_range,
    expected_recall,
    marginal_gains,
    random_expectation,
)
from evidencebench_core.palette import MARKS, SYSTEMS
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task
from evidencebench_core.words import range_text

READING_DEFAULTS = {
    "h": "",
    "asif": "",
    "r": "bm25",
    "aspect": "",
    "sentence": "",
    "system": "0",
    "words": "",
    **COLUMN_DEFAULTS,
    **ANSWER_DEFAULTS,
}


def draw_reading(
    state: PageState, dataset: DatasetInfo, instance: Instance, task: Task, choices: Sequence[Choice]
) -> None:
    """Everything about one instance."""
    with st.container(gap="xsmall"):
        hypothesis, gold_applies = hypothesis_editor(state, dataset, instance)
    has_aspects = bool(instance.evidence.focused(task.focus))
    answers: dict[str, Retrieval] = {}
    questions: dict[str, Question] = {}
    if has_aspects or not gold_applies:
        reading = Reading(instance, hypothesis, task, dataset.version, dataset)
        with st.container():  # so that a warning that comes or goes leaves the reader in its place
            answers, questions = answers_to(reading, choices)
    else:
        st.info(f"This instance has no result aspects, so it is skipped on {task.title}, never scored 0.")
        if st.button("Read it on ER@Optimal"):
            state.put(task="er@optimal")
            st.rerun()
    labels = [aspect.label for aspect in instance.evidence.aspects]
    drop_missing(state, len(instance.sentences), labels)
    active = active_system(state, answers)
    shown = instance
    if not gold_applies:
        shown = replace(instance, evidence=replace(instance.evidence, aspects=()))

    paper, side = st.columns([58, 42], gap="medium")
    with paper:
        words = words_to_underline(state, instance, hypothesis, choices, answers, active)
        notes = sentence_notes(dataset, instance)
        draw_paper(state, shown, answers, active, focus=task.focus, notes=notes, words=words)
    with side:
        draw_notes(state, dataset, instance)
        sentence_note(shown, state.number("sentence"), answers)
        _model_outcomes(answers, questions, task.budget_for(instance.evidence))
        draw_columns_switch(state, shown, answers, task.focus)
        if active is not None and hypothesis != instance.hypothesis:
            system_switch(state, answers, active, part="edit")
            label, after = list(answers.items())[active]
            original = Reading(instance, instance.hypothesis, task, dataset.version, dataset)
            choice = choice_behind(label, choices)
            before = answer_at_hand(original, choice) if choice else None
            draw_edit(state, instance, task, label, before, after, gold_applies and has_aspects)
        if hypothesis == instance.hypothesis:
            draw_cited_answer(state, dataset, instance)
        if not gold_applies:
            _draw_unscored(state, instance, answers)
        elif has_aspects:
            beside = references(instance.evidence, task)
            _scores(instance, task, answers, beside)
            if active is not None:
                _ledger(state, instance, task, answers, active, beside)
            _aspects(state, instance, task, answers)
            st.markdown("## Recall after each pick")
            _curve(instance, task, answers, beside)


def _model_outcomes(
    answers: Mapping[str, Retrieval], questions: Mapping[str, Question], budget: int | None
) -> None:
    """The outcome of every model's answer, and the calls behind it."""
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        if line := outcome_line(answer, budget):
            st.markdown(f"{letter} {literal(label)}: {line}.")
        draw_calls(label, letter, answer, questions.get(label))


def _draw_unscored(state: PageState, instance: Instance, answers: Mapping[str, Retrieval]) -> None:
    """The picks alone, for an edited hypothesis that nobody has said the gold applies to."""
    st.info(
        "Not scored: the gold was made for the original hypothesis. The paper shows the picks alone. To see them "
        "against the gold, tick “Score it as if the gold still applied” above."
    )
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        st.markdown(f"## {letter} {literal(label)}: {len(answer.selection)} picks")
        ranks = {index: rank for rank, index in enumerate(answer.ranking, start=1)}
        table(
            (
                Column("rank", "Rank", "number"),
                Column("sentence", "Sentence", "chips"),
                Column("text", "Text"),
            ),
            [
                Row(
                    str(index),
                    (
                        ranks.get(index),
                        (sentence_chip(index),),
                        shorten(instance.sentences[index], 200, placeholder=" …"),
                    ),
                )
                for index in answer.selection[:MOST_PICKS]
            ],
            key=f"picks-{letter}",
            action="none",
            on_event=partial(go_to, state),
            caption=f"Picks of {label}, not scored",
            empty="Nothing was picked.",
            height=420,
        )


def _scores(instance: Instance, task: Task, answers: Mapping[str, Retrieval], beside: References) -> None:
    evidence = instance.evidence
    covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
    rows = []
    for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
        n_covered = round((aspect_recall(answer.selection, covers) or 0.0) * len(covers))
        recall = expected_recall(answer.selection, covers, budget)
        cells = (f"{letter}  {label}", recall, f"{n_covered} of {len(covers)}", len(answer.selection))
        rows.append(Row(letter, cells))
    optimal = evidence.optimal_for(task.focus) or len(covers)
    low, high = ceiling_range(covers, None if budget is None or budget >= optimal else budget) or (0.0, 0.0)
    top = low if low == high else range_text(low, high)
    chance = random_expectation(evidence.n_sentences, covers, budget)
    rows.append(Row("ceiling", ("Ceiling (optimal selection)", top, None, None), muted=True))
    rows.append(Row("random", ("Random expectation", chance, None, None), muted=True))
    limit = "no limit" if budget is None else f"K = {budget}"
    st.markdown(f"## {literal(task.title)} ({limit}), this instance", help=TASK_HELP)
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
    if (aspect_recall(beside.best, covers) or 0.0) < high or len(beside.best) > optimal:
        st.caption("The optimal selection takes too long to find: “Optimal” is the best that was found.")
    made = provenance_line(instance.construction)
    for line in (*[SUFFICIENT_NOTE] * instance.is_sufficient, *filter(None, [made])):
        st.caption(literal(line))


def _ledger(
    state: PageState,
    instance: Instance,
    task: Task,
    answers: Mapping[str, Retrieval],
    active: int,
    beside: References,
) -> None:
    label, answer = list(answers.items())[active]
    st.markdown(f"## What each pick of {literal(label)} adds")
    system_switch(state, answers, active)
    rows = ledger_rows(instance, task, answer.selection, beside)
    table(
        LEDGER_COLUMNS,
        rows,
        key="ledger",
        action="none",
        on_event=partial(go_to, state),
        caption=f"Marginal gain of each pick of {label}",
        empty="Nothing was picked.",
        height=None if len(rows) <= 15 else 640,
    )
    if len(answer.selection) > MOST_PICKS:
        st.caption(f"The first {MOST_PICKS} of {len(answer.selection)} picks.")
    _whys(state, instance, answer)


def _whys(state: PageState, instance: Instance, answer: Retrieval) -> None:
    """Why each was picked, where the retriever gives numbers."""
    whys = whys_of(answer, instance.sentences)
    if not whys:
        return
    st.markdown("## Why each was picked")
    st.caption(
        "What each group of features adds to the sentence's score (filled, to the right of the line) or takes from it "
        "(hollow, to the left), in standard deviations of the scores over this paper. A line opens its features. What "
        "earlier picks have already said is judged by likeness of meaning."
    )
    why_list(
        whys,
        key="whys",
        on_sentence=lambda index: state.put(sentence=index),
        height=None if len(whys) <= 10 else 640,
    )


def _curve(instance: Instance, task: Task, answers: Mapping[str, Retrieval], beside: References) -> None:
    covers, dark = instance.evidence.covers(task.focus), is_dark()
    picks = {f"{LETTERS[n]} {label}": answer.selection for n, (label, answer) in enumerate(answers.items())}
    colours = {name: SYSTEMS[n].on(dark) for n, name in enumerate(picks)}
    colours |= {"optimal": MARKS["gold"].on(dark), "greedy": MARKS["both"].on(dark)}
    picks |= {"greedy": beside.greedy, "optimal": beside.best}
    recalls = {
        name: [0.0, *(gain.recall_so_far or 0.0 for gain in marginal_gains(selection[:MOST_PICKS], covers))]
        for name, selection in picks.items()
    }
    points = [(name, pick, recall) for name, line in recalls.items() for pick, recall in enumerate(line)]
    draw_chart(
        recall_curve(
            pd.DataFrame(points, columns=["name", "pick", "recall"]), colours, ("greedy", "optimal")
        ),
        key="curve",
        alt="Aspect Recall so far after each pick: "
        + "; ".join(f"{name} ends at {percent(line[-1])}" for name, line in recalls.items()),
    )


def _aspects(state: PageState, instance: Instance, task: Task, answers: Mapping[str, Retrieval]) -> None:
    only = state["aspect"]
    which = "Result aspects" if task.focus == "results" else "Study aspects"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"## {which}")
        if only and st.button("Show all aspects", key="all-aspects"):
            state.put(aspect=None)
            st.rerun()
    table(
        aspect_columns([f"{LETTERS[n]} {label}" for n, label in enumerate(answers)]),
        aspect_rows(instance, task, answers, only),
        key="aspects",
        action="none",
        on_event=partial(go_to, state),
        caption=f"{which} of this instance",
        empty="The chosen aspect is not among those of this task.",
        height=640,
    )
