"""Texts of the train set in ten layouts: what was printed comes back."""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest

from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.measures import match_of, printed_paper
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import typeset

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize("number", range(len(LAYOUTS)), ids=[layout.name for layout in LAYOUTS])
def test_text_comes_back_in_order(number: int, train_raw: dict[str, dict[str, Any]]) -> None:
    """Two papers a layout, twenty in all.

    The bounds leave room for what those texts have of their own: captions and running heads of the
    original within sentences, words broken in two, sentences that begin with small letters.
    """
    raws = list(train_raw.values())
    articles = [article_of(raws[4 * (2 * number + k) + 1]) for k in (0, 1)]
    papers = [paper_of_pdf(typeset(article, LAYOUTS[number])) for article in articles]
    matches = [match_of(read, printed_paper(article)) for read, article in zip(papers, articles, strict=True)]
    assert mean(match.precision for match in matches) >= 0.99
    assert mean(match.recall for match in matches) >= 0.99
    assert mean(match.sentences for match in matches) >= 0.97
    assert all(match.title and match.abstract for match in matches)
    assert mean(match.headings for match in matches) >= 0.85
    assert all(match.headings_right == 1 for match in matches)
    for paper in papers:
        assert paper.left_out["references"] == 25
        assert paper.left_out["figures"] == 1
