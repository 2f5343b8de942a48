"""``evidencebench find PAPER... STATEMENT``."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.emit import Output, note, width, write_file
from evidencebench_core.cli.frame import Store, command_line, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.cited import CitedAnswer
    from evidencebench_core.data.model import Focus
    from evidencebench_core.llm import LLM
    from evidencebench_core.papers.find import Findings


@verb('find paper.pdf "Night work increases the risk of diabetes."', creates=True)
def find(
    store: Store,
    ask: options.Ask,
    papers: list[str] = Argument(
        ...,
        metavar="PAPER",
        help="files (PDF, web page, JATS, TEI, DOCX, Markdown, text), PMC or PubMed ids, DOIs, folders",
    ),
    hypothesis: str = Argument(..., metavar="STATEMENT", help="what to look for, in quotation marks"),
    k: int = Option(10, metavar="N", min=1, help="how many sentences"),
    retriever: str | None = Option(None, metavar="R", help="default: evidence-ranker"),
    settings: options.Settings = None,
    answer: bool = Option(False, "--answer", help="have --model say what the paper finds, citing sentences"),
    stances: bool = Option(False, "--stances", help="have --model say what is for, what against"),
    model: str | None = Option(None, metavar="M", help="the model for --answer and --stances"),
    all_aspects: bool = Option(False, "--all-aspects", help="look for methods and patients, too"),
    html: Path | None = Option(None, metavar="PATH", help="write a page to take home (one paper)"),
    pdf: Path | None = Option(None, metavar="PATH", help="write the paper's PDF with highlights (one paper)"),
) -> Output:
    """Show what bears on a statement in any paper."""
    from evidencebench_core.answers.of_paper import answer_about
    from evidencebench_core.export.findings import findings_document
    from evidencebench_core.export.text import WHOLE, findings_text, remarks
    from evidencebench_core.llm import answer_of
    from evidencebench_core.papers.find import DEFAULT_RETRIEVER, findings_in, papers_at
    from evidencebench_core.retrievers import ServedRetriever, make_retriever, retriever_entry

    if not hypothesis.strip():
        raise SettingError("the statement", "is empty", "Write what to look for in the paper.")
    entry = retriever_entry(retriever or DEFAULT_RETRIEVER)
    if entry.sees_gold:
        raise SettingError(f"retriever {entry.name}", "needs gold, which no new paper has", "Choose another.")
    chosen = make_retriever(entry.name, options.settings_of(settings), store=store)
    if (answer or stances) and not model:
        raise SettingError("--model", "is not given", "Name the model that --answer and --stances ask.")
    llm = ask.llm(store) if model or isinstance(chosen, ServedRetriever) else None
    focus: Focus = "all" if all_aspects else "results"
    read, problems = papers_at(papers)
    first, paper = next((Path(place), paper) for place, paper in read.items())
    is_pdf = first.is_file() and paper.paper.kind == "pdf"
    if len(read) > 1 and (html or pdf):
        raise SettingError("--html" if html else "--pdf", "is for one paper", "Give one paper.")
    if pdf and not is_pdf:
        raise SettingError("--pdf", f"needs a PDF file, and {first} is none", "Write a web page: --html.")
    results = [
        findings_in(paper, hypothesis.strip(), chosen, k, focus=focus, llm=llm) for paper in read.values()
    ]
    results.sort(key=lambda findings: -(findings.best or 0.0))
    answers: list[CitedAnswer] = []
    for place, findings in enumerate(results):
        if llm is not None and model and stances:
            results[place] = _with_stances(llm, findings, model)
        if llm is not None and model and answer:
            about = partial(answer_about, read=findings.read, hypothesis=findings.hypothesis)
            answers.append(answer_of(llm, partial(about, focus=focus, model=model)))
    _write_files(results[0], first, first.read_bytes() if is_pdf else b"", html, pdf)
    documents = [findings_document(findings, k) for findings in results]
    for document, cited in zip(documents, answers, strict=False):
        document["answer"] = asdict(cited)
    for problem in problems:
        note(problem)
    notes = [line for findings in results[:WHOLE] for line in remarks(findings)]
    return Output(
        {"papers": documents, "problems": problems},
        notes=[*notes, "Highlights can miss evidence. They are no medical advice."],
        lines=findings_text(results, width(), answers),
    )


def _with_stances(llm: LLM, findings: Findings, model: str) -> Findings:
    from evidencebench_core.answers.of_paper import stances_of
    from evidencebench_core.llm import answer_of

    by_pick = answer_of(llm, partial(stances_of, findings=findings, model=model))
    if n_unread := len(findings.picks) - len(by_pick):
        note(f"Of {quantity(n_unread, 'sentence')} the model's words could not be read")
    return replace(findings, stances=by_pick, stances_by=model)


def _write_files(
    findings: Findings, paper: Path, content: bytes, html: Path | None, pdf: Path | None
) -> None:
    """The page and the PDF to take home, as far as asked for; ``content`` is the paper's, where it is a PDF."""
    from evidencebench_core.export.findings import findings_html, highlights_pdf

    if html is not None:
        command = command_line()
        for path in filter(None, (paper, html, pdf)):
            command = command.replace(str(path), path.name)  # no folder is told
        write_file(html, findings_html(findings, datetime.now(UTC), pdf=content, command=command).encode())
    if pdf is not None:
        write_file(pdf, highlights_pdf(findings, content))
