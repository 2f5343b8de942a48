"""Texts of the train set in three layouts: what was printed comes back."""

from collections import Counter
from statistics import mean
from typing import Any

import pytest

from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import Block, RawPaper, paper_of_blocks
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import boundaries
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import Article, typeset
from tests.papers.rendering import of_type

pytestmark = [pytest.mark.slow, pytest.mark.realdata]


def printed_paper(article: Article) -> Paper:
    """The paper as an importer without a fault would give it."""
    blocks = [Block("abstract", " ".join(part.paragraphs)) for part in article.abstract]
    for section in article.sections:
        blocks.append(Block("heading", section.heading))
        blocks += [Block("paragraph", paragraph) for paragraph in section.paragraphs]
    return paper_of_blocks(RawPaper(blocks, article.title), "pdf")


def texts_below_the_title(paper: Paper) -> tuple[Counter[str], Counter[str]]:
    """Headings without their numbers, case and spaces; sentences without line breaks."""
    pairs = list(zip(paper.sentences, paper.sentence_types, strict=True))[1:]
    headings = ["".join(filter(str.isalnum, text.lower().lstrip("0123456789. "))) for text, _ in pairs]
    return (
        Counter(
            heading for heading, (_, kind) in zip(headings, pairs, strict=True) if kind == "section_name"
        ),
        Counter(" ".join(text.split()) for text, kind in pairs if kind != "section_name"),
    )


@pytest.mark.parametrize("number", range(len(LAYOUTS)), ids=[layout.name for layout in LAYOUTS])
def test_text_comes_back_in_order(number: int, train_raw: dict[str, dict[str, Any]]) -> None:
    """Two papers a layout, six in all.

    The bounds leave room for what those texts have of their own: captions and running heads of the
    original within sentences, words broken in two, sentences that begin with small letters.
    """
    raws, shares = list(train_raw.values()), []
    for k in (0, 1):
        article = article_of(raws[4 * (2 * number + k) + 1])
        read, printed = paper_of_pdf(typeset(article, LAYOUTS[number]), ""), printed_paper(article)
        assert read.title.split() == printed.title.split()
        assert " ".join(of_type(read, "abstract")).split() == " ".join(of_type(printed, "abstract")).split()
        assert (read.left_out["references"], read.left_out["figures"]) == (25, 1)
        (headings, sentences), (all_headings, all_sentences) = map(texts_below_the_title, (read, printed))
        assert headings <= all_headings
        bounds, all_bounds = boundaries(read.sentences), boundaries(printed.sentences)
        shares.append(
            [
                (bounds & all_bounds).total() / bounds.total(),
                (bounds & all_bounds).total() / all_bounds.total(),
                (sentences & all_sentences).total() / all_sentences.total(),
                headings.total() / all_headings.total(),
            ]
        )
    precision, recall, whole, named = map(mean, zip(*shares, strict=True))
    assert min(precision, recall) >= 0.99
    assert whole >= 0.97
    assert named >= 0.85
