"""What looks like columns, page numbers or line numbers and is text, on lines made by hand."""

from evidencebench_core.papers.pdf.chars import Page, Word
from evidencebench_core.papers.pdf.columns import gutters_of
from evidencebench_core.papers.pdf.lines import Body, Line, without_headers_and_footers, without_line_numbers

BODY = Body("Times", 10.0, 12.0)


def line(text: str, x0: float, x1: float, y: float, size: float = 10.0) -> Line:
    return Line([Word(text, x0, x1, y, size, "Times", bold=False, italic=False, spaced=False)])


def test_cells_of_a_table_are_no_columns() -> None:
    assert (
        gutters_of([line(f"{i}", x, x + 25, 700 - 12 * i) for x in (50, 200, 350, 500) for i in range(8)])
        == []
    )


def test_a_number_within_a_line_at_the_head_of_a_page_is_text() -> None:
    places = (("and", 50, 80, 780), ("477", 95, 110, 780), ("cases", 125, 150, 780), ("more", 50, 290, 768))
    row = [line(*place) for place in places]
    assert without_headers_and_footers([Page(0, 595, 842)], [row], BODY) == [row]


def test_line_numbers_in_the_margin_go_and_other_numbers_stay() -> None:
    text = [line(f"words of line {'abcdefgh'[i]}", 100, 500, 700 - 24 * i) for i in range(8)]
    numbers = [line(str(31 + i), 60, 70, 700 - 24 * i, 7) for i in range(8)]
    table = [line(str(7 * i), 510, 530, 700 - 24 * i) for i in range(8)]  # grows by 7: no line numbers
    assert without_line_numbers([*text, *numbers, *table]) == [*text, *table]
