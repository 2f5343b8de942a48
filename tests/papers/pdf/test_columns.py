"""Reading order and what belongs to pages, on lines made by hand."""

from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import columns, gutters
from evidencebench_core.papers.pdf.furniture import without_furniture, without_line_numbers
from evidencebench_core.papers.pdf.page import Counts, Line, Page, Word, fragments

BODY = Body("Times", 10.0, 12.0, bold=False)


def word(text: str, x: float, y: float, size: float = 10.0, width: float | None = None) -> Word:
    """A word whose letters are half an em wide, unless its width is given."""
    x1 = x + (width or 0.5 * size * len(text))
    return Word(text, x, x1, y, size, "Times", bold=False, italic=False, spaced=False)


def line(text: str, x0: float, x1: float, y: float, size: float = 10.0) -> Line:
    return Line([word(text, x0, y, size, x1 - x0)])


def two_columns(top: float, n: int, name: str = "") -> list[Line]:
    rows = [line(f"{name}left {i}", 50, 290, top - 12 * i) for i in range(n)]
    return rows + [line(f"{name}right {i}", 305, 545, top - 12 * i) for i in range(n)]


def order(lines: list[Line]) -> list[str]:
    return [row.text for column in columns(lines, 0) for row in column.lines]


def test_the_last_short_line_of_a_wide_paragraph_stays_with_it() -> None:
    wide = [line("wide 0", 50, 545, 800), line("wide 1", 50, 545, 788), line("wide end", 50, 150, 776)]
    assert order([*wide, *two_columns(740, 6)])[:4] == ["wide 0", "wide 1", "wide end", "left 0"]


def test_three_columns_but_not_the_cells_of_a_table() -> None:
    places = {"a": 40, "b": 205, "c": 370}
    lines = [line(f"{c}{i}", x, x + 150, 700 - 12 * i) for c, x in places.items() for i in range(6)]
    assert order(lines) == [f"{c}{i}" for c in "abc" for i in range(6)]
    assert [round(gutter.middle, 1) for gutter in gutters(lines)] == [197.5, 362.5]
    assert (
        gutters([line(f"{i}", x, x + 25, 700 - 12 * i) for x in (50, 200, 350, 500) for i in range(8)]) == []
    )


def test_words_join_to_lines_but_not_across_a_gutter() -> None:
    # A gap of 3 points is a space, one of 10 points (an em) is not; the raised "2" belongs to its word.
    words = [word("so", 50, 700), word("on", 63, 700), word("2", 73, 703.5, 6.5), word("next", 90, 700)]
    assert [found.text for found in fragments(words)] == ["so on2", "next"]


def test_running_heads_and_page_numbers_go_and_repeated_text_stays() -> None:
    pages, lines = [], []
    for number in range(3):
        pages.append(Page(number, 595, 842, (), (), Counts()))
        head = line(f"Things 2011, 12:{34 + number}", 50, 250, 810, 8)
        text = [line(f"text {'abc'[number]}", 50, 290, 770), line("and so it was", 50, 290, 758)]
        lines.append([head, *text, line(str(101 + number), 290, 305, 40, 8)])
    kept, n_out = without_furniture(pages, lines, BODY)
    assert [[row.text for row in found] for found in kept] == [[f"text {c}", "and so it was"] for c in "abc"]
    assert n_out == 6


def test_a_number_within_a_line_at_the_head_of_a_page_is_text() -> None:
    places = (("and", 50, 80, 780), ("477", 95, 110, 780), ("cases", 125, 150, 780), ("more", 50, 290, 768))
    row = [line(*place) for place in places]
    assert without_furniture([Page(0, 595, 842, (), (), Counts())], [row], BODY) == ([row], 0)


def test_line_numbers_in_the_margin_go_and_other_numbers_stay() -> None:
    text = [line(f"words of line {'abcdefgh'[i]}", 100, 500, 700 - 24 * i) for i in range(8)]
    numbers = [line(str(31 + i), 60, 70, 700 - 24 * i, 7) for i in range(8)]
    table = [line(str(7 * i), 510, 530, 700 - 24 * i) for i in range(8)]  # grows by 7: no line numbers
    assert without_line_numbers([*text, *numbers, *table]) == [*text, *table]
