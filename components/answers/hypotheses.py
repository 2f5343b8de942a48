"""A model's answers to the hypotheses of a dataset: one beside the paper that it cites, scored against gold."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.answers.labels import Badge
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.view import report_of, words_of
from components.ask import Ask, ask_button
from components.controls import option_box
from components.frame_table import frame_table, intervals
from components.job_panel import job_panel
from components.markdown import literal
from components.paper_view import PaperEvent, paper_view
from components.server import session_model
from components.state import PageState, open_later
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.answers.asking import KIND, answer_plan, answers_of
from evidencebench_core.answers.brackets import CitedSentence
from evidencebench_core.answers.cited import NO_ANSWER, CitedAnswer
from evidencebench_core.answers.judging import judge_plan
from evidencebench_core.answers.report import ABSTRACT
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.data.model import Focus
from evidencebench_core.export.reader import System, view_of
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, RunInfo, RunStore, judge_runs
from evidencebench_core.words import quantity

_GOLD: Final = Badge("●", "gold", "good")
_NOT_GOLD: Final = Badge("○", "not gold", "plain")
_FIGURES: Final = {
    "cited_recall": "Aspects that a citation covers",
    "ceiling": "Most that as many sentences cover",
    "random_expectation": "As many sentences by chance",
    "evidence_precision": "Citations that are gold",
    "chance": "Sentences of the paper that are gold",
    "coverage": "Answer sentences with a citation",
    "support_rate": "Citations that support, by a judge",
    "grounded_recall": "Aspects that such a citation covers",
}
_OF_ANSWER: Final = ("sentence", "document", "aspect")  # parameters of the address for one answer


def draw_hypotheses(state: PageState) -> None:
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.info("A model can answer the hypotheses of a dataset from its papers. No dataset is loaded yet.")
        st.button("Load a dataset", type="primary", on_click=open_later, args=("home", {}))
        return
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    with bar:
        names = dict(zip(datasets, datasets, strict=True))
        shown = option_box(state, "dataset", "Dataset", names, reset=("run", "question", *_OF_ANSWER))
    dataset, store = datasets[shown], RunStore(resources.store())
    runs = {run.id: run for run in store.runs_of(KIND, dataset.sha256) if run.n_answered + run.n_failed}
    labels = {run_id: _label(run) for run_id, run in reversed(runs.items())}
    run = None
    job_panel(KIND)
    if not runs:
        st.info("No model has answered these hypotheses yet.")
    else:
        with bar:
            run = runs[option_box(state, "run", "Answered by", labels, reset=("question", *_OF_ANSWER))]
        judges = tuple(judge.stamp for judge in judge_runs(resources.store(), run.id))
        answers, report = _answers_of(dataset, run), report_of(run.id, "", "", (run.stamp, *judges))
        ids = list(answers)
        place = ids.index(state["question"]) + 1 if state["question"] in ids else 1
        number = state.widget("question", place, lambda place: ids[place - 1], reset=_OF_ANSWER)
        bar.number_input(f"Answer (of {len(ids):,})", 1, len(ids), width=150, **number)
        if state["question"] not in ("", *ids):
            st.warning(f"There is no answer to {literal(state['question'], 80)}; the first is shown.")
        instance = resources.instance(dataset, ids[place - 1])
        _draw_answer(state, instance, run, answers[instance.id], report)
    with bar:
        ask_button(_asking(dataset, run), "Have a model answer", type="secondary" if runs else "primary")


def _label(run: RunInfo) -> str:
    focus = "findings only, " if run.settings["settings"]["focus"] == "results" else ""
    return f"{run.settings['model']} ({focus}{quantity(run.n_answered, 'answer')})"


@resources.cached()
def _answers_of(dataset: DatasetInfo, run: RunInfo) -> dict[str, CitedAnswer]:
    return answers_of(resources.store(), run)


def _draw_answer(
    state: PageState, instance: Instance, run: RunInfo, answer: CitedAnswer, report: Report
) -> None:
    """One answer beside the paper, in which its citations are marked, and its figures against gold."""
    focus = run.settings["settings"]["focus"]
    gold = frozenset[int]().union(*instance.evidence.covers(focus))
    citing = next((place for place, cited in enumerate(answer.cited, 1) if cited), 1)
    sentence = min(state.number("sentence") or citing, max(1, len(answer.sentences)))
    cited = answer.cited[sentence - 1] if answer.sentences else ()
    index = state.number("document") if state["document"] else next(iter(cited), None)
    st.markdown(f"## {literal(instance.hypothesis)}")
    left, right = st.columns((9, 11), gap="medium")
    with left:
        if answer.verdict:
            st.caption(f"The model's verdict: {literal(answer.verdict)}. There is no gold for that.")
        if answer.outcome != "answer":
            st.info(NO_ANSWER[answer.outcome])
            st.code(words_of(run, instance.id), language=None, wrap_lines=True)
        answer_prose(
            [_prose(place, part, gold) for place, part in enumerate(answer.sentences, 1)],
            key="cited",
            chosen=str(sentence),
            document="" if index is None else str(index),
            on_choice=lambda place, document: state.put(sentence=place, document=document or None),
        )
        _draw_scores(instance, run, report)
    with right:
        aspect = state.number("aspect")
        view = view_of(
            instance,
            systems=[System(run.settings["model"], answer.selection)],
            focus=focus,
            selected=index,
            aspect=aspect if aspect in range(len(instance.evidence.aspects)) else None,
            is_main=False,
        )

        def put(event: PaperEvent) -> None:
            state.put(document=event.sentence, aspect=event.aspect)

        paper_view(view, key="cited-paper", height=700, on_event=put)


def _prose(place: int, sentence: CitedSentence, gold: frozenset[int]) -> Sentence:
    """A sentence of an answer, marked as gold if any of its citations is."""
    citations = tuple(
        Citation(str(index), _GOLD if index in gold else _NOT_GOLD) for index in sentence.citations
    )
    is_gold = not gold.isdisjoint(sentence.citations)
    mark = _GOLD if is_gold else _NOT_GOLD
    unknown = f"{quantity(sentence.n_unknown, 'citation')} of no sentence of the paper"
    note = unknown if sentence.n_unknown else ""
    return Sentence(str(place), sentence.text, mark if citations else None, note, not is_gold, citations)


def _draw_scores(instance: Instance, run: RunInfo, report: Report) -> None:
    """The figures of this answer beside the means of all and of the abstract, as ``answers score`` gives them."""
    model, instances = run.settings["model"], report.tables["instances"]
    answers = instances[instances["system"] == model]
    if answers.empty:
        return
    figures = report.tables["figures"]
    means = figures[figures["system"] == model].set_index("metric")
    abstract = figures[figures["system"] == ABSTRACT].set_index("metric")["value"]
    frame = means.assign(
        figure=means.index.map(_FIGURES),
        own=answers.set_index("instance").reindex([instance.id]).iloc[0].reindex(means.index).astype(float),
        mean=intervals(means, "value"),
        abstract=abstract.reindex(means.index),
    )
    columns = (
        Column("figure", "Against gold", "title"),
        Column("own", "This answer", "percent"),
        Column("mean", f"Mean of {len(answers):,}", "interval"),
        Column("abstract", "The abstract", "percent"),
    )
    shown = frame.dropna(subset=["figure"])
    frame_table(columns, shown, key="cited-scores", caption="The citations against gold")
    st.caption(literal(" ".join(report.notes)))


def _asking(dataset: DatasetInfo, run: RunInfo | None) -> Ask:
    questions = {
        "all": "What does the paper find on the hypothesis?",
        "results": "What does it find? Findings only.",
    }
    if run is not None:
        questions["judge"] = f"Do the sentences support what {run.settings['model']} cites them for?"

    def fields() -> str:
        return st.selectbox("Question to the model", list(questions), format_func=questions.__getitem__)

    def plans(llm: LLM, choice: str) -> list[Plan]:
        if choice == "judge" and run is not None:
            return [judge_plan(resources.store(), run.id, "citations", session_model(), llm=llm)]
        focus: Focus = "results" if choice == "results" else "all"
        return [answer_plan(resources.store(), dataset.name, session_model(), focus=focus, llm=llm)]

    return Ask("Have hypotheses answered", KIND, "question", fields, plans)
