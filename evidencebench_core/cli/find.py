"""``evidencebench find PAPER --hypothesis H``"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_settings, positive, store_of
from evidencebench_core.cli.output import note, print_json, print_wrapped, text_columns
from evidencebench_core.cli.spending import (
    add_server,
    check_no_server_arguments,
    print_spending,
    server_llm,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.papers import DEFAULT_LIMITS
from evidencebench_core.runs import DEFAULT_BUDGET
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM
    from evidencebench_core.papers import Paper
    from evidencebench_core.retrievers import Retriever
    from evidencebench_core.runs import FoundEvidence, Step

DISCLAIMER: Final = "Highlights can miss evidence. They are no medical advice."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Show the sentences of any paper that bear on a hypothesis. What was left out of the paper (tables, figures,"
        " references) is said on stderr. Nothing of it is kept; but what is asked of a language model, and its"
        " answer, is in the store, so that asking again is free."
    )
    parser.add_argument(
        "paper",
        metavar="PAPER",
        help="a file (JATS or BioC XML, BioC JSON, PDF with text, DOCX, Markdown, text), - for standard input,"
        " or a PMC id, PubMed id or DOI, fetched from Europe PMC",
    )
    parser.add_argument("--hypothesis", required=True, metavar="TEXT", help="what to look for")
    parser.add_argument(
        "--k", type=positive, default=DEFAULT_BUDGET, metavar="N", help="how many sentences (default: 10)"
    )
    parser.add_argument(
        "--retriever",
        metavar="R",
        help="default: evidence-ranker where a model is trained (see train-ranker), else structure",
    )
    add_settings(parser)
    parser.add_argument(
        "--kind",
        metavar="K",
        help="what the paper is, where it cannot be told: jats, pdf, text, markdown, ...",
    )
    parser.add_argument("--html", type=Path, metavar="PATH", help="write a report to read and print as well")
    parser.add_argument("--plain", action="store_true", help="the report in plain words, without settings")
    parser.add_argument("--base-url", metavar="URL", help="where papers are fetched (default: Europe PMC)")
    add_server(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read the paper, ask the retriever, print the picks and why; as JSON one object with ``picks``."""
    from evidencebench_core.retrievers.ranker.model_file import default_retriever
    from evidencebench_core.runs import drive, find

    args.retriever = args.retriever or default_retriever()
    if args.plain and args.html is None:
        raise SettingError("--plain", "is for the report", "Name its file with --html.")
    if not args.hypothesis.strip():
        raise SettingError("--hypothesis", "is empty", "Write the hypothesis to look for in the paper.")
    retriever, llm = _retriever(args)  # before the paper: a wrong setting is told at once
    where, content = args.paper, None
    if args.paper == "-":
        where, content = "standard input", sys.stdin.buffer.read(DEFAULT_LIMITS.max_bytes + 1)
    steps = find(
        where,
        args.hypothesis,
        retriever,
        args.k,
        content=content,
        kind=args.kind,
        base_url=args.base_url,
        llm=llm,
        fresh=args.fresh,
    )
    try:
        found = drive(steps, _say)
    finally:
        if llm is not None:
            print_spending(llm.budget.spent)
    if args.html is not None:
        _write_html(args, found)
    if args.json:
        print_json(_document(args, found))
    else:
        _print(args, found)
    _tell(args, found.read.paper)
    return 0


def _say(step: Step) -> None:
    """For someone who waits; a script hears of nothing but the end."""
    if sys.stderr.isatty():
        note(step.text)


def _retriever(args: argparse.Namespace) -> tuple[Retriever, LLM | None]:
    """The retriever of the command line, and the server that it asks, if it does."""
    from evidencebench_core.retrievers import ServedRetriever, make_retriever, retriever_entry

    entry = retriever_entry(args.retriever)
    if entry.sees_gold:
        raise SettingError(f"retriever {entry.name}", "needs gold, which no new paper has", "Choose another.")
    if not entry.asks_server:
        check_no_server_arguments(args, entry.name)
    retriever = make_retriever(entry.name, dict(args.settings))
    if not isinstance(retriever, ServedRetriever):
        return retriever, None
    store = store_of(args)
    return retriever.connected(store), server_llm(store, args)


def _write_html(args: argparse.Namespace, found: FoundEvidence) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import paper_report, report_html

    report = paper_report(
        found.read.paper,
        args.hypothesis,
        found.retrieval,
        source=found.read.source,
        retriever=args.retriever,
        settings=dict(found.retriever.settings),
        budget=args.k,
        command="evidencebench " + shlex.join(args.words),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with whole_file(args.html) as stream:
        stream.write(report_html(report, plain=args.plain).encode())


def _document(args: argparse.Namespace, found: FoundEvidence) -> dict[str, Any]:
    from evidencebench_core.export import pick_documents

    paper = found.read.paper
    return {
        "hypothesis": args.hypothesis.strip(),
        "paper": {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "kind": paper.kind,
            "source": found.read.source,
            "n_sentences": len(paper.sentences),
            "left_out": dict(paper.left_out),
            "notes": list(paper.notes),
            "doubts": [asdict(doubt) for doubt in paper.doubts],
        },
        "retriever": args.retriever,
        "settings": dict(found.retriever.settings),
        "k": args.k,
        "seconds": found.retrieval.seconds,
        "picks": pick_documents(paper, found.retrieval),
    }


def _print(args: argparse.Namespace, found: FoundEvidence) -> None:
    from evidencebench_core.export import explanations

    paper, retrieval = found.read.paper, found.retrieval
    columns, why = text_columns(), explanations(retrieval)
    if paper.title:
        print_wrapped(paper.title, "", columns)
    print_wrapped(f"Hypothesis: {args.hypothesis.strip()}", "", columns)
    pages = paper.pages
    for number, index in enumerate(retrieval.selection, start=1):
        section = one_line(paper.sections[index]).strip() or "before the first heading"
        page = f", page {pages[index]}" if index in pages else ""
        print(f"\n{number:>3}  sentence {index}, {section}{page}")
        print_wrapped(paper.sentences[index], "     ", columns)
        if index in why:
            print_wrapped(f"Why: {why[index]}", "     ", columns)


def _tell(args: argparse.Namespace, paper: Paper) -> None:
    from evidencebench_core.export import left_out_text

    left_out = left_out_text(paper.left_out)
    searched = f"{quantity(len(paper.sentences), 'sentence')} searched by {args.retriever}"
    note(f"{searched}; left out: {left_out}" if left_out else searched)
    for line in (*paper.notes, *(f"Doubtful text in {doubt.place}: {doubt.text}" for doubt in paper.doubts)):
        note(line)
    if args.html is not None:
        note(f"The report is in {args.html}")
    note(DISCLAIMER)


VERBS: Final = {"find": (add_arguments, run)}
