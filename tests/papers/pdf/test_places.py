"""Every sentence of a PDF knows where it is printed."""

import pytest

from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.hostile import SENTENCE, paged, stream
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.typesetting import typeset


def test_the_boxes_of_a_page_by_hand() -> None:
    """10-point lines whose baselines stand at 700 and 686 on a page 842 points high; letters reach .75 em up."""
    lines = [SENTENCE, SENTENCE, SENTENCE, "First words here. Second", "ones here."]
    shown = b" ".join(b"(%s) Tj T*" % line.encode() for line in lines)
    text = b"BT /F1 10 Tf 72 742 Td 14 TL " + shown + b" ET"
    paper = paper_of_pdf(paged({4: stream(text)}))
    assert paper.sentences[3:] == ("First words here.", "Second ones here.")
    (first,), second = paper.boxes[3:]
    assert first[:3] == (1, 72.0, 842 - 700 - 7.5)
    assert first.y1 == pytest.approx(842 - 700 + 2.2)
    assert [box.page for box in second] == [1, 1]
    assert second[0].x0 > first.x1
    assert (second[1].x0, second[1].y0) == (72.0, 842 - 686 - 7.5)


def test_boxes_lie_on_pages_and_no_line_is_in_two() -> None:
    """Also where words are broken at line ends and paragraphs go on in the next column."""
    paper = paper_of_pdf(typeset(gold_of("pdf_two_columns").article, LAYOUTS[1]))
    assert all(paper.boxes)
    flat = [box for boxes in paper.boxes for box in boxes]
    width, height = LAYOUTS[1].page
    assert all(0 <= box.x0 < box.x1 <= width and 0 <= box.y0 < box.y1 <= height for box in flat)
    assert len(set(flat)) == len(flat)


def test_a_label_that_is_cut_off_is_in_no_box() -> None:
    text = b"BT /F1 10 Tf 72 742 Td 14 TL (Abstract: %s) Tj T* (%s) Tj ET" % ((SENTENCE.encode(),) * 2)
    (first,), (second,) = paper_of_pdf(paged({4: stream(text)})).boxes
    assert (first.x0 > 100, second.x0) == (True, 72.0)
