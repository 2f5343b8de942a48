"""Findings in open papers, searched for off the script thread and remembered while the server runs."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.paper.opened import OpenPaper
from components.widgets.job_panel import job_panel
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.runs import Findings, findings_in
from evidencebench_core.words import quantity

_QUICK: Final = 1.0  # seconds: what is answered within them needs no progress to be drawn
_MAX_REMEMBERED: Final = 64


@st.cache_resource
def _answers() -> OrderedDict[str, dict[str, Findings]]:
    return OrderedDict()


def findings_of(
    papers: Sequence[OpenPaper], hypothesis: str, retriever: str, budget: int, *, abstract_too: bool
) -> dict[str, Findings] | None:
    """Findings by the paper's ref; ``None`` as long as they are searched for, which is drawn."""
    question = json.dumps(
        [[(opened.ref, opened.digest) for opened in papers], hypothesis, retriever, budget, abstract_too]
    )
    kind = f"findings.{hashlib.sha256(question.encode()).hexdigest()}"
    answers, board = _answers(), resources.jobs()

    def search(job: Job) -> str:
        chosen = make_retriever(retriever)
        found = {}
        for done, opened in enumerate(papers):
            job.report(done, len(papers), f"{retriever} reads {opened.title[:60]}", stop=True)
            found[opened.ref] = findings_in(
                opened.read, hypothesis, chosen, budget, abstract_too=abstract_too
            )
        answers[kind] = found
        while len(answers) > _MAX_REMEMBERED:
            answers.popitem(last=False)
        return f"{quantity(len(papers), 'paper')} searched."

    if kind not in answers:
        if not board.jobs(kind):
            job = board.start(kind, "", f"Searching {quantity(len(papers), 'paper')}", search)
            until = time.monotonic() + _QUICK
            while not job.status.ended and time.monotonic() < until:
                time.sleep(0.02)
        if kind not in answers:
            job_panel(kind)
            return None
    for job in board.jobs(kind):
        board.dismiss(job)
    return answers[kind]
