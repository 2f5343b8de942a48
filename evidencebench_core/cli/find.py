"""``evidencebench find PAPER... --hypothesis H``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.emit import Output, note, width
from evidencebench_core.cli.frame import Json, Store, command_line, verb
from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.papers.find import ReadPaper


@verb('find paper.pdf --hypothesis "Night work increases the risk of diabetes."', creates=True)
def find(
    store: Store,
    ask: options.Ask,
    papers: list[str] = Argument(
        ...,
        metavar="PAPER...",
        help="files (JATS, PDF, DOCX, Markdown, text), - for standard input, PMC or PubMed ids, DOIs, or a folder",
    ),
    hypothesis: str = Option(..., metavar="TEXT", help="what to look for"),
    k: int = Option(10, metavar="N", min=1, help="how many sentences"),
    retriever: str | None = Option(None, metavar="R", help="default: evidence-ranker"),
    settings: options.Settings = None,
    abstract_too: bool = Option(False, "--abstract-too", help="take more than two from the abstract"),
    all_aspects: bool = Option(
        False, "--all-aspects", help="look for methods and patients too, not results alone"
    ),
    html: Path | None = Option(None, metavar="PATH", help="write a page to take home (one paper)"),
    pdf: Path | None = Option(None, metavar="PATH", help="write the paper's PDF with highlights (one paper)"),
    json: Json = False,
) -> Output | None:
    """Show what bears on a hypothesis in any paper."""
    from evidencebench_core.export.findings import findings_document, findings_html, highlights_pdf
    from evidencebench_core.export.text import WHOLE, findings_text, remarks
    from evidencebench_core.papers.find import DEFAULT_RETRIEVER, findings_in
    from evidencebench_core.retrievers import ServedRetriever, make_retriever, retriever_entry

    if not hypothesis.strip():
        raise SettingError("--hypothesis", "is empty", "Write the hypothesis to look for in the paper.")
    entry = retriever_entry(retriever or DEFAULT_RETRIEVER)
    if entry.sees_gold:
        raise SettingError(f"retriever {entry.name}", "needs gold, which no new paper has", "Choose another.")
    chosen = make_retriever(entry.name, options.settings_of(settings), store=store)
    llm = ask.llm(store) if isinstance(chosen, ServedRetriever) else None
    read, problems = _papers_at(papers)
    first, *others = read
    if others and (html or pdf):
        raise SettingError("--html" if html else "--pdf", "is for one paper", "Give one paper.")
    content = b""
    if (html or pdf) and read[first].paper.kind == "pdf" and Path(first).is_file():
        content = Path(first).read_bytes()
    if pdf and not content:
        raise SettingError("--pdf", f"needs a PDF file, and {first} is none", "Write a web page: --html.")
    results = [
        findings_in(
            paper,
            hypothesis.strip(),
            chosen,
            k,
            focus="all" if all_aspects else "results",
            llm=llm,
            abstract_too=abstract_too,
        )
        for paper in read.values()
    ]
    results.sort(key=lambda findings: -(findings.best or 0.0))
    if html is not None:
        command = command_line()
        for path in filter(None, (Path(first), html, pdf)):
            command = command.replace(str(path), path.name)  # no folder is told
        text = findings_html(results[0], datetime.now(UTC), pdf=content, command=command)
        _write(html, text.encode(), "page")
    if pdf is not None:
        _write(pdf, highlights_pdf(results[0], content), "highlighted PDF")
    if not json:
        print(*findings_text(results, width()), sep="\n")
    for line in (*problems, *(line for findings in results[:WHOLE] for line in remarks(findings))):
        note(line)
    note("Highlights can miss evidence. They are no medical advice.")
    documents = [findings_document(findings, k) for findings in results] if json else []
    several = {"papers": documents, "problems": problems}
    return Output(documents[0] if len(documents) == 1 and not problems else several) if json else None


def _papers_at(papers: list[str]) -> tuple[dict[str, ReadPaper], list[str]]:
    from evidencebench_core.papers import MAX_BYTES
    from evidencebench_core.papers.find import papers_at, read_content

    if papers != ["-"]:
        return papers_at(papers)
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    return {"-": read_content(content, "standard input")}, []


def _write(path: Path, content: bytes, what: str) -> None:
    from evidencebench_core.data.files import whole_file

    with whole_file(path) as stream:
        stream.write(content)
    note(f"The {what} is in {path}")
