"""Lines of print into running text."""

import pytest

from evidencebench_core.papers.hyphens import Words, joined_lines

PAPER = [
    "The treatment was well-known, and dose-response curves were drawn for each treatment group.",
    "Methods and materials of the follow-up are described; anticoagulants were not anti-coagulants here.",
    "Anticoagulants were given with carbon filters at each site and level.",
]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["the treat-", "ment of"], "the treatment of"),  # the paper has the word
        (["a dose-", "response curve"], "a dose-response curve"),  # the paper has it with a hyphen
        (["an anti-", "coagulants list"], "an anticoagulants list"),  # twice without, once with a hyphen
        (["after COVID-", "19 came"], "after COVID-19 came"),  # a number follows
        (["the Mann-", "Whitney test"], "the Mann-Whitney test"),  # a capital follows
        (["an un-", "forgettable day"], "an unforgettable day"),  # nothing to go by: broken
        (["a site-", "directed change"], "a site-directed change"),  # a word of the paper and an adjective
        (["pre-", "and post-test"], "pre- and post-test"),
        (["N-", "methylformamide"], "N-methylformamide"),
        (["MATERIALS AND METH-", "ODS"], "MATERIALS AND METHODS"),
        (["in 1991\u2013", "1995 and and/", "or"], "in 1991\u20131995 and and/or"),
        (["a minus -", "b"], "a minus - b"),
        (["the e\ufb00ect of \ufb01ve \ufb02u\u00ad", "ids"], "the effect of five fluids"),
        (["\ufb03 \ufb04 a\u2010b a\u2011b \u22125"], "ffi ffl a-b a-b \u22125"),  # minus signs stay
        (["one", "", "two"], "one two"),
        ([], ""),
    ],
)
def test_lines_become_text(lines: list[str], expected: str) -> None:
    assert joined_lines(lines, Words(PAPER))[0] == expected


def test_a_broken_word_is_no_evidence_for_itself() -> None:
    # "well-" ends a line and "known" begins the next: neither tells how the word is written.
    words = Words(["it is kno-", "wn and", "kno-", "wn"])
    assert joined_lines(["kno-", "wn"], words)[0] == "known"
