"""One instance, read: the paper on the left, what the systems picked and what it is worth on the right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import streamlit as st

from components.browse.answers import Answer, Reading, System, answer_at_hand, answers_to, read_now
from components.browse.aspects import aspect_columns, aspect_rows
from components.browse.hypothesis import hypothesis_editor
from components.browse.ledger import LEDGER, MOST_PICKS, best_selection, ledger_rows
from components.browse.notes import draw_notes, sentence_notes
from components.browse.provenance import provenance_line
from components.browse.shared_words import shared_words
from components.browse.why_missed import draw_why_missed, run_that_missed
from components.calls import draw_calls, outcome_line, reason_line
from components.carried import InstanceSet
from components.controls import aspect_chip, chip_table, sentence_chip
from components.guarded import drop_missing
from components.markdown import literal
from components.page import Context, percent
from components.paper_view import PaperEvent, paper_view
from components.retrievers import Choice
from components.state import PageState
from components.table import Column, Row, table
from components.tasks import TASK_HELP
from evidencebench_core.data import Instance
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.export.reader import SharedWords, view_of
from evidencebench_core.export.reader import System as Marks
from evidencebench_core.metrics import aspect_recall, ceiling_range, expected_recall, random_expectation
from evidencebench_core.retrievers import Retrieval, make_retriever, query_of
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.tasks import Task
from evidencebench_core.words import clipped_text, range_text

READING_DEFAULTS: Final = {
    **dict.fromkeys(("h", "asif", "live", "aspect", "sentence", "words"), ""),
    "system": "0",
}
_MOST_RANKED: Final = 60


def draw_reading(
    state: PageState,
    context: Context,
    instance: Instance,
    systems: Sequence[System],
    among: InstanceSet | None = None,
) -> None:
    """Everything about one instance, which is read as one ``among`` others."""
    dataset, task, evidence = context.dataset, context.task, instance.evidence
    hypothesis, gold_applies = hypothesis_editor(state, dataset, instance)
    reading = Reading(dataset, instance, hypothesis, task)
    has_aspects = bool(evidence.focused(task.focus))
    answers, waiting = _ask(state, reading, systems if has_aspects or not gold_applies else None)
    drop_missing(state, len(instance.sentences), [aspect.label for aspect in evidence.aspects])
    active = answers[min(state.number("system") or 0, len(answers) - 1)] if answers else None
    shown = instance
    if not gold_applies:
        shown = replace(instance, evidence=replace(evidence, aspects=()))
    paper, side = st.columns([58, 42], gap="medium")
    with paper:
        notes = sentence_notes(dataset, instance)
        words = _shared_words(state, instance, hypothesis, active)
        _draw_paper(state, shown, answers, active, focus=task.focus, notes=notes, words=words)
    with side:
        waiting_place = st.container()
        draw_notes(state, dataset, instance, is_apart=bool(state["draw"]))
        pinned = next((aspect for aspect in shown.evidence.aspects if aspect.label == state["aspect"]), None)
        run = pinned and run_that_missed(answers, active, pinned)
        sentence = state.number("sentence")
        if not (pinned and run and sentence in pinned.sentence_indices):  # else the panel has it
            _draw_sentence(shown, sentence, answers)
        if pinned and run:
            draw_why_missed(state, context, run, (instance, pinned), among)
        for answer in answers:
            if line := outcome_line(answer.retrieval):
                st.markdown(f"{literal(answer.name)}: {line}.")
            draw_calls(answer.letter, answer.label, answer.retrieval)
        if hypothesis != instance.hypothesis and active is not None:
            original = Reading(dataset, instance, instance.hypothesis, task)
            _draw_edit(state, shown, task, active, answer_at_hand(original, active.system.choice))
        if not gold_applies:
            st.info(
                "Not scored: the gold was made for the original hypothesis. To see the picks against it, tick "
                "“Score it as if the gold still applied” above."
            )
        elif has_aspects:
            best = best_selection(evidence, task)
            _draw_scores(instance, task, answers, best)
            _draw_aspects(state, instance, task, answers)
            if active is not None:
                _draw_ledger(state, instance, task, active, best)
        if len(answers) > 1 or (answers and not gold_applies):
            st.markdown("## Ranks side by side" if len(answers) > 1 else "## Picks")
            by_label = {answer.label: answer.retrieval for answer in answers}
            picks = {index for answer in answers for index in answer.retrieval.selection}
            _draw_ranks(state, shown, by_label, picks, "ranks")
    # The paper stands there while retrievers read it, and is drawn again with their picks.
    if waiting and read_now(reading, waiting, waiting_place):
        st.rerun()


def _ask(
    state: PageState, reading: Reading, systems: Sequence[System] | None
) -> tuple[list[Answer], list[Choice]]:
    """What the systems picked; ``None`` where the task asks for nothing of the instance."""
    if systems is None:
        title = reading.task.title
        st.info(f"This instance has no result aspects, so it is skipped on {title}, never scored 0.")
        st.button("Read it on ER@Optimal", on_click=state.put, kwargs={"task": "er@optimal"})
        return [], []
    with st.container():  # so that a warning that comes or goes leaves the reader in its place
        return answers_to(reading, systems)


def _shared_words(
    state: PageState, instance: Instance, hypothesis: str, active: Answer | None
) -> SharedWords | None:
    """Words that sentences share with the hypothesis, as the active retriever weighs them; ``None`` where it is off."""
    if state["words"] != "1":
        return None
    bm25 = active.system.choice if active and active.system.choice.name == Bm25.name else None
    retriever = make_retriever(bm25.name, bm25.settings) if bm25 else None
    return shared_words(query_of(instance, "all", None, hypothesis), retriever)


def _draw_paper(
    state: PageState, instance: Instance, answers: Sequence[Answer], active: Answer | None, **shown: Any
) -> None:
    """The paper, which stays in sight; the sentence, aspect and system that are clicked go into the state."""
    labels = [aspect.label for aspect in instance.evidence.aspects]
    systems = [Marks(answer.label, answer.retrieval.selection) for answer in answers]
    with st.container(key="paper-stays-in-sight"):
        view = view_of(
            instance,
            systems=systems if systems or labels else [Marks("", ())],
            active=answers.index(active) if active else (None if labels else 0),
            selected=state.number("sentence"),
            aspect=labels.index(state["aspect"]) if state["aspect"] in labels else None,
            **shown,
        )
        paper_view(view, key="reader", height=780, on_event=partial(keep_event, state, labels))


def keep_event(state: PageState, labels: Sequence[str], event: PaperEvent) -> None:
    """What was clicked in the reader goes into the state, as one step; ``labels`` of the aspects by position."""
    aspect = None if event.aspect is None or not labels else labels[event.aspect]
    state.put(sentence=event.sentence, system=event.system or None, aspect=aspect)


def _draw_sentence(instance: Instance, index: int | None, answers: Sequence[Answer]) -> None:
    if index is None or index >= len(instance.sentences):
        return
    section = instance.sections[index] or "before the first heading"
    lines = [
        f"- Covers **{literal(aspect.label)}**{' (result)' if aspect.is_result else ''}"
        + (f": {literal(aspect.text)}" if aspect.text else "")
        for aspect in instance.evidence.aspects
        if index in aspect.sentence_indices
    ] or ["- Covers no study aspect"]
    for answer in answers:
        lines += _place(answer, index)
    with st.container(border=True):
        st.markdown(f"**Sentence {index}** · {literal(section, 80)}\n" + "\n".join(lines))


def _place(answer: Answer, index: int) -> list[str]:
    retrieval = answer.retrieval
    if index not in retrieval.ranking:
        return []
    place = retrieval.ranking.index(index)
    is_model = bool(outcome_line(retrieval))  # which gives an order and no scores
    has_score = place < len(retrieval.scores) and not is_model
    score = f", score {retrieval.scores[place]:.3g}" if has_score else ""
    picked = ", picked" if index in retrieval.selection else ""
    lines = [f"- {literal(answer.name)}: rank {place + 1} of {len(retrieval.ranking)}{picked}{score}"]
    reason = reason_line(retrieval, index)
    return [*lines, f"  - In its words: {reason}"] if reason and picked else lines


def _draw_edit(
    state: PageState, instance: Instance, task: Task, answer: Answer, before: Retrieval | None
) -> None:
    st.markdown(f"## What the edit changed for {literal(answer.label)}")
    if before is None:
        st.caption(
            f"{literal(answer.label)} has no stored answer to the original. Go back to it, and ask it."
        )
        return
    covers, after = instance.evidence.covers(task.focus), answer.retrieval
    picked, now_picked = set(before.selection), set(after.selection)
    gained, lost = now_picked - picked, picked - now_picked
    text = f"{len(picked & now_picked):,} picks kept, {len(gained):,} gained, {len(lost):,} lost."
    if covers:
        budget = task.budget_for(instance.evidence)
        then = percent(expected_recall(before.selection, covers, budget))
        now = percent(expected_recall(after.selection, covers, budget))
        text += f" Aspect Recall was **{then}** and is **{now}**."
    st.markdown(text)
    if gained or lost:
        _draw_ranks(state, instance, {"Original": before, "Edited": after}, gained | lost, "edit-ranks")


def _draw_scores(instance: Instance, task: Task, answers: Sequence[Answer], best: Sequence[int]) -> None:
    evidence = instance.evidence
    covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
    rows = []
    for answer in answers:
        picks = answer.retrieval.selection
        n_covered = round((aspect_recall(picks, covers) or 0.0) * len(covers))
        recall = expected_recall(picks, covers, budget)
        rows.append(Row(answer.letter, (answer.name, recall, f"{n_covered} of {len(covers)}", len(picks))))
    optimal = evidence.optimal_for(task.focus) or len(covers)
    low, high = ceiling_range(covers, None if budget is None or budget >= optimal else budget) or (0.0, 0.0)
    ceiling = low if low == high else range_text(low, high)
    chance = random_expectation(evidence.n_sentences, covers, budget)
    rows.append(Row("ceiling", ("Ceiling (optimal selection)", ceiling, None, None), muted=True))
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
        caption="Aspect Recall on this instance",
    )
    if (aspect_recall(best, covers) or 0.0) < high or len(best) > optimal:
        st.caption("The optimal selection takes too long to find: “Optimal” is the best known.")
    made = provenance_line(instance.construction)
    for line in (*[SUFFICIENT_NOTE] * instance.is_sufficient, *filter(None, [made])):
        st.caption(literal(line))


def _draw_ledger(
    state: PageState, instance: Instance, task: Task, active: Answer, best: Sequence[int]
) -> None:
    """What each pick adds of the system that is marked in the paper, where another can be chosen."""
    st.markdown(f"## What each pick of {literal(active.label)} adds")
    rows = ledger_rows(instance, task, active.retrieval, best)
    caption = f"Marginal gain of each pick of {active.label}"
    chip_table(state, LEDGER, rows, key="ledger", caption=caption, empty="Nothing was picked.")
    if len(active.retrieval.selection) > MOST_PICKS:
        st.caption(f"The first {MOST_PICKS} of {len(active.retrieval.selection)} picks.")


def _draw_ranks(
    state: PageState, instance: Instance, answers: dict[str, Retrieval], picks: Collection[int], key: str
) -> None:
    """One row for each of the picked sentences, with its rank in every system; a pick's rank has a mark."""
    ranks = {
        label: {index: rank for rank, index in enumerate(answer.ranking, start=1)}
        for label, answer in answers.items()
    }
    aspects = list(enumerate(instance.evidence.aspects))

    def best_rank(index: int) -> tuple[int, int]:
        return min(ranks[label].get(index, len(instance.sentences)) for label in answers), index

    def rank_cell(label: str, index: int) -> str | None:
        mark = "✓ " if index in answers[label].selection else ""
        return f"{mark}{ranks[label].get(index, '')}" or None

    rows = [
        Row(
            str(index),
            (
                (sentence_chip(index, instance.sentences[index]),),
                *(rank_cell(label, index) for label in answers),
                tuple(aspect_chip(aspect, n) for n, aspect in aspects if index in aspect.sentence_indices)
                or None,
                clipped_text(instance.sentences[index], 160),
            ),
        )
        for index in sorted(picks, key=best_rank)[:_MOST_RANKED]
    ]
    chip_table(
        state,
        (
            Column("sentence", "Sentence", "chips"),
            *(Column(f"rank-{place}", label, "id", "Rank; ✓ picked") for place, label in enumerate(answers)),
            Column("covers", "Covers", "chips"),
            Column("text", "Text"),
        ),
        rows,
        key=key,
        caption=f"Ranks of the picked sentences: {', '.join(answers)}",
        empty="Nothing was picked.",
    )


def _draw_aspects(state: PageState, instance: Instance, task: Task, answers: Sequence[Answer]) -> None:
    only, evidence = state["aspect"], instance.evidence
    heading = "Result aspects" if task.focus == "results" else "Study aspects"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"## {heading}")
        if only:
            st.button("Show all aspects", on_click=state.put, kwargs={"aspect": None})
    chip_table(
        state,
        aspect_columns([answer.letter or answer.label for answer in answers]),
        aspect_rows(instance, task, [answer.retrieval for answer in answers], only),
        key="aspects",
        caption=f"{heading} of this instance",
        empty="The chosen aspect is not among those of this task.",
    )
    if not any(aspect.text for aspect in evidence.aspects):
        st.caption("The data has no texts of aspects: a sentence that covers one stands for it.")
