"""``evidencebench find PAPER ... --hypothesis H``"""

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
    from evidencebench_core.retrievers import Retrieval, Retriever
    from evidencebench_core.runs import FoundAcross, FoundEvidence, Step

DISCLAIMER: Final = "Highlights can miss evidence. They are no medical advice."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Show the sentences of any paper that bear on a hypothesis. What was left out of the paper (tables, figures,"
        " references) is said on stderr. Nothing of it is kept; but what is asked of a language model, and its"
        " answer, is in the store, so that asking again is free."
    )
    parser.add_argument(
        "papers",
        nargs="+",
        metavar="PAPER",
        help="a file (JATS XML, PDF with text, DOCX, Markdown, text), - for standard input,"
        " or a PMC id, PubMed id or DOI, fetched from Europe PMC; several of them, or a folder of files, are"
        " ordered by their best sentence",
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
    if len(args.papers) > 1 or Path(args.papers[0]).is_dir():
        return _run_across(args, retriever, llm)
    where, content = args.papers[0], None
    if where == "-":
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


def _run_across(args: argparse.Namespace, retriever: Retriever, llm: LLM | None) -> int:
    """The same for several papers; as JSON ``papers``, the best first, and ``problems``."""
    from evidencebench_core.export import across_documents
    from evidencebench_core.runs import drive, find_across, measure_of, measure_text, paper_files

    if args.plain or "-" in args.papers:
        remedy = "Give one paper, or leave it out."
        raise SettingError("--plain" if args.plain else "-", "is for one paper", remedy)
    wheres = [
        file
        for where in args.papers
        for file in (paper_files(Path(where)) if Path(where).is_dir() else (where,))
    ]
    how = {"kind": args.kind, "base_url": args.base_url, "llm": llm, "fresh": args.fresh}
    try:
        found = drive(find_across(wheres, args.hypothesis, retriever, args.k, **how), _say)
    finally:
        if llm is not None:
            print_spending(llm.budget.spent)
    if args.html is not None:
        _write_across(args, retriever, found)
    papers = {where: one.paper for where, one in found.read.items()}
    if args.json:
        print_json(
            {
                "hypothesis": args.hypothesis.strip(),
                "retriever": args.retriever,
                "settings": dict(retriever.settings),
                "k": args.k,
                "compared_by": measure_of(args.retriever),
                "papers": across_documents(found.picks, papers),
                "problems": list(found.problems),
            }
        )
    else:
        print_wrapped(f"Hypothesis: {args.hypothesis.strip()}", "", text_columns())
        for number, one in enumerate(found.picks, start=1):
            best = "no pick" if one.best is None else f"best {one.best:.3g}"
            name = one_line(found.read[one.key].name)
            print(f"\n{number}. {one_line(papers[one.key].title) or name} ({name}; {best})")
            _print_picks(papers[one.key], one.retrieval)
    note(f"{quantity(len(papers), 'paper')} searched by {args.retriever}. {measure_text(args.retriever)}")
    for problem in found.problems:
        note(f"Not read: {problem}")
    if args.html is not None:
        note(f"The report is in {args.html}")
    note(DISCLAIMER)
    return 0


def _write_across(args: argparse.Namespace, retriever: Retriever, found: FoundAcross) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import across_html

    page = across_html(
        found.picks,
        args.hypothesis.strip(),
        {where: one.paper.title or one.name for where, one in found.read.items()},
        {where: one.paper.pages for where, one in found.read.items()},
        retriever=args.retriever,
        settings=dict(retriever.settings),
        budget=args.k,
        problems=found.problems,
        command="evidencebench " + shlex.join(args.words),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with whole_file(args.html) as stream:
        stream.write(page.encode())


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
    if found.read.paper.title:
        print_wrapped(found.read.paper.title, "", text_columns())
    print_wrapped(f"Hypothesis: {args.hypothesis.strip()}", "", text_columns())
    _print_picks(found.read.paper, found.retrieval)


def _print_picks(paper: Paper, retrieval: Retrieval) -> None:
    from evidencebench_core.export import explanations

    columns, why = text_columns(), explanations(retrieval)
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
