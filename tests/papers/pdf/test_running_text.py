"""Lines of print into running text."""

import pytest

from evidencebench_core.papers.hyphens import Words, joined_lines
from tests.papers.rendering import PHRASES

PAPER = [
    "The treatment was well-known, and dose-response curves were drawn for each treatment group.",
    "Methods and materials of the follow-up are described; anticoagulants were not anti-coagulants here.",
    "Anticoagulants were given with carbon filters at each site and level.",
]


@pytest.mark.parametrize(("lines", "expected"), PHRASES["lines"])
def test_lines_become_text(lines: list[str], expected: str) -> None:
    assert joined_lines(lines, Words(PAPER))[0] == expected


def test_a_broken_word_is_no_evidence_for_itself() -> None:
    # "well-" ends a line and "known" begins the next: neither tells how the word is written.
    words = Words(["it is kno-", "wn and", "kno-", "wn"])
    assert joined_lines(["kno-", "wn"], words)[0] == "known"
