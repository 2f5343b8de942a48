"""What a model proposes, and what two people marked differently, decided one by one by the same keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components import resources
from components.annotate.decisions import first_consensus, has_item, open_proposals
from components.annotate.editor import Editor, editor_of, own_name
from components.ask import Ask, ask_button
from components.controls import option_box
from components.desk import Actions, Decision, Item, desk
from components.frame_table import bounded_columns, frame_table, report_end
from components.markdown import literal
from components.server import session_model
from components.state import PageState, session_text, set_session_text
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.annotation.agreement import AnnotatedPaper, agreement, agreement_report
from evidencebench_core.annotation.differences import Difference, decide, differences
from evidencebench_core.annotation.marked import MarkedPaper, annotation_of, annotators_of, marked_papers
from evidencebench_core.annotation.model import CONSENSUS, MODEL, Annotation
from evidencebench_core.annotation.propose import ProposalInput, proposal_plan
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan
from evidencebench_core.words import quantity

JOB_KIND = "propose"
_SHOWN: Final = "proposal.in-hand"  # of this session: the item whose sentence was brought into view
_MEASURES: Final = ("binary F1", "Cohen's kappa")  # of those of the verb `analyse agreement`
_AGREEMENT: Final = (
    Column("a", "Of"),
    Column("b", "And"),
    Column("level", "Judged"),
    Column("measure", "Measure"),
    *bounded_columns("value", "Agreement"),
    Column("n_judgements", "Judgements", "number"),
)
_DIFFERENCE: Final = (
    Column("level", "Judged"),
    Column("measure", "Measure"),
    Column("people", "People", "number", digits=2),
    Column("with_models", "People and models", "number", digits=2),
    *bounded_columns("difference", "Difference", signed=True),
    Column("p", "p", "number", digits=4),
    Column("n", "Papers", "number"),
)


def draw_proposing(editor: Editor) -> None:
    key, annotation = editor.marked.key, editor.annotation

    def fields() -> ProposalInput:
        summary = st.text_area(
            "What a review says of this paper",
            max_chars=20_000,
            height=110,
            help="Its study aspects are then an expert's. Without it the model takes them from the paper itself.",
        )
        aspects = tuple(aspect.text for aspect in annotation.aspects)
        if aspects:
            st.caption(f"It will be asked about your {quantity(len(aspects), 'aspect')}.")
        return ProposalInput(key, summary.strip(), annotation.hypothesis, aspects)

    def plans(llm: LLM, given: ProposalInput) -> Sequence[Plan]:
        return [proposal_plan(resources.store(), [given], session_model(), llm=llm)]

    ask_button(Ask("Have a model propose", JOB_KIND, "paper", fields, plans), "Have a model propose")


def show_in_hand(state: PageState, marked: MarkedPaper, waiting: Sequence[Difference]) -> None:
    """Select the sentence of the proposal in hand, once: what people select meanwhile stays selected."""
    if not waiting:
        return
    in_hand = next((item for item in waiting if item.key == state["item"]), waiting[0])
    if session_text(_SHOWN) != f"{marked.key} {in_hand.key}":
        set_session_text(_SHOWN, f"{marked.key} {in_hand.key}")
        state.put(sentence=in_hand.sentence)


def draw_proposals(
    state: PageState, editor: Editor, proposal: Annotation, waiting: Sequence[Difference]
) -> None:
    """A model's proposal, one item in hand; what nobody decides is not exported."""
    st.markdown(f"## Proposed by {literal(proposal.annotator.removeprefix(MODEL), 60)}")
    unread = proposal.origin.get("unread") or ()
    if unread:
        st.caption(f"For {quantity(len(unread), 'aspect')} some of the model's answers could not be read.")
    if not editor.annotation.hypothesis and proposal.hypothesis:
        st.button(
            f"Take its hypothesis: {literal(proposal.hypothesis, 300)}",
            on_click=editor.edit,
            args=(lambda current: current.set_hypothesis(proposal.hypothesis),),
        )
    if not waiting:
        st.caption("Everything is decided. What you accepted is below: look through it, then save it.")
        return
    reasons = proposal.origin.get("reasons") or {}
    numbers = {aspect.text: number for number, aspect in enumerate(proposal.aspects)}
    drawn = [
        _item(editor, item, note=str(reasons.get(f"{numbers.get(item.text)}:{item.sentence}", "")))
        for item in waiting
    ]
    _draw_desk(state, editor, {item.key: item for item in waiting}, drawn)
    st.button(
        f"Accept all {len(waiting):,} that are left",
        on_click=editor.edit,
        args=(lambda current: decide(current, open_proposals(current, proposal), keep=True),),
    )


def _item(editor: Editor, item: Difference, decision: Decision = "waiting", note: str = "") -> Item:
    """An aspect, whose words may be changed, or a sentence that is said to cover one."""
    if item.sentence is None:
        kind = "A result" if item.pair.is_result else "A study aspect"
        return Item(item.key, kind, "", item.text, decision)
    paper = editor.marked.paper
    where = paper.sections[item.sentence] or "before the first heading"
    heading = f'Does sentence {item.sentence} ({where}) cover "{item.text}"?'
    return Item(item.key, heading, "", paper.sentences[item.sentence], decision, note, is_fixed=True)


def _draw_desk(
    state: PageState, editor: Editor, items: Mapping[str, Difference], drawn: Sequence[Item]
) -> None:
    """The desk over items whose decisions are edits of an annotation."""

    def accept(key: str, text: str, author: str) -> None:
        def change(current: Annotation) -> Annotation:
            decided = decide(current, [items[key]], keep=True)
            if items[key].sentence is None and text != items[key].text:
                return decided.rename_aspect(decided.aspects[-1].id, text)
            return decided

        editor.edit(change)

    actions = Actions(
        accept,
        lambda key, author: editor.edit(lambda current: decide(current, [items[key]], keep=False)),
        lambda key: editor.undo(),
        can_edit=editor.annotator != CONSENSUS,
        can_undo=editor.revision.can_undo,
    )
    desk(state, drawn, actions, param="item", author=own_name())


# -- two annotators ---------------------------------------------------------------------------------


def draw_comparing(state: PageState, marked: MarkedPaper) -> None:
    annotations = resources.paper_annotations()
    everybody = {
        name: annotation_of(annotations, marked, name) for name in annotators_of(annotations, marked)
    }
    known = [name for name, annotation in everybody.items() if annotation.aspects]
    if len(known) < 2:
        st.info(
            "A comparison needs two annotators: let a second person start from the first one's study aspects."
        )
        return
    names = {name: name for name in sorted(known, key=lambda name: name == CONSENSUS)}
    with st.container(horizontal=True):
        first = option_box(state, "a", "Annotator A", names, width=240, reset=("item",))
        others = {name: name for name in known if name != first}
        second = option_box(state, "b", "Annotator B", others, width=240, reset=("item",))
    a, b = everybody[first], everybody[second]
    _draw_consensus(state, marked, a, b)
    st.markdown("## Agreement")
    _draw_agreement(_agreement(marked.name, marked.paper.sentences, a, b), "agreement")
    with st.expander("Every paper that two of them marked", on_change="rerun") as fold:
        if fold.open:
            people = [name for name in known if name != CONSENSUS]
            store = resources.store()
            every = agreement(store, marked_papers(store, marked.dataset), people)
            _draw_agreement(every, "all-agreement")


@resources.cached()
def _agreement(name: str, sentences: Sequence[str], a: Annotation, b: Annotation) -> Report:
    return agreement_report([AnnotatedPaper(name, sentences, a, b)])


def _draw_agreement(report: Report, key: str) -> None:
    """Agreement of each pair and of all, and of people among themselves against people and models."""
    pairs = report.tables["agreement"].query("measure in @_MEASURES or b == ''")
    frame_table(_AGREEMENT, pairs, key=key, caption=report.title)
    if "difference" in report.tables:
        caption = "Agreement among people, minus that between people and models"
        frame = report.tables["difference"]
        frame_table(_DIFFERENCE, frame, key=f"{key}-difference", caption=caption)
    report_end(report)


def _notes(item: Difference, *annotations: Annotation) -> list[str]:
    """What annotators noted on the aspect that they differ about."""
    return [
        f"{annotation.annotator}: {aspect.note}"
        for annotation in annotations
        for aspect in annotation.aspects
        if aspect.note and aspect.text == item.text
    ]


def _draw_consensus(state: PageState, marked: MarkedPaper, a: Annotation, b: Annotation) -> None:
    """The disagreements, one in hand, and the consensus, which begins with all that either marked."""
    items = {item.key: item for item in differences(a, b)}
    st.markdown("## Disagreements")
    if CONSENSUS in (a.annotator, b.annotator):
        st.markdown(f"{quantity(len(items), 'disagreement')}: compare two people to settle theirs.")
        return
    editor = editor_of(marked, CONSENSUS, first_consensus(a, b))
    left = items.keys() - editor.annotation.decisions
    if not items:
        st.markdown("There is none: both marked the same.")
    elif not left:
        st.markdown("All are settled. Open the consensus to look through it and to save it.")
    there = {"view": None, "annotator": CONSENSUS, "item": None, "aspect": None, "sentence": None}
    st.button(
        "Open the consensus",
        type="secondary" if left else "primary",
        disabled=not editor.may_write,
        on_click=editor.edit,
        args=(lambda current: current, lambda: state.put(**there)),
    )
    drawn = []
    for key, item in items.items():
        decision: Decision = "accepted" if has_item(editor.annotation, item) else "rejected"
        decision = decision if key in editor.annotation.decisions else "waiting"
        drawn.append(
            _item(editor, item, decision, " ".join([f"Only {item.by} has it.", *_notes(item, a, b)]))
        )
    _draw_desk(state, editor, items, drawn)
