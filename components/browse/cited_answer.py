"""A model's short answer to the hypothesis, of a run: its sentences, what they cite, and whether that is gold."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.frame.page import percent
from components.widgets.chips import go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.answers.asking import answer_in
from evidencebench_core.answers.cited import cited_score
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

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
    """The answer to this instance; nothing where there is no run."""
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

    def chip(index: int) -> Chip:
        """Filled where it is gold."""
        words = " gold" if index in gold else " not gold"
        return sentence_chip(index, instance.sentences[index], words, filled=index in gold)

    table(
        _COLUMNS,
        [
            Row(str(place), (sentence.text, tuple(map(chip, sentence.citations))))
            for place, sentence in enumerate(answer.sentences)
        ],
        key="cited-answer",
        action="none",
        on_event=partial(go_to, state),
        caption="The answer, and the sentences that it rests on",
    )
    score = cited_score(answer.cited, covers, len(instance.sentences), None)
    lines = []
    if score.cited_recall is not None:
        n_covered = round(score.cited_recall * score.n_aspects)
        lines.append(f"Its citations cover {n_covered} of {quantity(score.n_aspects, 'aspect')}.")
    if score.evidence_precision is not None:
        n_gold = round(score.evidence_precision * score.n_pairs)
        lines.append(
            f"{n_gold} of {quantity(score.n_pairs, 'citation')} are gold, as are {percent(score.chance)} of the "
            "paper's sentences; not gold is not wrong."
        )
    if answer.n_unknown:
        lines.append(f"Cited indices that are not in the paper, and left out: {answer.n_unknown:,}.")
    st.caption(literal(" ".join(lines)))


def _label(run: RunInfo) -> str:
    focus = ", findings only" if run.settings.get("focus") == "results" else ""
    return f"{run.settings['model']}{focus}"
