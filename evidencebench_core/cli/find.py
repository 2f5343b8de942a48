"""``evidencebench find PAPER... --hypothesis H``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evidencebench_core.cli.emit import Output, emit, note, wrap
from evidencebench_core.cli.frame import (
    Ask,
    Json,
    Settings,
    StorePath,
    command_line,
    opened,
    settings_of,
    verb,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM
    from evidencebench_core.retrievers import Retriever
    from evidencebench_core.runs import Findings, ReadPaper, Step

_WHOLE = 3  # papers of several whose picks are printed in full


@verb()
def find(
    papers: Annotated[
        list[str],
        Argument(
            metavar="PAPER...",
            help="files (JATS, PDF, DOCX, Markdown, text), - for standard input, PMC or PubMed ids, DOIs, or a folder",
        ),
    ],
    *,
    hypothesis: Annotated[str, Option(metavar="TEXT", help="what to look for")],
    k: Annotated[int, Option(metavar="N", min=1, help="how many sentences")] = 10,
    retriever: Annotated[
        str | None, Option(metavar="R", help="default: evidence-ranker where one is trained, else hybrid")
    ] = None,
    settings: Settings = None,
    abstract_too: Annotated[
        bool, Option("--abstract-too", help="take more than two from the abstract")
    ] = False,
    kind: Annotated[
        str | None, Option(metavar="K", help="what the paper is: jats, pdf, docx, markdown, text")
    ] = None,
    html: Annotated[Path | None, Option(metavar="PATH", help="write a page to take home (one paper)")] = None,
    base_url: Annotated[str | None, Option(metavar="URL", help="where papers are fetched")] = None,
    ask: Ask = Ask(),  # noqa: B008 - frozen
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Show what bears on a hypothesis in any paper.

    Example: evidencebench find paper.pdf --hypothesis "Night work increases the risk of diabetes."
    """
    from evidencebench_core.runs import drive, papers_at
    from evidencebench_core.runs.find import findings_in

    if not hypothesis.strip():
        raise SettingError("--hypothesis", "is empty", "Write the hypothesis to look for in the paper.")
    chosen, llm = _retriever(
        retriever, settings_of(settings), ask, store
    )  # before the paper: a wrong setting is told
    read, problems = drive(_papers(papers, kind, base_url, papers_at), _say)
    if html is not None and len(read) > 1:
        raise SettingError("--html", "is for one paper", "Give one paper.")
    asker = None
    if llm is not None:
        from evidencebench_core.runs.find import asker_of

        asker = asker_of(chosen, llm)
    found = [
        findings_in(paper, hypothesis.strip(), chosen, k, asker, abstract_too=abstract_too)
        for paper in read.values()
    ]
    found.sort(key=lambda findings: -(findings.best or 0.0))
    if html is not None:
        _write_html(html, found[0], Path(next(iter(read))))
    if json:
        emit(Output(_document(found, problems, k)), json=True)
    else:
        _print(found)
    for line in (*problems, *(line for findings in found[:_WHOLE] for line in _remarks(findings))):
        note(line)
    note("Highlights can miss evidence. They are no medical advice.")


def _papers(papers: list[str], kind: str | None, base_url: str | None, papers_at: Any) -> Any:
    from evidencebench_core.papers import DEFAULT_LIMITS
    from evidencebench_core.runs.find import paper_at

    if papers != ["-"]:
        return (yield from papers_at(papers, kind, base_url))
    content = sys.stdin.buffer.read(DEFAULT_LIMITS.max_bytes + 1)
    read: ReadPaper = yield from paper_at("standard input", content=content, kind=kind)  # type: ignore[arg-type]
    return {"-": read}, []


def _retriever(
    name: str | None, settings: dict[str, str], ask: Ask, store: Path | None
) -> tuple[Retriever, LLM | None]:
    """The retriever of the command line, and the server that it asks, if it does."""
    from evidencebench_core.retrievers import ServedRetriever, make_retriever, retriever_entry
    from evidencebench_core.runs.find import default_retriever

    entry = retriever_entry(name or default_retriever())
    if entry.sees_gold:
        raise SettingError(f"retriever {entry.name}", "needs gold, which no new paper has", "Choose another.")
    retriever = make_retriever(entry.name, settings)
    if not isinstance(retriever, ServedRetriever):
        return retriever, None
    answers = opened(store, create=True)
    return retriever.connected(answers), ask.llm(answers)


def _say(step: Step) -> None:
    """For someone who waits; a script hears of nothing but the end."""
    if sys.stderr.isatty():
        note(step.text)


def _document(found: list[Findings], problems: list[str], k: int) -> dict[str, Any]:
    from evidencebench_core.export import findings_document

    if len(found) == 1 and not problems:
        return findings_document(found[0], k)
    return {"papers": [findings_document(findings, k) for findings in found], "problems": problems}


def _print(found: list[Findings]) -> None:
    wrap(f"Hypothesis: {found[0].hypothesis}")
    for number, findings in enumerate(found, start=1):
        paper = findings.read.paper
        best = "–" if findings.best is None else f"{findings.best:.2f}"
        head = one_line(paper.title) or findings.read.name
        print()
        wrap(f"{number}. {head} (closest {best})" if len(found) > 1 else head)
        if not findings.is_close:
            wrap(f"No sentence comes close to it (best {best} of 1): the paper may say nothing on it.", "   ")
        elif number <= _WHOLE:
            _print_picks(findings)


def _print_picks(findings: Findings) -> None:
    from evidencebench_core.export.findings import passage_documents

    for passage in passage_documents(findings):
        print(f"\n{passage['rank']:>3}  {passage['place']}")
        wrap(" ".join(text for text, _ in passage["parts"]), "     ")
        if passage["why"]:
            wrap(f"Why: {passage['why']}", "     ")


def _remarks(findings: Findings) -> list[str]:
    from evidencebench_core.export import left_out_text

    paper = findings.read.paper
    left_out = left_out_text(paper.left_out)
    searched = f"{quantity(len(paper.sentences), 'sentence')} searched by {findings.retriever.name}"
    doubts = [f"Doubtful text in {doubt.place}: {doubt.text}" for doubt in paper.doubts]
    return [f"{searched}; left out: {left_out}" if left_out else searched, *paper.notes, *doubts]


def _write_html(path: Path, findings: Findings, file: Path) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export.findings import findings_html, first_page
    from evidencebench_core.papers import page_image

    page, image = first_page(findings), None
    if page is not None and file.is_file():
        image = page_image(file.read_bytes(), page, 1.5)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    command = command_line().replace(str(file), file.name).replace(str(path), path.name)  # no folder is told
    text = findings_html(findings, image=image, command=command, created_at=now)
    with whole_file(path) as stream:
        stream.write(text.encode())
    note(f"The page is in {path}")
