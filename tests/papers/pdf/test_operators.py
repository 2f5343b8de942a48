"""Content streams into operators, by the syntax of ISO 32000-1, 7.2 and 7.3."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.papers.pdf.operators import operators


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"1 0 0 1 72.5 -.5 Tm", [(b"Tm", [1.0, 0.0, 0.0, 1.0, 72.5, -0.5])]),
        (b"/F1 9 Tf(a)Tj", [(b"Tf", ["F1", 9.0]), (b"Tj", [b"a"])]),
        (b"[(ab)-250(c)]TJ", [(b"TJ", [[b"ab", -250.0, b"c"]])]),
        (b"<48 6> Tj", [(b"Tj", [b"H`"])]),  # an odd digit counts as followed by 0: 48, 60
        (rb"(a\(b\)\\ \101\n) Tj", [(b"Tj", [b"a(b)\\ A\n"])]),
        (b"(one (two (three)) four) Tj", [(b"Tj", [b"one (two (three)) four"])]),
        (b"(a\\\r\nb) Tj % (no) Tj\n T*", [(b"Tj", [b"ab"]), (b"T*", [])]),
        (b"/Artifact <</Type/Pagination>> BDC", [(b"BDC", ["Artifact", "Type", "Pagination"])]),
        (b"q BI /W 1 ID \x00(\x01 EI Q", [(b"q", []), (b"Q", [])]),
        (b") ] } > 3 Tc", [(b"Tc", [3.0])]),
        (b"(never closed", []),
        (b"", []),
    ],
)
def test_operators_with_their_operands(stream: bytes, expected: list[Any]) -> None:
    assert list(operators(stream)) == expected


@given(st.binary(max_size=300))
def test_any_bytes_are_read_to_their_end(stream: bytes) -> None:
    for operator, operands in operators(stream):
        assert operator
        assert len(operands) <= 64


def test_unclosed_strings_take_no_longer_than_their_length() -> None:
    # Were each "(" scanned to the end again, 300,000 of them would be 45 thousand million steps.
    assert list(operators(b"(a" * 300_000)) == []
