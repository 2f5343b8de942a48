"""Markdown: its marks go, its words stay."""

import pytest

from evidencebench_core.papers.markdown import looks_like_markdown
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import outline


def read(text: str) -> Paper:
    return paper_of_file(text.encode(), "a.md")


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
    assert " ".join(read(marked).sentences) == plain


@pytest.mark.parametrize(
    ("text", "expected", "left_out"),
    [
        ("Tea\n===\n\nOne.\n\nPart\n----\n\nTwo.\n\n### Deep ###\nThree.\n```\n# no heading\n```\nFour.\n\n#hash too.",
         ["# Tea", "One.", "# Part", "Two.", "# Deep", "Three.", "Four.", "#hash too."], {"code": 1}),
        # A table without outer lines, and references that go on below deeper headings.
        ("# T\n\nText.\n\na | b\n--|--\n1 | 2\n\nMore.\n\n## References\n### Books\n- A\n- B\n## Appendix\nLast.",
         ["# T", "Text.", "More.", "# Appendix", "Last."], {"tables": 1, "references": 2}),
        # Labels below the abstract, and a heading beside it.
        ("# T\n## Abstract\nShort.\n### Odd label\nA.\n## Odd heading\nB.",
         ["# T", "> Short.", "> Odd label", "> A.", "# Odd heading", "B."], {}),
    ],
)  # fmt: skip
def test_blocks(text: str, expected: list[str], left_out: dict[str, int]) -> None:
    paper = read(text)
    assert outline(paper) == expected
    assert dict(paper.left_out) == left_out


def test_it_is_told_from_text() -> None:
    assert looks_like_markdown("# Tea\n\nIt is hot.")
    assert looks_like_markdown("Tea\n\n## A\n\n## B")
    assert not looks_like_markdown("Tea\n\n#1 is hot.\n\n# of cups")
    assert not looks_like_markdown("")
