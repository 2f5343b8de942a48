"""Real papers' text, written out as the files that readers bring, comes back as the candidate pool it was.

The benchmark's papers themselves as files cannot be had here; their text is real, OCR errors included.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any

import pytest

from evidencebench_core.data.sections import part_of_heading
from evidencebench_core.papers import read_paper
from tests.papers import rendering
from tests.papers.rendering import KIND_OF, Source, source_of

pytestmark = [pytest.mark.slow, pytest.mark.realdata]

N_PAPERS = 24
# How much of it must come back: papers whole (every section's text to the letter), headings, and boundaries.
# JATS and BioC say what is what; the others are read by their words, and OCR has odd ones.
FORMATS: dict[str, tuple[Callable[[Source], bytes], float, float]] = {
    "JATS": (rendering.jats, 1.0, 1.0),
    "JATS without a DOCTYPE": (partial(rendering.jats, seed=1, doctype=False, back=False), 1.0, 1.0),
    "Markdown": (rendering.markdown, 0.9, 0.99),
    "DOCX": (rendering.docx, 0.9, 0.99),
    "text": (rendering.plain, 0.6, 0.95),
    "text in lines of 78": (partial(rendering.plain, wrap=78), 0.6, 0.95),
    "text of Windows": (partial(rendering.plain, newline="\r\n"), 0.6, 0.95),
}


def without_back_matter(source: Source) -> Source:
    """All importers leave it out; the benchmark has it where the parser of the PDF took it for text."""
    kept, skipping = [], False
    for kind, sentences in source.blocks:
        if kind == "heading":
            skipping = part_of_heading(sentences[0]) not in {"body", "abstract"}
        if not skipping and not (kind == "heading" and sentences[0] == source.title):
            kept.append((kind, sentences))
    return Source(source.title, tuple(kept))


@pytest.fixture(scope="module")
def sources(train_raw: dict[str, dict[str, Any]]) -> list[Source]:
    papers = {raw["paper_id"]: raw for raw in train_raw.values()}
    return [without_back_matter(source_of(raw, seed)) for seed, raw in enumerate(papers.values())][:N_PAPERS]


def sections(pool: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """(kind, its sentences without spaces); a heading begins one. The heading we put above the body is not one."""
    found: list[tuple[str, list[str]]] = []
    for kind, text in pool:
        if (kind, text) != ("heading", "Introduction"):
            if kind == "heading" or not found or found[-1][0] != kind:
                found.append((kind, []))
            found[-1][1].append("".join(text.split()))
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_what_comes_back(name: str, sources: list[Source]) -> None:
    written, share_whole, share_headings = FORMATS[name]
    whole = n_headings = found = agreed = differ = 0
    for source in sources:
        paper = read_paper(written(source))
        kinds = map(KIND_OF.__getitem__, paper.sentence_types)
        theirs, ours = sections(source.pool), sections(zip(kinds, paper.sentences, strict=True))
        headings = {text for kind, (text, *_) in theirs if kind == "heading"}
        n_headings += len(headings)
        found += len(headings & {text for kind, (text, *_) in ours if kind == "heading"})
        assert paper.title == source.title
        if [(kind, "".join(s)) for kind, s in theirs] == [(kind, "".join(s)) for kind, s in ours]:
            whole += 1
            for (_, wanted), (_, got) in zip(theirs, ours, strict=True):
                ends, our_ends = (set(accumulate(map(len, texts))) for texts in (wanted, got))
                agreed += len(ends & our_ends)
                differ += len(ends ^ our_ends)
    assert len(sources) == N_PAPERS
    assert whole >= share_whole * N_PAPERS
    assert found >= share_headings * n_headings
    assert agreed / (agreed + differ) > 0.95  # against the benchmark's own splitter, wrong ones included
