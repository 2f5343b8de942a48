"""What was found in one paper: as JSON, as a table, and as one HTML file of three sheets to take home."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Set
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from evidencebench_core.export.run_rows import versions
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.papers import Box, PageImage, Paper
from evidencebench_core.papers.find import MAX_FROM_ABSTRACT, Findings, floats_cited
from evidencebench_core.retrievers.bm25 import token_spans, tokens_of
from evidencebench_core.retrievers.llm.retriever import reasons_in
from evidencebench_core.words import one_line

NOTICE: Final = (
    "A computer program chose these sentences. It can miss important evidence, and it can show sentences that are not "
    "evidence. Read the paper before you rely on it. This is no medical advice."
)
NOTHING: Final = (
    "No sentence comes close to the statement: the paper may say nothing on it. "
    "What follows is the nearest there is."
)
STANCE_WORDS: Final = {
    "supports": "supports it",
    "against": "against it",
    "neither": "neither for nor against",
}


def passage_documents(findings: Findings) -> list[dict[str, Any]]:
    """The passages for people: the abstract's first, each with its number, place, text, and what it points at.

    A sentence is in ``pieces``, each a text and whether it is a word that the hypothesis has, too.
    """
    paper, by_model = findings.read.paper, reasons_in(findings.retrieval)
    words = frozenset(tokens_of(findings.hypothesis, "word-stop"))
    return [
        {
            "number": passage.number,
            "is_abstract": passage.is_abstract,
            "picks": list(passage.picks),
            "place": section_of(paper, passage.sentences[0]),
            "sentences": [
                {
                    "index": index,
                    "is_pick": index in passage.picks,
                    "pieces": _pieces(paper.sentences[index], words),
                    "stance": findings.stances.get(index, ""),
                }
                for index in passage.sentences
            ],
            "why": " ".join(by_model[index] for index in passage.picks if index in by_model),
            "floats": [
                {"label": item.label, "caption": item.caption, "page": item.page}
                for item in floats_cited(paper, passage.picks)
            ],
            "before": _neighbour(paper, passage.sentences[0], -1),
            "after": _neighbour(paper, passage.sentences[-1], 1),
        }
        for passage in findings.passages
    ]


def _pieces(sentence: str, words: Set[str]) -> list[tuple[str, bool]]:
    pieces, end = [], 0
    for token, start, stop in token_spans(sentence, "word-stop"):
        if token in words:
            pieces += [(sentence[end:start], False), (sentence[start:stop], True)]
            end = stop
    pieces.append((sentence[end:], False))
    return [piece for piece in pieces if piece[0]]


def section_of(paper: Paper, index: int) -> str:
    """The heading above a sentence, and its page, for people."""
    section = one_line(paper.sections[index]).strip() or "before the first heading"
    return f"{section}, p. {paper.pages[index]}" if index in paper.pages else section


def pick_documents(findings: Findings) -> list[dict[str, Any]]:
    """The picks as JSON-able values, best first."""
    paper, retrieval, numbers = findings.read.paper, findings.retrieval, findings.numbers
    rank, score = places_and_scores(retrieval)
    by_model = reasons_in(retrieval)
    return [
        {
            "sentence": index,
            "passage": numbers[index],
            "section": paper.sections[index],
            "type": paper.sentence_types[index],
            "text": paper.sentences[index],
            "rank": rank.get(index),
            "score": score.get(index),
            **({"page": paper.pages[index]} if index in paper.pages else {}),
            **({"why": by_model[index]} if index in by_model else {}),
            **({"stance": findings.stances[index]} if index in findings.stances else {}),
        }
        for index in findings.picks
    ]


def findings_document(findings: Findings, budget: int) -> dict[str, Any]:
    """Everything about the picks in one paper, JSON-able."""
    paper = findings.read.paper
    return {
        "hypothesis": findings.hypothesis,
        "paper": {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "kind": paper.kind,
            "licence": paper.licence,
            "source": findings.read.source,
            "n_sentences": len(paper.sentences),
            "left_out": dict(paper.left_out),
            "notes": list(paper.notes),
            "doubts": [{"place": doubt.place, "text": doubt.text} for doubt in paper.doubts],
        },
        "retriever": findings.retriever.name,
        "settings": findings.retriever.settings.values(),
        "k": budget,
        "best": findings.best,
        "close": findings.is_close,
        "picks": pick_documents(findings),
        "versions": versions(),
    }


def findings_html(
    findings: Findings,
    *,
    image: PageImage | None = None,
    command: str = "",
    created_at: str = "",
) -> str:
    """One self-contained page of three sheets: the findings, the marked page, how they were found.

    ``image`` is of the page of `first_page`; without it the second sheet has the passages in
    their context. No script, no outside request, no text is markup.
    """
    paper = findings.read.paper
    passages = passage_documents(findings)
    marked = None
    if image is not None:
        webp = b64encode(image.webp).decode()
        marked = {
            "src": f"data:image/webp;base64,{webp}",
            "page": image.page,
            "boxes": _boxes(findings, image),
        }
    settings = findings.retriever.settings.values()
    page: str = _template().render(
        title=findings.hypothesis,
        paper_title=paper.title or findings.read.name,
        source=findings.read.source,
        moment=_moment(created_at),
        passages=passages,
        notice=NOTICE,
        stance_words=STANCE_WORDS,
        nothing="" if findings.is_close or not passages else NOTHING,
        marked=marked,
        facts={
            "Searched": f"{len(paper.sentences):,} sentences and headings; at most {MAX_FROM_ABSTRACT} findings from"
            " the abstract unless that was asked for",
            "Left out of the paper": left_out_text(paper.left_out) or "nothing",
            "Chosen by": findings.retriever.name,
            "Settings": ", ".join(f"{name}={_plain(value)}" for name, value in settings.items()) or "none",
            "Closest sentence": "unknown"
            if findings.best is None
            else f"{findings.best:.2f} of 1 in meaning",
            "Notes": " ".join(paper.notes) or "none",
            "Versions": ", ".join(f"{name} {text}" for name, text in versions().items()),
        },
        doubts=[(doubt.place, doubt.text) for doubt in paper.doubts[:8]],
        n_more_doubts=max(0, len(paper.doubts) - 8),
        command=command,
    )
    return page


def lead(findings: Findings) -> int | None:
    """The best pick beyond the abstract, else the best: where to open the paper."""
    types = findings.read.paper.sentence_types
    beyond = (index for index in findings.picks if types[index] != "abstract")
    return next(chain(beyond, findings.picks), None)


def first_page(findings: Findings) -> int | None:
    """The page to show of a paper, from 1: that of its `lead`; ``None`` for a paper without pages."""
    index = lead(findings)
    return None if index is None else findings.read.paper.pages.get(index)


def left_out_text(left_out: Mapping[str, int]) -> str:
    """``tables (3), figures (1)``: what there was at least one of."""
    return ", ".join(f"{name} ({number:,})" for name, number in left_out.items() if number)


def _plain(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def share_of_page(box: Box, image: PageImage) -> tuple[float, float, float, float]:
    """Left, top, width and height of a box in percent of its page; nothing lies beyond the page."""

    def share(edge: float, size: float) -> float:
        return round(100 * min(max(edge / size, 0.0), 1.0), 2) if size > 0 else 0.0

    left, top = share(box.x0, image.width), share(box.y0, image.height)
    right, foot = share(box.x1, image.width), share(box.y1, image.height)
    return left, top, max(right - left, 0.0), max(foot - top, 0.0)


def _boxes(findings: Findings, image: PageImage) -> list[tuple[object, ...]]:
    """Where the picks stand on a page (`share_of_page`), the passage's number before the first box of each."""
    boxes: list[tuple[object, ...]] = []
    for index, number in findings.numbers.items():
        here = [box for box in findings.read.paper.boxes[index] if box.page == image.page]
        boxes += [("" if place else number, *share_of_page(box, image)) for place, box in enumerate(here)]
    return boxes


def _neighbour(paper: Paper, index: int, step: int) -> str:
    """The sentence beside a passage, if it is text of the same section."""
    place = index + step
    if not 0 <= place < len(paper.sentences) or paper.sections[place] != paper.sections[index]:
        return ""
    return "" if paper.sentence_types[place] == "section_name" else paper.sentences[place]


def _moment(created_at: str) -> str:
    try:
        when = datetime.fromisoformat(created_at)
    except ValueError:
        return created_at
    return f"{when.day} {when:%B %Y}"


@cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else one_line(str(value)),
    )
    return environment.get_template("findings.html")
