"""A model's short answer to the hypothesis: its sentences, what they cite, and whether that is gold and supports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.widgets.chips import go_to
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, table
from evidencebench_core.answers.asking import answer_in, labels_in
from evidencebench_core.answers.cited import CitedAnswer, pair_verdicts
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.metrics.cited import CitedScore, Pair, Support, Verdict, cited_score
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.words import quantity

ANSWER_DEFAULTS: Final = {"answer": "", "judge": ""}

_NOBODY: Final = "none"
_WORDS: Final[Mapping[Verdict, str]] = {
    "sound": "gold, supports",
    "misread": "gold, does not support",
    "not in gold": "not gold, supports",
    "unsupported": "not gold, does not support",
    "contradicts": "contradicts",
}
_OUTCOMES: Final = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off, so it is not scored.",
    "failed": "The call failed: give the same command again.",
}
_COLUMNS: Final = (
    Column("says", "Answer"),
    Column("cites", "Rests on", "chips", "Sentences of the paper; a click shows one"),
)


def draw_cited_answer(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """The answer to this instance, of the run that is chosen; nothing where no model was asked."""
    runs = {one.id: one for one in resources.answer_runs(dataset.sha256)}
    if not runs:
        return
    run = runs.get(state["answer"]) or list(runs.values())[-1]
    st.markdown(f"## Answer by {literal(_label(run))}")
    with st.container(horizontal=True):
        if len(runs) > 1:
            st.selectbox(
                "Answered by",
                list(runs),
                format_func=lambda one: _label(runs[one]),
                **state.widget("answer", run.id),
            )
        judges = {_NOBODY: None} | {one.id: one for one in resources.answer_runs(run.id)}
        judge = state["judge"] if state["judge"] in judges else list(judges)[-1]
        if len(judges) > 1:
            st.selectbox(
                "Citations judged by",
                list(judges),
                format_func=lambda one: _label(of) if (of := judges[one]) else "nobody",
                **state.widget("judge", judge),
            )
    answer = answer_in(resources.store(), run, instance.id, len(instance.sentences))
    if answer is None:
        st.caption(f"{literal(_label(run))} was not asked about this instance.")
        return
    labels = labels_in(resources.store(), judge, instance.id, answer) if judges[judge] else None
    _draw(state, instance, run, answer, labels)


def _draw(
    state: PageState,
    instance: Instance,
    run: ChatRunInfo,
    answer: CitedAnswer,
    labels: Mapping[Pair, Support | None] | None,
) -> None:
    covers = instance.evidence.covers(run.settings["focus"])
    gold = frozenset().union(*covers)
    if answer.verdict:
        st.markdown(f"**{answer.verdict.capitalize()}**, it says: a model's opinion, not scored.")
    if answer.outcome != "answer":
        st.info(_OUTCOMES[answer.outcome])
        return
    verdicts = pair_verdicts(answer, covers, labels)
    rows = []
    for u, sentence in enumerate(answer.sentences):
        chips = [_chip(s, verdicts[u, s], s in gold, instance.sentences[s]) for s in sentence.citations]
        rows.append(Row(str(u), (sentence.text, tuple(chips))))
    table(
        _COLUMNS,
        rows,
        key="cited-answer",
        action="none",
        on_event=partial(go_to, state),
        caption="The answer, and the sentences that it rests on",
    )
    _figures(cited_score(answer.cited, covers, len(instance.sentences), labels), answer)


def _figures(score: CitedScore, answer: CitedAnswer) -> None:
    """What the citations come to, in words."""
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
    if answer.n_unknown:
        what = "1 cited index is" if answer.n_unknown == 1 else f"{answer.n_unknown:,} cited indices are"
        lines.append(f"{what} not in the paper, and left out.")
    st.caption(literal(" ".join(lines)))


def _chip(index: int, verdict: Verdict, is_gold: bool, text: str) -> Chip:
    """A citation with its verdict in words; filled where it is gold."""
    words = _WORDS.get(verdict, "gold, unchecked" if is_gold else "not gold, unchecked")
    return Chip(f"sentence:{index}", f"{index} {words}", None, text, filled=is_gold)


def _label(run: ChatRunInfo) -> str:
    what = ", findings only" if run.settings.get("focus") == "results" else ""
    return f"{run.settings['model']}{what}"
