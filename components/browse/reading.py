"""One instance, read: the paper on the left, what the systems picked and what it is worth on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from components.app.choices import Choice
from components.app.page import drop_missing
from components.app.reading import Reading
from components.app.state import PageState
from components.browse.cited_answer import ANSWER_DEFAULTS, draw_cited_answer
from components.browse.hypothesis import hypothesis_editor
from components.browse.ledger import (
    MOST_PICKS,
    References,
    aspect_columns,
    aspect_rows,
    ledger_columns,
    ledger_rows,
    references,
)
from components.browse.notes import draw_notes, sentence_notes
from components.frame.page import Context, percent
from components.frame.rank_table import rank_table
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
from components.widgets.chips import go_to
from components.widgets.markdown import literal
from components.widgets.sentence_note import lettered, sentence_note
from components.widgets.table import Column, Row, table
from components.widgets.task_picker import TASK_HELP
from evidencebench_core.annotation.provenance import provenance_line
from evidencebench_core.data import Instance
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.metrics import (
    aspect_recall,
    ceiling_range,
    expected_recall,
    random_expectation,
    selection_change,
)
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task
from evidencebench_core.words import range_text

READING_DEFAULTS: Final = {
    "h": "",
    "asif": "",
    "r": "",
    "aspect": "",
    "sentence": "",
    "system": "0",
    "words": "",
    **ANSWER_DEFAULTS,
}


def draw_reading(state: PageState, context: Context, instance: Instance, choices: Sequence[Choice]) -> None:
    """Everything about one instance."""
    dataset, task = context.dataset, context.task
    hypothesis, gold_applies = hypothesis_editor(state, dataset, instance)
    has_aspects = bool(instance.evidence.focused(task.focus))
    answers: dict[str, Retrieval] = {}
    questions: dict[str, Question[Retrieval]] = {}
    if has_aspects or not gold_applies:
        reading = Reading(instance, hypothesis, task, dataset.version, dataset)
        with st.container():  # so that a warning that comes or goes leaves the reader in its place
            answers, questions = answers_to(reading, choices)
    else:
        st.info(f"This instance has no result aspects, so it is skipped on {task.title}, never scored 0.")
        st.button("Read it on ER@Optimal", on_click=state.put, kwargs={"task": "er@optimal"})
    drop_missing(state, len(instance.sentences), [aspect.label for aspect in instance.evidence.aspects])
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
        _draw_outcomes(answers, questions, task.budget_for(instance.evidence))
        if hypothesis != instance.hypothesis and active is not None:
            label, after = list(answers.items())[active]
            choice = choice_behind(label, choices)
            original = Reading(instance, instance.hypothesis, task, dataset.version, dataset)
            before = answer_at_hand(original, choice) if choice else None
            _draw_edit(state, shown, task, label, before, after)
        if not gold_applies:
            st.info(
                "Not scored: the gold was made for the original hypothesis. To see the picks against it, tick "
                "“Score it as if the gold still applied” above."
            )
        elif has_aspects:
            beside = references(instance.evidence, task)
            _draw_scores(instance, task, answers, beside)
            if active is not None:
                _draw_ledger(state, instance, task, answers, active, beside)
        if len(answers) > 1 or (answers and not gold_applies):
            st.markdown("## Ranks side by side" if len(answers) > 1 else "## Picks")
            rank_table(shown, answers, partial(go_to, state), "ranks")
        if hypothesis == instance.hypothesis:
            draw_cited_answer(state, dataset, instance)
        if gold_applies and has_aspects:
            _draw_aspects(state, instance, task, answers)


def _draw_outcomes(
    answers: Mapping[str, Retrieval], questions: Mapping[str, Question[Retrieval]], budget: int | None
) -> None:
    """The outcome of every model's answer, and the calls behind it."""
    for letter, name, label, answer in lettered(answers):
        if line := outcome_line(answer, budget):
            st.markdown(f"{name}: {line}.")
        draw_calls(label, letter, answer, questions.get(label))


def _draw_edit(
    state: PageState,
    instance: Instance,
    task: Task,
    label: str,
    before: Retrieval | None,
    after: Retrieval,
) -> None:
    """What an edited hypothesis changed in a retriever's picks."""
    st.markdown(f"## What the edit changed for {literal(label)}")
    if before is None:
        st.caption(f"{literal(label)} has no stored answer to the original. Go back to it, and ask it.")
        return
    covers = instance.evidence.covers(task.focus)
    change = selection_change(before.selection, after.selection, covers)
    text = f"{len(change.kept):,} picks kept, {len(change.gained):,} gained, {len(change.lost):,} lost."
    if covers:
        budget = task.budget_for(instance.evidence)
        then, now = (percent(expected_recall(answer.selection, covers, budget)) for answer in (before, after))
        text += f" Aspect Recall was **{then}** and is **{now}**."
    st.markdown(text)
    rank_table(instance, {"Original": before, "Edited": after}, partial(go_to, state), "edit-ranks")


def _draw_scores(
    instance: Instance, task: Task, answers: Mapping[str, Retrieval], beside: References
) -> None:
    evidence = instance.evidence
    covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
    rows = []
    for letter, _, label, answer in lettered(answers):
        n_covered = round((aspect_recall(answer.selection, covers) or 0.0) * len(covers))
        recall = expected_recall(answer.selection, covers, budget)
        name = f"{letter}  {label}" if len(answers) > 1 else label
        rows.append(Row(letter, (name, recall, f"{n_covered} of {len(covers)}", len(answer.selection))))
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
            Column("who", "System"),
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
        st.caption("The optimal selection takes too long to find: “Optimal” is the best known.")
    made = provenance_line(instance.construction)
    for line in (*[SUFFICIENT_NOTE] * instance.is_sufficient, *filter(None, [made])):
        st.caption(literal(line))


def _draw_ledger(
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
    rows = ledger_rows(instance, task, answer, beside)
    table(
        ledger_columns(instance, task, answer, beside),
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


def _draw_aspects(state: PageState, instance: Instance, task: Task, answers: Mapping[str, Retrieval]) -> None:
    only = state["aspect"]
    which = "Result aspects" if task.focus == "results" else "Study aspects"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"## {which}")
        if only:
            st.button("Show all aspects", on_click=state.put, kwargs={"aspect": None})
    names = [name for _, name, _, _ in lettered(answers, plain=True)]
    table(
        aspect_columns(names),
        aspect_rows(instance, task, answers, only),
        key="aspects",
        action="none",
        on_event=partial(go_to, state),
        caption=f"{which} of this instance",
        empty="The chosen aspect is not among those of this task.",
        height=640,
    )
