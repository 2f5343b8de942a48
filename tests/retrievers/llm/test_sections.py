"""Sections of a paper, and slices of those that are too long."""

import pytest

from evidencebench_core.retrievers.llm.strategies import overlapping_slices, section_indices
from tests.retrievers.queries import KINDS


@pytest.mark.parametrize(
    ("types", "sections"),
    [
        # Title heading 0, abstract 1-2, heading 3 with 4-5, heading 6 with 7: the abstract comes first and
        # heading 0 is a section of one.
        ("saasnnsn", [(1, 2), (0,), (3, 4, 5), (6, 7)]),
        # Abstract sentences are collected wherever they stand; those around them keep their section.
        ("nansna", [(1, 5), (0, 2), (3, 4)]),
        # Text before the first heading is a section of its own.
        ("nnsn", [(0, 1), (2, 3)]),
        ("", []),
    ],
)
def test_sections(types: str, sections: list[tuple[int, ...]]) -> None:
    assert section_indices([KINDS[letter] for letter in types]) == tuple(sections)


@pytest.mark.parametrize(
    ("n", "bounds"),
    [
        # .325 * 40 = 13, .225 * 40 = 9, .55 * 40 = 22, .45 * 40 = 18, .775 * 40 = 31, .675 * 40 = 27
        (40, [(0, 13), (9, 22), (18, 31), (27, 40)]),
        (10, [(0, 3), (2, 5), (4, 7), (6, 10)]),  # [0, 3.25) [2.25, 5.5) [4.5, 7.75) [6.75, 10), rounded down
        # .55 * 180 = 99.00000000000001 in floats, and exactly 11 * 180 / 20 = 99
        (180, [(0, 58), (40, 99), (81, 139), (121, 180)]),
        (0, []),
        (2, [(0, 1), (1, 2)]),  # [0, 0) [0, 1) [0, 1) [1, 2): the third is the second again
    ],
)
def test_slices(n: int, bounds: list[tuple[int, int]]) -> None:
    assert overlapping_slices(range(100, 100 + n)) == tuple(
        tuple(range(100 + low, 100 + high)) for low, high in bounds
    )
