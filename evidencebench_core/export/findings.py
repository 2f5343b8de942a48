"""What was found in one paper: as JSON, as a table, as one HTML file to take home, and as highlights in its PDF."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Set
from contextlib import suppress
from datetime import datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import PaperError
from evidencebench_core.export.run_rows import versions
from evidencebench_core.export.tables import places_and_scores
from evidencebench_core.palette import MARKS
from evidencebench_core.papers import Box, PageImage, Paper, highlighted_pdf, page_images
from evidencebench_core.papers.find import MAX_FROM_ABSTRACT, Findings, floats_cited
from evidencebench_core.retrievers.bm25 import token_spans, tokens_of
from evidencebench_core.retrievers.llm.retriever import reasons_in
from evidencebench_core.words import clipped_text, one_line, value_text

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
_MAX_SHOWN: Final = 8  # pages with marks, and pictures of tables and figures
_RIGHT: Final = 0.45  # of the width; a line that begins beyond it stands in a column on the right
_LINE: Final = 2.0  # percent of a page; numbers that stand closer would overlap


def passage_documents(findings: Findings) -> list[dict[str, Any]]:
    """The passages for people: the abstract's first, each with its number, place, text, and what it points at.

    A sentence is in ``pieces``, each a text and whether it is a word that the hypothesis has, too.
    """
    paper, by_model = findings.read.paper, reasons_in(findings.retrieval)
    # Without numbers: the 2 of "type 2" is no word of "42.2%".
    words = {token for token in tokens_of(findings.hypothesis, "word-stop") if not token.isdigit()}
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
            **{name: getattr(paper, name) for name in ("paper_id", "title", "kind", "licence")},
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


def findings_html(findings: Findings, created_at: datetime, *, pdf: bytes = b"", command: str = "") -> str:
    """One self-contained web page: the findings, the pages with their marks, how they were found.

    Without the ``pdf`` that the paper was read from, or where its pages cannot be drawn, the sentences around the
    passages stand with them instead. No script, no outside request, no text is markup.
    """
    paper = findings.read.paper
    passages = passage_documents(findings)
    picks = [pick for passage in findings.passages for pick in passage.picks] if paper.boxes else []
    pages = list(dict.fromkeys(box.page for pick in picks for box in paper.boxes[pick]))
    numbers = findings.numbers
    shown = sorted(pages[:_MAX_SHOWN])
    cited = [item for item in floats_cited(paper, findings.picks) if item.page and item.box][:_MAX_SHOWN]
    marked: list[PageImage] = []
    pictures: list[PageImage] = []
    with suppress(PaperError):
        if pdf:
            marked = page_images(highlights_pdf(findings, pdf), [(page, None) for page in shown])
            pictures = page_images(pdf, [(item.page or 1, item.box) for item in cited])
    page: str = template("findings.html").render(
        hypothesis=findings.hypothesis,
        paper=paper,
        title=paper.title or findings.read.name,
        source=findings.read.source,
        moment=f"{created_at.day} {created_at:%B %Y}",
        passages=passages,
        notice=NOTICE,
        stance_words=STANCE_WORDS,
        nothing="" if findings.is_close or not passages else NOTHING,
        marked=[(image, numbers_beside(paper, numbers, image)) for image in marked],
        more_pages=sorted(pages[_MAX_SHOWN:]),
        pictures={item.label: image for item, image in zip(cited, pictures, strict=False)},
        source_of=lambda image: f"data:image/webp;base64,{b64encode(image.webp).decode()}",
        picked=MARKS["picked"],
        facts=_facts(findings),
        command=command,
    )
    return page


def _facts(findings: Findings) -> dict[str, str]:
    """How the sentences were found, by what is told."""
    paper, retriever = findings.read.paper, findings.retriever
    settings = [f"{name}={value_text(value)}" for name, value in retriever.settings.values().items()]
    learnt = [
        f"(learnt from {data.n_instances:,} instances of {data.dataset})" for data in retriever.training
    ]
    n_sentences = f"{len(paper.sentences):,} sentences and headings"
    return {
        "Searched": f"{n_sentences}; at most {MAX_FROM_ABSTRACT} from the abstract",
        "Left out of the paper": left_out_text(paper.left_out) or "nothing",
        "Chosen by": " ".join([retriever.name, *learnt]),
        **({"For or against by": findings.stances_by} if findings.stances else {}),
        "Settings": ", ".join(settings) or "none",
        "Closest sentence": "unknown" if findings.best is None else f"{findings.best:.2f} of 1 in meaning",
        "Notes": " ".join(paper.notes) or "none",
        "Versions": ", ".join(f"{name} {text}" for name, text in versions().items()),
    }


def highlights_pdf(findings: Findings, pdf: bytes) -> bytes:
    """The PDF of the paper with the picks highlighted, each with number, stance, statement and reason."""
    paper, reasons = findings.read.paper, reasons_in(findings.retrieval)
    marks = []
    for index, number in findings.numbers.items():
        lines = [f"Passage {number}", f"Searched for: {findings.hypothesis}"]
        if index in findings.stances:
            lines[0] += f": {STANCE_WORDS[findings.stances[index]]}"
        if index in reasons:
            lines.append(f"The model says: {reasons[index]}")
        comment = "\n".join(clipped_text(one_line(line), 2000) for line in lines)
        boxes = paper.boxes[index] if paper.boxes else ()
        marks += [(tuple(here), comment) for _, here in groupby(boxes, lambda box: box.page)]
    return highlighted_pdf(pdf, marks, findings.read.name)


def left_out_text(left_out: Mapping[str, int]) -> str:
    """``tables (3), figures (1)``: what there was at least one of."""
    return ", ".join(f"{name} ({number:,})" for name, number in left_out.items() if number)


def share_of_page(box: Box, image: PageImage) -> tuple[float, float, float, float]:
    """Left, top, width and height of a box in percent of its page; nothing lies beyond the page."""
    edges = ((box.x0, image.width), (box.y0, image.height), (box.x1, image.width), (box.y1, image.height))
    shares = [min(max(edge / size, 0.0), 1.0) if size > 0 else 0.0 for edge, size in edges]
    left, top, right, foot = (round(100 * share, 2) for share in shares)
    return left, top, max(right - left, 0.0), max(foot - top, 0.0)


def numbers_beside(
    paper: Paper, numbers: Mapping[int, int], image: PageImage
) -> list[tuple[str, float, str, int]]:
    """The numbers of passages beside a page: on which side, percent from the top, text, and the pick it stands at.

    It stands once on a side, beside the column that has the widest line of the pick; those of one line stand together.
    """
    places: dict[tuple[str, int], tuple[str, float, int, int]] = {}
    for index in sorted(numbers):
        lines = [box for box in paper.boxes[index] if box.page == image.page]
        if lines:
            widest = max(range(len(lines)), key=lambda at: lines[at].x1 - lines[at].x0)
            side = "right" if lines[widest].x0 > _RIGHT * image.width else "left"
            tops = [at for at in range(1, widest + 1) if lines[at].y0 < lines[at - 1].y0]  # of columns
            top = share_of_page(lines[max(tops, default=0)], image)[1]
            places.setdefault((side, numbers[index]), (side, top, numbers[index], index))
    beside: list[tuple[str, float, str, int]] = []
    for side, top, number, index in sorted(places.values()):
        if beside and beside[-1][0] == side and top - beside[-1][1] < _LINE:
            beside[-1] = (side, beside[-1][1], f"{beside[-1][2]} {number}", beside[-1][3])
        else:
            beside.append((side, top, str(number), index))
    return beside


def _neighbour(paper: Paper, index: int, step: int) -> str:
    """The sentence beside a passage, if it is text of the same section."""
    place = index + step
    if not 0 <= place < len(paper.sentences) or paper.sections[place] != paper.sections[index]:
        return ""
    return "" if paper.sentence_types[place] == "section_name" else paper.sentences[place]


@cache
def template(name: str) -> Any:
    """The template of that name in this folder: no value is markup, and none has more than a line."""
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
    return environment.get_template(name)
