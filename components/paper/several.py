"""One question over several papers: the papers by their best pick, each with its first sentences."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice, choices_from, choices_text, setting_text
from components.app.jobs import Job
from components.app.state import PageState
from components.paper import cached
from components.paper.group import PaperGroup, group_of
from components.paper.keeping import open_paper
from components.paper.reading import LONGEST, budget_field
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.errors import SettingError
from evidencebench_core.export import across_frame, across_html, csv_text
from evidencebench_core.retrievers import RETRIEVERS, full_settings, make_retriever
from evidencebench_core.runs import PaperPicks, drive, measure_of, measure_text, picks_across
from evidencebench_core.words import clipped_text, quantity

_QUICK: Final = 0.4  # seconds: what is answered within them needs no progress to be drawn
_LISTED: Final = 3  # sentences of a paper


def draw_several(state: PageState) -> None:
    """The whole page."""
    group = group_of(state["over"])
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Other papers"):
            open_paper(state, None, over="", h=state["h"])
            st.rerun()
        if not any(opened.origin == "memory" for opened in group.papers):
            copy_link(state.link("over", "k", "r"))
        elif group.papers:
            st.caption(
                "Not kept, so this page has no link: it is there as long as this server has the papers."
            )
    st.markdown(f"# One question over {literal(_count(group))}")
    if group.problems:
        with st.expander(f"Left out, and why: {len(group.problems):,}"):
            st.markdown("\n".join(f"- {literal(problem, 400)}" for problem in group.problems))
    if not group.papers:
        st.warning("None of these papers is here. Please bring them again.")
        return
    left, right = st.columns([58, 42], gap="medium")
    with left:
        hypothesis = _hypothesis_field(state)
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Find evidence", type="primary")  # leaving the field is what searches
        choice = _retriever_field(state)
        budget = budget_field(state, "How many sentences are picked of each paper.")
    if not hypothesis:
        st.info("Write a hypothesis above: each paper is then searched for it.")
        _draw_papers(state, group)
        return
    found = _answer(group, hypothesis, choice, budget)
    if found is not None:
        _draw_found(state, group, found, choice)
        _draw_downloads(group, found, hypothesis, choice, budget)


def _count(group: PaperGroup) -> str:
    n_papers = len(group.papers)
    return f"{n_papers:,} {group.name}" if n_papers != 1 else f"1 of {group.name}"


def _hypothesis_field(state: PageState) -> str:
    asked = " ".join(state["h"].split())[:LONGEST]
    st.text_area(
        "Hypothesis",
        height="content",
        max_chars=LONGEST,
        placeholder="Write what to look for in these papers: one claim in one sentence works best.",
        help="Ctrl+Enter, or a click anywhere else, searches again.",
        **state.widget("h", asked, lambda words: " ".join(words.split()), part="several"),
    )
    return asked


def _retriever_field(state: PageState) -> Choice:
    """The first retriever of the address that works on this machine and sees no gold, else bm25."""
    names = [name for name, entry in RETRIEVERS.items() if not (entry.sees_gold or entry.asks_server)]
    try:
        choices = choices_from(state["r"])
    except SettingError as error:
        st.warning(literal(str(error)))
        choices = ()
    chosen = next((choice for choice in choices if choice.name in names), Choice("bm25"))
    st.selectbox(
        "Retriever",
        names,
        help="One that works on this machine. Language models are asked on one paper at a time.",
        **state.widget("r", chosen.name, lambda name: choices_text([Choice(name)]), part="several"),
    )
    return chosen


def _answer(group: PaperGroup, hypothesis: str, choice: Choice, budget: int) -> tuple[PaperPicks, ...] | None:
    """The picks, searched for in the background; ``None`` as long as it is not there, which is drawn."""
    of_papers = [(opened.ref, opened.digest) for opened in group.papers]
    question = json.dumps([of_papers, hypothesis, choice.key, budget])
    kind = f"several.{hashlib.sha256(question.encode()).hexdigest()}"
    answers, board = cached.answers_across(), resources.jobs()
    instances = {opened.ref: opened.instance(hypothesis) for opened in group.papers}

    def search(job: Job) -> str:
        steps = picks_across(instances, hypothesis, make_retriever(choice.name, choice.settings), budget)
        answers.put(kind, drive(steps, lambda step: job.report(step.done, step.total, step.text, stop=True)))
        return f"{quantity(len(instances), 'paper')} searched."

    if answers.get(kind) is None:
        if not board.jobs(kind):
            job = board.start(kind, "", f"Searching {quantity(len(instances), 'paper')}", search)
            until = time.monotonic() + _QUICK
            while not job.status.ended and time.monotonic() < until:
                time.sleep(0.02)
        if answers.get(kind) is None:
            job_panel(kind)
            return None
    for job in board.jobs(kind):
        board.dismiss(job)
    return answers.get(kind)


def _draw_papers(state: PageState, group: PaperGroup) -> None:
    table(
        (Column("title", "Paper", "title"), Column("n", "Sentences", "number")),
        [Row(opened.ref, (opened.title, len(opened.paper.sentences))) for opened in group.papers],
        key="several-papers",
        on_open=lambda ref: open_paper(state, ref, h=state["h"]),
        caption="The papers; a click opens one",
        height=560,
    )


def _draw_found(state: PageState, group: PaperGroup, found: Sequence[PaperPicks], choice: Choice) -> None:
    """The papers, the best first, each with its first sentences; a click opens the paper there."""
    papers = {opened.ref: opened for opened in group.papers}
    has_pages = any(opened.paper.boxes for opened in group.papers)
    columns = [
        Column("pick", "Pick", "number"),
        Column("text", "Sentence", "title"),
        Column("section", "Section"),
        *[Column("page", "Page", "number")] * has_pages,
        Column(
            "compared",
            measure_of(choice.name),
            "number",
            "The score that the papers are ordered by",
            digits=3,
        ),
    ]
    rows = []
    for place, one in enumerate(found, start=1):
        paper = papers[one.key].paper
        title = f"{place}. {clipped_text(papers[one.key].title, 200)}"
        rows.append(Row(f"paper:{one.key}", (title, *[None] * (len(columns) - 1)), heading=True))
        picks = list(zip(one.retrieval.selection, one.compared, strict=True))
        for number, (index, compared) in enumerate(picks[:_LISTED], start=1):
            page = [paper.pages.get(index)] * has_pages
            cells = (number, paper.sentences[index], paper.sections[index] or None, *page, compared)
            rows.append(Row(f"{one.key} {index}", cells))
        if not picks:
            rows.append(
                Row(
                    f"none:{one.key}",
                    (None, "No sentence was picked.", *[None] * (len(columns) - 2)),
                    muted=True,
                )
            )

    def open_at(row: str) -> None:
        ref, _, index = row.rpartition(" ")
        if ref in papers:
            open_paper(state, ref, h=state["h"], sentence=index)

    st.markdown(f"## {quantity(len(found), 'paper')}, the best first")
    st.caption(
        f"{measure_text(choice.name)} Shown are the first {_LISTED} picks of each; a click opens the paper there, "
        "with all of them."
    )
    table(
        columns,
        rows,
        key="several-found",
        on_open=open_at,
        caption="Picks in each paper; a click opens the paper there",
    )


def _draw_downloads(
    group: PaperGroup, found: Sequence[PaperPicks], hypothesis: str, choice: Choice, budget: int
) -> None:
    titles = {opened.ref: opened.title for opened in group.papers}
    pages = {opened.ref: opened.paper.pages for opened in group.papers}
    stem = re.sub(r"[^A-Za-z0-9]+", "-", f"evidence {len(found)} papers {hypothesis}").strip("-").lower()[:60]

    def page() -> str:
        return across_html(
            found,
            hypothesis,
            titles,
            pages,
            retriever=choice.label,
            settings=full_settings(choice.name, choice.settings),
            budget=budget,
            problems=group.problems,
            command=_command(group, hypothesis, choice, budget),
            created_at=datetime.now(UTC).isoformat(timespec="minutes"),
        )

    st.markdown("## Take it away")
    with st.container(horizontal=True):
        st.download_button(
            "Page (HTML)",
            page,
            f"{stem}.html",
            "text/html",
            on_click="ignore",
            help="One file to read, send and print, with all picks of every paper.",
        )
        st.download_button(
            "CSV",
            lambda: csv_text(across_frame(found, titles, pages)),
            f"{stem}.csv",
            "text/csv",
            on_click="ignore",
        )


def _command(group: PaperGroup, hypothesis: str, choice: Choice, budget: int) -> str:
    """The command that finds the same; empty where a paper did not come from a file."""
    files = [opened.given for opened in group.papers]
    if not all(files):
        return ""
    words = ["find", *files, "--hypothesis", hypothesis, "--k", str(budget), "--retriever", choice.name]
    for key, value in choice.settings.items():
        words += ["--set", f"{key}={setting_text(value)}"]
    return "evidencebench " + shlex.join(words)
