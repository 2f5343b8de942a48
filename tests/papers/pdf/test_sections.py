"""Abstracts, back matter and lists of references, in the layouts that journals have."""

import re
from dataclasses import replace

import pytest

from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.layouts import LAYOUTS, Article, Layout, Section
from tests.papers.pdf.typesetting import typeset
from tests.papers.rendering import of_type

ARTICLE = gold_of("pdf_two_columns").article
LABELS = ["Background", "Methods", "Results", "Conclusions"]


def _structured() -> Article:
    """The article with an abstract of four parts."""
    pieces = re.split(r"(Background|Methods|Results|Conclusions): ", ARTICLE.abstract[0].paragraphs[0])[1:]
    parts = zip(pieces[::2], pieces[1::2], strict=True)
    return replace(ARTICLE, abstract=tuple(Section(label, (text.strip(),)) for label, text in parts))


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.name for layout in LAYOUTS])
def test_labels_of_a_structured_abstract_are_of_the_abstract(layout: Layout) -> None:
    """Printed apart they are sentences of their own (7 sentences and 4 labels), else they begin one."""
    apart = paper_of_pdf(typeset(_structured(), replace(layout, abstract="apart")))
    assert len(of_type(apart, "abstract")) == 11
    assert [text for text in of_type(apart, "abstract") if text in LABELS] == LABELS
    within = of_type(paper_of_pdf(typeset(_structured(), replace(layout, abstract="heading"))), "abstract")
    assert len(within) == 7
    assert [text.split(":")[0] for text in within if ": " in text[:13]] == LABELS


def test_back_matter_is_left_out_and_counted_and_methods_below_it_are_not() -> None:
    thanks = Section("Acknowledgements", ("We thank the nurses of all wards for their time and patience.",))
    money = Section("Funding", ("This work was funded by nobody at all, and by everybody a little.",))
    late = Section("Methods", ("Lenses were cleaned each evening with a cloth.",))
    article = replace(ARTICLE, sections=(*ARTICLE.sections, thanks, money, late))
    paper = paper_of_pdf(typeset(article, LAYOUTS[1]))
    assert paper.left_out["back matter"] == 2
    assert not any("thank" in text or "funded" in text for text in paper.sentences)
    assert paper.sentences[-2:] == ("Methods", "Lenses were cleaned each evening with a cloth.")


def test_footnotes_are_counted_and_an_abstract_without_its_name_stands_above_the_introduction() -> None:
    layout = replace(LAYOUTS[1], abstract="unnamed", footnote="* Present address: elsewhere.")
    paper = paper_of_pdf(typeset(ARTICLE, layout))
    assert len(of_type(paper, "abstract")) == 7
    assert paper.left_out["footnotes"] >= 1
    assert not any("address" in text for text in paper.sentences)


@pytest.mark.parametrize("style", ["numbered", "hanging"])
@pytest.mark.parametrize("n", [25, 40])
def test_references_are_counted(style: str, n: int) -> None:
    layout = replace(LAYOUTS[1], reference_style=style, table="", figure=False)
    paper = paper_of_pdf(typeset(replace(ARTICLE, references=n), layout))
    assert paper.left_out["references"] == n
