"""A model's short answer to the hypothesis, of a run: its sentences, what they cite, and whether that is gold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.frame.page import percent
from components.widgets.chips import go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.answers.asking import answer_in, pair_labels
from evidencebench_core.answers.cited import CitedScore, Pair, Support, cited_score
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

_SIGNS: Final[Mapping[Support | None, str]] = {
    "supports": "▲ supports", "contradicts": "▼ contradicts", "neutral": "● does not support",
    None: "? could not be judged",
}  # fmt: skip
_OUTCOMES: Final = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
    "failed": "The call failed; a resumed run tries again.",
}
_COLUMNS: Final = (
    Column("says", "Answer"),
    Column("cites", "Rests on", "chips", "Sentences of the paper; a click shows one"),
)


def draw_cited_answer(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """The answer to this instance, and what the newest judge of its run said; nothing where there is no run."""
    runs = {run.id: run for run in resources.answer_runs(dataset.sha256)}
    if not runs:
        return
    run = runs[state["answer"] if state["answer"] in runs else list(runs)[-1]]
    st.markdown(f"## Answer by {literal(_label(run))}")
    if len(runs) > 1:
        st.selectbox(
            "Answered by",
            list(runs),
            format_func=lambda run_id: _label(runs[run_id]),
            **state.widget("answer", run.id),
        )
    store = resources.store()
    answer = answer_in(store, run, instance.id, len(instance.sentences))
    if answer is None:
        st.caption(f"{literal(_label(run))} was not asked about this instance.")
        return
    if answer.verdict:
        st.markdown(f"**{answer.verdict.capitalize()}**, it says: a model's opinion, not scored.")
    if answer.outcome != "answer":
        st.info(_OUTCOMES[answer.outcome])
        return
    covers = instance.evidence.covers(run.settings["focus"])
    gold = frozenset().union(*covers)
    judges = resources.answer_runs(run.id)
    labels = pair_labels(store, judges[-1].id, {instance.id: answer})[instance.id] if judges else {}

    def chip(pair: Pair) -> Chip:
        """Filled where it is gold."""
        label = f", {_SIGNS[labels[pair]]}" if pair in labels else ""
        is_gold = pair[1] in gold
        words = f" {'gold' if is_gold else 'not gold'}{label}"
        return sentence_chip(pair[1], instance.sentences[pair[1]], words, filled=is_gold)

    table(
        _COLUMNS,
        [
            Row(str(place), (sentence.text, tuple(chip((place, index)) for index in sentence.citations)))
            for place, sentence in enumerate(answer.sentences)
        ],
        key="cited-answer",
        action="none",
        on_event=partial(go_to, state),
        caption="The answer, and the sentences that it rests on",
    )
    score = cited_score(answer.cited, covers, len(instance.sentences), labels if judges else None)
    judge = f"▲ ▼ ● are the opinion of {_label(judges[-1])}: it can be wrong." if judges else ""
    st.caption(literal(f"{_figures(score, answer.n_unknown)} {judge}"))


def _figures(score: CitedScore, n_unknown: int) -> str:
    """The figures of the citations, in words."""
    lines = []
    if score.cited_recall is not None:
        covered = round(score.cited_recall * score.n_aspects)
        line = f"Its citations cover {covered} of {quantity(score.n_aspects, 'aspect')}"
        if score.grounded_recall is not None:
            grounded = round(score.grounded_recall * score.n_aspects)
            line += f", {grounded} of them by a citation that supports its sentence"
        lines.append(f"{line}.")
    if score.evidence_precision is not None and score.chance is not None:
        n_gold = round(score.evidence_precision * score.n_pairs)
        lines.append(
            f"{n_gold} of {quantity(score.n_pairs, 'citation')} are gold, as are {percent(score.chance)} of the paper's"
            " sentences; not gold is not wrong."
        )
    if score.n_unjudged:
        lines.append(f"{quantity(score.n_unjudged, 'citation')} without a label of the judge.")
    if n_unknown:
        lines.append(f"Cited indices that are not in the paper, and left out: {n_unknown:,}.")
    return " ".join(lines)


def _label(run: RunInfo) -> str:
    focus = ", findings only" if run.settings.get("focus") == "results" else ""
    return f"{run.settings['model']}{focus}"
