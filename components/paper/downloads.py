"""Files to take away: a report, the picks as CSV and JSON."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st

from components.app.choices import Choice, setting_text
from components.models.server import session_model
from components.paper.opened import OpenPaper
from components.paper.verdicts import picked_verdicts
from evidencebench_core.export import (
    Row,
    paper_report,
    pick_documents,
    report_html,
    versions,
    write_csv,
)
from evidencebench_core.retrievers import Retrieval, full_settings
from evidencebench_core.tasks import task_named


def draw_downloads(
    opened: OpenPaper,
    hypothesis: str,
    budget: int,
    choices: Sequence[Choice],
    answers: Mapping[str, Retrieval],
    active: int,
) -> None:
    """The buttons; each file is made when it is asked for."""
    label = list(answers)[active]
    answered = [choice for choice in choices if choice.label in answers]
    choice = next(choice for choice in answered if choice.label == label)
    # now: a file is made outside of the session
    verdicts = picked_verdicts(opened, hypothesis, answers[label].selection)
    judge = session_model()
    files: list[tuple[str, str, str, Callable[[], str], str | None]] = [
        (
            "Report (HTML)",
            "html",
            "text/html",
            lambda: report_page(
                opened, hypothesis, budget, choice, answers[label], verdicts=verdicts, judge=judge
            ),
            "One file to read, send and print, with the picks of the retriever shown and the marked paper.",
        ),
        ("CSV", "csv", "text/csv", lambda: picks_as_csv(opened, hypothesis, budget, answers), None),
        (
            "JSON",
            "json",
            "application/json",
            lambda: picks_as_json(opened, hypothesis, budget, answered, answers),
            None,
        ),
    ]
    with st.container(horizontal=True):
        for name, ending, mime, make, help_text in files:
            st.download_button(
                name, make, f"{file_stem(opened)}.{ending}", mime, on_click="ignore", help=help_text
            )


def file_stem(opened: OpenPaper) -> str:
    """A harmless file name made of the paper's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", f"evidence {opened.title}").strip("-").lower()[:60]


def report_page(  # noqa: PLR0913 - what is on the page
    opened: OpenPaper,
    hypothesis: str,
    budget: int,
    choice: Choice,
    retrieval: Retrieval,
    *,
    plain: bool = False,
    at: datetime | None = None,
    verdicts: Mapping[int, str] | None = None,
    judge: str = "",
) -> str:
    """The report of one retriever's picks, as one self-contained page; with a judge's verdicts where there are any."""
    moment = datetime.now(UTC) if at is None else at
    report = paper_report(
        opened.paper,
        hypothesis,
        retrieval,
        title=opened.title,
        source="" if opened.name == opened.title else opened.name,
        retriever=choice.label,
        settings=full_settings(choice.name, choice.settings),
        budget=budget,
        command=_command(opened, hypothesis, budget, choice),
        created_at=moment.isoformat(timespec="minutes"),
        plain=plain,
        verdicts=verdicts or {},
        judge=judge,
    )
    return report_html(report, plain)


def _command(opened: OpenPaper, hypothesis: str, budget: int, choice: Choice) -> str:
    words = ["find", opened.given or "PAPER", "--hypothesis", hypothesis, "--k", str(budget)]
    words += ["--retriever", choice.name]
    for key, value in choice.settings.items():
        words += ["--set", f"{key}={setting_text(value)}"]
    return "evidencebench " + shlex.join(words)


def picks_as_csv(opened: OpenPaper, hypothesis: str, budget: int, answers: Mapping[str, Retrieval]) -> str:
    """One line a pick, retriever after retriever, as run exports have it."""
    stream, instance = io.StringIO(newline=""), opened.instance(hypothesis)
    for number, (label, retrieval) in enumerate(answers.items()):
        row = Row(opened.title, instance.evidence, retrieval, instance=instance, pages=opened.paper.pages)
        write_csv([row], task_named(f"er@{budget}"), stream, label, header=number == 0)
    return stream.getvalue()


def picks_as_json(
    opened: OpenPaper,
    hypothesis: str,
    budget: int,
    choices: Sequence[Choice],
    answers: Mapping[str, Retrieval],
) -> str:
    """The paper's facts, the hypothesis, and the picks of every retriever with text and section."""
    facts = opened.paper.as_dict()
    n_sentences = len(facts.pop("sentences"))
    del facts["sentence_types"]
    facts.pop("boxes", None)  # coordinates of every sentence: twenty times the rest
    document = {
        "hypothesis": hypothesis,
        "k": budget,
        "paper": {**facts, "name": opened.name, "n_sentences": n_sentences},
        "answers": [
            {
                "retriever": choice.name,
                "settings": full_settings(choice.name, choice.settings),
                "seconds": answers[choice.label].seconds,
                "picks": pick_documents(opened.paper, answers[choice.label]),
            }
            for choice in choices
        ],
        "versions": versions(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
