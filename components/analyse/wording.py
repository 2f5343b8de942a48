"""Wording: what paraphrases, negation and spelling errors cost; wordings of a file, and of a model that people read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analyse.finding import draw_finding
from components.app import resources
from components.app.jobs import Job
from components.app.session import flash
from components.app.state import PageState
from components.charts.figures import interval_dots
from components.frame.ask import Ask, ask_button
from components.frame.desk import Actions, Item, desk
from components.frame.page import Context, cached_report, show_notes
from components.frame.upload import uploaded_path
from components.models.caps import closing_note
from components.models.server import session_model
from components.widgets.chart import draw_chart
from components.widgets.frame_table import csv_and_json, first_shown, frame_table, in_points, instance_table
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import run_colours
from components.widgets.switches import option_switch
from components.widgets.table import Column
from evidencebench_core.analyses.wording import (
    QUESTIONS,
    finding,
    run_variants,
    unanswered,
    variants_for,
    wording,
)
from evidencebench_core.llm import LLM
from evidencebench_core.perturb import (
    PARAPHRASE,
    DraftKind,
    add_wordings,
    added_wordings,
    decide,
    draft_plan,
    drafts,
    read_wordings,
    remove_wording,
    wordings_document,
)
from evidencebench_core.retrievers import ELSEWHERE, retriever_entry
from evidencebench_core.runs import Plan, RunInfo, RunStore, Variant, plan

_TABLE: Final = (
    Column("label", "Run"),
    Column("wording", "Wording"),
    Column("n", "Instances", "number"),
    Column("recall", "Aspect Recall", "percent"),
    Column("points", "Against the original, points", "number", digits=1, signed=True),
    Column("interval", "95% interval"),
    Column("p", "p", "number", "Sign flips of whole papers", digits=4),
    Column("moved", "Better / same / worse"),
    Column("overlap", "Picks that stay", "percent"),
)
_MOVED: Final = (
    Column("wording", "Wording"),
    Column("original", "Original", "percent"),
    Column("recall", "Recall", "percent"),
    Column("overlap", "Picks that stay", "percent"),
)


def draw_wording(state: PageState, context: Context, switches: DeltaGenerator) -> None:
    """The finding, differences by wording, what is missing, the instances that move, the wordings' files."""
    with switches:
        question = option_switch(state, "question", "Wordings", QUESTIONS, label_visibility="collapsed")
    variants = variants_for(resources.store(), context.dataset.name, question)
    runs = tuple(run for run in context.runs if not run.variant)
    if not variants:
        st.info(f"{context.dataset.name} has no {QUESTIONS[question].lower()} yet. A file below brings some.")
    elif not runs:
        st.info(f"No run has answers for {literal(context.task.title)} yet; *Runs* starts them.")
    else:
        _draw_effect(context, runs, variants, question)
    _draw_drafts(state, context)
    _draw_files(context)


def _draw_effect(
    context: Context, runs: Sequence[RunInfo], variants: Sequence[Variant], question: str
) -> None:
    store, ids = resources.store(), [run.id for run in runs]
    names = tuple((variant.name, variant.digest) for variant in variants)
    key = (*context.key, question, names, RunStore(store).runs(context.dataset.name, variants=True))
    report = cached_report("wording", key, lambda: wording(store, ids, context.task, question))
    table, instances = (
        report.tables[name].assign(wording=report.tables[name]["wording"].str.removeprefix(PARAPHRASE))
        for name in ("wordings", "instances")
    )
    draw_finding(context, finding(table, question))
    job_panel("wording")
    shown = table[table["n"] > 0]
    if len(shown):
        colours = run_colours(runs)
        frame = pd.DataFrame(
            {
                "name": shown["wording"],
                "value": shown["difference"],
                "low": shown["low"],
                "high": shown["high"],
                "n": shown["n"],
                "group": shown["label"],
                "colour": shown["run"].map(colours),
            }
        )
        figure = resources.figure(
            interval_dots, frame, "Aspect Recall against the original, points", differences=True
        )
        points = (100 * shown["difference"]).round(1)
        alt = "; ".join(
            f"{label}, {name}: {value:+.1f} points"
            for label, name, value in zip(shown["label"], shown["wording"], points, strict=True)
        )
        draw_chart(figure, key=f"wording-{question}-{context.task.name}-{'-'.join(ids)}", alt=alt)
    _draw_missing(context, runs, variants, question)
    cells = in_points(shown).assign(
        moved=[f"{row.better} / {row.same} / {row.worse}" for row in shown.itertuples()],
    )
    with st.expander("Every wording"):
        frame_table(_TABLE, cells, key="wordings", action="none", caption="Recall by run and wording")
        csv_and_json(f"wording-{question}", lambda: report.tables["wordings"])
    moved = instances[instances["difference"].abs() > 1e-9].drop_duplicates("instance")
    if len(moved):
        st.markdown("### Instances that move most")
        instance_table(
            _MOVED,
            moved.rename(columns={"instance": "id"}),
            (context.dataset, context.task),
            runs,
            key="moved",
            caption="Instances that move most; a click opens the reader",
            height=420,
        )
        st.caption(f"{len(moved):,} instances{first_shown(moved)}. A click opens one in the reader.")
    show_notes(report)


def _draw_missing(
    context: Context, runs: Sequence[RunInfo], variants: Sequence[Variant], question: str
) -> None:
    """How many wordings are not asked yet, and a button that asks the retrievers of this machine."""
    store = resources.store()
    runs = [run for run in runs if run.retriever not in ELSEWHERE]
    missing = {run.id: unanswered(store, run, context.task, variants) for run in runs}
    here = [run for run in runs if missing[run.id] and not _asks_server(run)]
    served = [run for run in runs if missing[run.id] and _asks_server(run)]
    if served:
        names = ", ".join(run.label for run in served)
        ask = Ask(
            "Ask in other words", "wording", "question", _limit, partial(_plans, context, served, variants)
        )
        ask_button(ask, f"Ask {literal(names)} what is missing")
    if here:
        n = sum(missing[run.id] for run in here)
        names = literal(", ".join(run.label for run in here))
        if st.button(f"Ask {names} what is missing ({n:,})", type="primary"):
            _start(context, here, variants, question)
            st.rerun()


def _limit() -> tuple[int | None]:
    """The same instances in every wording, so that what is compared is paired."""
    limit = st.number_input("Only the first", min_value=1, value=None, placeholder="all instances", step=1)
    return (limit,)


def _plans(
    context: Context,
    runs: Sequence[RunInfo],
    variants: Sequence[Variant],
    llm: LLM,
    choices: tuple[int | None],
) -> list[Plan]:
    return [
        plan(
            resources.store(),
            run.dataset,
            run.retriever,
            run.settings,
            (context.task,),
            choices[0],
            sample=run.sample,
            variant=variant,
            llm=llm,
        )
        for run in runs
        for variant in variants
    ]


def _asks_server(run: RunInfo) -> bool:
    return retriever_entry(run.retriever).asks_server


def _start(context: Context, runs: Sequence[RunInfo], variants: Sequence[Variant], question: str) -> None:
    """Ask in the background whatever is missing; it resumes where it was cancelled."""
    store, task = resources.store(), context.task

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        for run in runs:
            for step in run_variants(store, run, task, variants, job.cancelled):
                yield step.done, step.total, f"{run.label}: {step.text}. What was answered is kept."

    names = ", ".join(run.label for run in runs)
    title = f"{names} on {context.dataset.name}, {task.title}: {QUESTIONS[question].lower()}"
    subject = f"{context.dataset.name}/{question}/{task.name}"
    resources.jobs().start("wording", subject, title, lambda job: closing_note(job, None, steps(job)))


def _draw_files(context: Context) -> None:
    """A file of wordings in, and the added ones out."""
    dataset = context.dataset.name
    added = added_wordings(resources.store(), dataset)
    with st.expander("Wordings: upload a file, export them"):
        st.markdown("A file is one JSON object; every instance has paraphrases, a negation, or both:")
        st.code(
            '{"instance id": {"paraphrases": {"plain": "..."}, "negation": "..."}, ...}',
            language=None,
            wrap_lines=True,
        )
        given = st.file_uploader("File of wordings", type=["json"], key=f"wordings.{dataset}")
        if given is not None and st.button("Keep these wordings", type="primary"):
            with uploaded_path(given) as path:
                n = add_wordings(resources.store(), dataset, read_wordings(path), given.name)
                flash(f"{n:,} wordings kept beside {literal(dataset)}.")
                st.rerun()
        if added:
            st.download_button(
                "Download the added wordings",
                lambda: json.dumps(wordings_document(added), indent=1),
                file_name="wordings.json",
                mime="application/json",
                on_click="ignore",
                key="wordings.download",
            )


def _draw_drafts(state: PageState, context: Context) -> None:
    """Have a model write wordings, and decide on each: no run sees one before it is accepted."""
    store, dataset = resources.store(), context.dataset.name

    def fields() -> tuple[DraftKind, int | None]:
        kind = st.segmented_control(
            "Wording", ["paraphrase", "negation"], default="paraphrase", required=True
        )
        limit = st.number_input("Only the first", min_value=1, value=None, placeholder="all instances")
        return ("negation" if kind == "negation" else "paraphrase"), limit

    def plans(llm: LLM, choices: tuple[DraftKind, int | None]) -> Sequence[Plan]:
        return [draft_plan(store, dataset, choices[0], session_model(), llm, choices[1])]

    with st.expander("Wordings by a model: write drafts, read them", expanded=bool(state["mark"])):
        ask_button(Ask("Write wordings", "drafts", "wording", fields, plans), "Write drafts with a model")
        job_panel("drafts")
        by_id = {f"{draft.name} {draft.instance_id}": draft for draft in drafts(store, dataset)}
        items = [
            Item(
                key,
                f"{draft.name}, {draft.instance_id}",
                draft.original,
                draft.text,
                draft.decision,
                draft.problem,
            )
            for key, draft in by_id.items()
        ]
        actions = Actions(
            accept=lambda key, text, person: decide(store, dataset, by_id[key], person, text),
            reject=lambda key, person: decide(store, dataset, by_id[key], person, ""),
            take_back=lambda key: remove_wording(store, dataset, by_id[key].instance_id, by_id[key].name),
        )
        desk(state, items, actions, param="mark")
