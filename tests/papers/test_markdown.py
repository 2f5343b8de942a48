"""Markdown: its marks go, its words stay."""

import pytest

from evidencebench_core.papers.markdown import looks_like_markdown
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file


def read(text: str) -> Paper:
    return paper_of_file(text.encode(), "a.md")


def sentences(text: str) -> tuple[str, ...]:
    return read(text).sentences


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**Bold** and *it* and ***both*** and __b__ and _i_ and ~~no~~.", "Bold and it and both and b and i and no."),
        ("A snake_case_name and 2 * 3 * 4 and p_value.", "A snake_case_name and 2 * 3 * 4 and p_value."),
        ("See [this](http://x.org/a_(b) \"T\") and <https://x.org>.", "See this and https://x.org."),
        ("Cited [12] and [13,14] and [@key].", "Cited [12] and [13,14] and [@key]."),
        ("H~2~O at 5 m^2^ and H<sub>2</sub>O.", "H2O at 5 m2 and H2O."),
        (r"Escaped \*stars\* and 5 \< 6 &amp; p&nbsp;&lt;&nbsp;.05.", "Escaped *stars* and 5 < 6 & p < .05."),
        ("`code` and ``a`b`` here.", "code and a`b here."),
        ("Text ![a picture](x.png) here.<!-- no --> Fine.", "Text here. Fine."),
        ("p < 0.05 and q > 2, 5 <6.", "p < 0.05 and q > 2, 5 <6."),
    ],
)  # fmt: skip
def test_inline_marks(marked: str, plain: str) -> None:
    assert " ".join(sentences(marked)) == plain


def test_headings_of_both_kinds_and_code() -> None:
    text = "Tea\n===\n\nOne.\n\nPart\n----\n\nTwo.\n\n### Deep ###\nThree.\n"
    text += "```\n# no heading\n```\nFour.\n\n#hash is text."
    paper = read(text)
    assert paper.sentences == ("Tea", "One.", "Part", "Two.", "Deep", "Three.", "Four.", "#hash is text.")
    assert paper.sentence_types.count("section_name") == 3
    assert dict(paper.left_out) == {"code": 1}


def test_a_table_without_outer_lines_and_references_below_deeper_headings() -> None:
    text = "# T\n\nText.\n\na | b\n--|--\n1 | 2\n\nMore.\n\n## References\n### Books\n- A\n- B\n## Appendix\nLast."
    paper = read(text)
    assert paper.sentences == ("T", "Text.", "More.", "Appendix", "Last.")
    assert dict(paper.left_out) == {"tables": 1, "references": 2}


def test_labels_below_the_abstract_and_headings_beside_it() -> None:
    text = "# T\n## Abstract\nShort.\n### Odd label\nA.\n## Odd heading\nB."
    paper = read(text)
    assert paper.sentences == ("T", "Short.", "Odd label", "A.", "Odd heading", "B.")
    assert paper.sentence_types[1:5] == ("abstract", "abstract", "abstract", "section_name")


def test_it_is_told_from_text() -> None:
    assert looks_like_markdown("# Tea\n\nIt is hot.")
    assert looks_like_markdown("Tea\n\n## A\n\n## B")
    assert not looks_like_markdown("Tea\n\n#1 is hot.\n\n# of cups")
    assert not looks_like_markdown("")
