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
from evidencebench_core.cli.output import note, plain, print_json, print_wrapped, quantity, text_columns
from evidencebench_core.cli.spending import (
    add_server,
    check_no_server_arguments,
    server_session,
    tell_spending,
)
from evidencebench_core.errors import PaperError, SettingError

if TYPE_CHECKING:
    from evidencebench_core.papers.limits import Limits
    from evidencebench_core.papers.paper import Paper
    from evidencebench_core.retrievers import Retrieval, Retriever

DEFAULT_BUDGET: Final = 10
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
    from evidencebench_core.retrievers.ranker.default import default_retriever

    args.retriever = args.retriever or default_retriever()
    if args.plain and args.html is None:
        raise SettingError("--plain", "is for the report", "Name its file with --html.")
    if not args.hypothesis.strip():
        raise SettingError("--hypothesis", "is empty", "Write the hypothesis to look for in the paper.")
    retriever = _Asked(args)  # before the paper: a wrong setting is told at once
    paper, source = paper_of(args)
    retrieval = retriever.retrieval(paper)
    if args.html is not None:
        _write_html(args, paper, source, retriever.settings, retrieval)
    if args.json:
        print_json(_document(args, paper, source, retriever.settings, retrieval))
    else:
        _print(args, paper, retrieval)
    _tell(args, paper)
    return 0


# -- the paper ------------------------------------------------------------------------------------


def paper_of(args: argparse.Namespace) -> tuple[Paper, str]:
    """The paper, read apart from this process, and a line on where it came from."""
    from evidencebench_core.papers.limits import DEFAULT_LIMITS
    from evidencebench_core.papers.sandbox import read_paper_apart

    content, name, source = _content(args, DEFAULT_LIMITS)
    return read_paper_apart(content, name, args.kind, DEFAULT_LIMITS), source


def _content(args: argparse.Namespace, limits: Limits) -> tuple[bytes, str, str]:
    """The paper's bytes, its name as a hint of its kind, and where it came from."""
    if args.paper == "-":
        content = sys.stdin.buffer.read(limits.max_bytes + 1)
        limits.check_size(len(content), "standard input")
        return content, "standard input", "read from standard input"
    path = Path(args.paper)
    if not path.exists() and _is_reference(args.paper):
        from evidencebench_core.papers.europe_pmc import fetched_paper

        fetched = fetched_paper(args.paper, args.base_url, limits)
        return fetched.content, fetched.name, fetched.source
    return _file_content(path, limits), path.name, path.name


def _is_reference(text: str) -> bool:
    from evidencebench_core.papers.europe_pmc import reference_of

    try:
        reference_of(text)
    except PaperError:
        return False
    return True


def _file_content(path: Path, limits: Limits) -> bytes:
    try:
        if not path.is_file():
            problem = (
                "is no regular file"
                if path.exists()
                else "is no file, and no PMC id, PubMed id or DOI either"
            )
            raise PaperError(
                str(path), problem, "Give a file, - for standard input, or an id like PMC2785062."
            )
        with path.open("rb") as stream:
            content = stream.read(limits.max_bytes + 1)
    except OSError as error:
        raise PaperError(
            str(path), f"cannot be read ({error.strerror or error})", "Name a file that can be read."
        ) from error
    limits.check_size(len(content), str(path))
    return content


# -- the retriever ---------------------------------------------------------------------------------


class _Asked:
    """The retriever of the command line, made before any paper is read."""

    def __init__(self, args: argparse.Namespace) -> None:
        from evidencebench_core.retrievers import ServedRetriever, make_retriever, retriever_entry

        self.args, self.session = args, None
        entry = retriever_entry(args.retriever)
        if entry.sees_gold:
            raise SettingError(
                f"retriever {entry.name}", "needs gold, which no new paper has", "Choose another."
            )
        if not entry.asks_server:
            check_no_server_arguments(args, entry.name)
        made: Retriever = make_retriever(entry.name, dict(args.settings))
        if isinstance(made, ServedRetriever):
            self.session = server_session(store_of(args), args)
            made = made.connected(self.session)
        self.retriever, self.settings = made, dict(made.settings)

    def retrieval(self, paper: Paper) -> Retrieval:
        """What it answers, timed."""
        import time
        from dataclasses import replace

        from evidencebench_core.retrievers import query_of

        query = query_of(paper.instance(self.args.hypothesis), "all", self.args.k)
        began = time.perf_counter()
        try:
            answer = self.retriever.retrieve(query)
        finally:
            if self.session is not None:
                tell_spending(self.session)
                self.session.close()
        return replace(answer, seconds=time.perf_counter() - began)


# -- what comes out --------------------------------------------------------------------------------


def _write_html(
    args: argparse.Namespace, paper: Paper, source: str, settings: dict[str, Any], retrieval: Retrieval
) -> None:
    from evidencebench_core.export import report_html, report_of, versions, whole_file
    from evidencebench_core.retrievers.ranker.reasons import why_texts

    report = report_of(
        paper.instance(args.hypothesis),
        retrieval,
        title=paper.title,
        source=source,
        retriever=args.retriever,
        settings=settings,
        budget=args.k,
        left_out=paper.left_out,
        notes=paper.notes,
        doubts=paper.doubts,
        explanations=why_texts(retrieval),
        command="evidencebench " + shlex.join(args.words),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
    )
    with whole_file(args.html) as stream:
        stream.write(report_html(report, plain=args.plain).encode())


def _document(
    args: argparse.Namespace, paper: Paper, source: str, settings: dict[str, Any], retrieval: Retrieval
) -> dict[str, Any]:
    from evidencebench_core.export import places_and_scores
    from evidencebench_core.retrievers.ranker.reasons import why_texts

    rank, score = places_and_scores(retrieval)
    why = why_texts(retrieval)
    return {
        "hypothesis": args.hypothesis.strip(),
        "paper": {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "kind": paper.kind,
            "source": source,
            "n_sentences": len(paper.sentences),
            "left_out": dict(paper.left_out),
            "notes": list(paper.notes),
            "doubts": [asdict(doubt) for doubt in paper.doubts],
        },
        "retriever": args.retriever,
        "settings": settings,
        "k": args.k,
        "seconds": retrieval.seconds,
        "picks": [
            {
                "sentence": index,
                "section": paper.sections[index],
                "type": paper.sentence_types[index],
                "text": paper.sentences[index],
                "rank": rank.get(index),
                "score": score.get(index),
                **({"why": why[index]} if index in why else {}),
            }
            for index in retrieval.selection
        ],
    }


def _print(args: argparse.Namespace, paper: Paper, retrieval: Retrieval) -> None:
    from evidencebench_core.retrievers.ranker.reasons import why_texts

    columns, why = text_columns(), why_texts(retrieval)
    if paper.title:
        print_wrapped(paper.title, "", columns)
    print_wrapped(f"Hypothesis: {args.hypothesis.strip()}", "", columns)
    for number, index in enumerate(retrieval.selection, start=1):
        section = plain(paper.sections[index]).strip() or "before the first heading"
        print(f"\n{number:>3}  sentence {index}, {section}")
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
