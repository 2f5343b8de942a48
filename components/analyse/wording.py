"""Wording: what paraphrases, negation and spelling errors cost; wordings of a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import resources
from components.ask import RunAsk, ask_button, new_run
from components.controls import option_switch
from components.frame_table import draw_intervals, instance_table, report_end
from components.guarded import guarded_part
from components.job_panel import job_panel
from components.markdown import literal
from components.page import Context, draw_finding
from components.run_links import run_colours
from components.sets import uploaded_paths
from components.state import PageState, flash
from components.table import Column
from evidencebench_core.analyses.wording import (
    QUESTIONS,
    finding,
    unanswered,
    variant_run_id,
    variants_for,
    wording,
)
from evidencebench_core.perturb import PARAPHRASE, add_wordings, read_wordings
from evidencebench_core.retrievers import ELSEWHERE
from evidencebench_core.runs import RunInfo, RunStore, Variant

_REDRAWN: Final = 20.0  # seconds for which figures stand while wordings are asked
_MOVED: Final = (
    Column("wording", "Wording"),
    Column("original", "Original", "percent"),
    Column("recall", "Recall", "percent"),
    Column("overlap", "Picks that stay", "percent"),
)


def draw_wording(state: PageState, context: Context, switches: DeltaGenerator) -> None:
    with switches:
        question = option_switch(state, "question", "Wordings", QUESTIONS, label_visibility="collapsed")
    variants = variants_for(resources.store(), context.dataset.name, question)
    if not variants:
        st.info(
            f"{literal(context.dataset.name)} has no {QUESTIONS[question].lower()} yet. You can upload some below."
        )
    elif context.runs:
        _draw_effect(context, variants, question)
    _draw_files(context)


def _draw_effect(context: Context, variants: Sequence[Variant], question: str) -> None:
    store, runs = resources.store(), context.runs
    names = tuple((variant.name, variant.digest) for variant in variants)
    answers: object = RunStore(store).runs(context.dataset.name, variants=True)
    if resources.jobs().under_way("wording"):
        answers = time.monotonic() // _REDRAWN  # not anew with every answer
    report = resources.report(wording, runs, context.task, question, also=(names, answers))
    every, instances = report.tables["wordings"], report.tables["instances"]
    table = every.assign(
        wording=every["wording"].str.removeprefix(PARAPHRASE), of=every["n"] + every["n_missing"]
    )
    instances["wording"] = instances["wording"].str.removeprefix(PARAPHRASE)
    whole = table[table["n_missing"] == 0]
    text = finding(whole, question)
    if whole.empty:
        text = f"Nothing to conclude yet: {table['n'].sum():,} of {table['of'].sum():,} wordings answered."
    draw_finding(context, text)
    job_panel("wording")
    shown = table[table["n"] > 0]
    if len(shown):
        counts = [f" ({row.n:,} of {row.of:,})" if row.n_missing else "" for row in shown.itertuples()]
        frame = shown.assign(
            name=shown["wording"] + counts, group=shown["label"], colour=shown["run"].map(run_colours(runs))
        )
        key = f"wording-{question}-{context.task.name}-{'-'.join(run.id for run in runs)}"
        draw_intervals(frame, "difference", "Aspect Recall against the original, points", key=key)
    _draw_missing(context, runs, variants, question)
    moved = instances[instances["difference"].abs() > 1e-9].drop_duplicates("instance")
    if len(moved):
        st.markdown("### Instances that move most")
        instance_table(_MOVED, moved, context, runs, key="moved", title="Instances that move most")
    report_end(report)


def _draw_missing(
    context: Context, runs: Sequence[RunInfo], variants: Sequence[Variant], question: str
) -> None:
    store, under_way = resources.store(), resources.jobs().under_way("wording")
    ids = {run.id: [variant_run_id(store, run, variant) for variant in variants] for run in runs}
    missing = {
        run: unanswered(store, run, context.task, variants)
        for run in runs
        if run.retriever not in ELSEWHERE and under_way.isdisjoint(ids[run.id])
    }
    lacking = [run for run, n in missing.items() if n]
    if not lacking:
        return
    asked = [new_run(run, [context.task], variant=variant) for run in lacking for variant in variants]
    ask = RunAsk("Ask in other words", "wording", lambda: asked, QUESTIONS[question].lower())
    ask_button(ask, f"Ask the missing wordings ({sum(missing.values()):,})", type="primary")


def _draw_files(context: Context) -> None:
    dataset = context.dataset.name
    with st.expander("Upload wordings"):
        st.markdown("A file is one JSON object; every instance has paraphrases, a negation, or both:")
        st.code(
            '{"instance id": {"paraphrases": {"plain": "..."}, "negation": "..."}, ...}',
            language=None,
            wrap_lines=True,
        )
        given = st.file_uploader("File of wordings", type=["json"], key=f"wordings.{dataset}")
        if given is not None and st.button("Keep these wordings", type="primary"):
            with guarded_part(), uploaded_paths(given) as (path,):
                n = add_wordings(resources.store(), dataset, read_wordings(path), given.name)
                flash(f"{n:,} wordings kept beside {literal(dataset)}.")
                st.rerun()
