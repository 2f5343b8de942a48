"""Files that mean harm end in a paper or in one line, soon and in little memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import MIB, Limits
from evidencebench_core.papers.pdf import paper_of_pdf
from tests.papers.pdf.hostile import HOSTILE, SENTENCE, paged

# Those whose sentences are read all the same; the others are refused.
_READ = (
    "scripts and launch actions", "parents in a circle", "form draws itself", "forms without number",
    "arrays in arrays in the content", "counts a billion objects", "counts a billion pages",
    "strings without end", "numbers without end", "places beyond all measure", "places that are no numbers",
    "inline image without end", "table of places is wrong", "table of places points anywhere",
    "previous table is this table", "brackets in strings", "states saved without end", "a million words",
)  # fmt: skip
_SAID = {
    "five thousand pages": "has 5,000 pages, and at most 200 are read",
    "inflates to a gigabyte": "asks for more work or memory than a paper needs",
    "inflates twice": "asks for more work or memory than a paper needs",
    "inflates in many streams": "asks for more work or memory than a paper needs",
    "page tree is its own child": "cyclic",
    "page tree a thousand deep": "asks for more work or memory than a paper needs",
    "no PDF": "cannot be read as PDF",
    "nothing": "cannot be read as PDF",
}
_SECONDS = 30.0  # of a machine that does other work beside; alone none takes longer than 3 s


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_soon(name: str) -> None:
    content = HOSTILE[name]()
    began = time.monotonic()
    if "strewn" in name:
        assert "Pages with too many drawings were read in part only: 1." in paper_of_pdf(content, name).notes
    elif name in _READ:
        assert paper_of_pdf(content, name).sentences[:5] == (SENTENCE,) * 5
    else:
        with pytest.raises(PaperError) as caught:
            paper_of_pdf(content, name)
        assert _SAID.get(name, "") in str(caught.value)
        assert "\n" not in str(caught.value)
    assert time.monotonic() - began < _SECONDS


@pytest.mark.parametrize("name", ["inflates to a gigabyte", "inflates twice", "inflates in many streams"])
def test_bombs_take_little_memory(name: str) -> None:
    """At most a few times what a part of a file may grow to, which is 8 MiB here."""
    content = HOSTILE[name]()
    tracemalloc.start()
    try:
        with pytest.raises(PaperError):
            paper_of_pdf(content, name, Limits(max_inflated=8 * MIB))
        assert tracemalloc.get_traced_memory()[1] < 64 * MIB
    finally:
        tracemalloc.stop()


def test_errors_within_a_file_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    paper_of_pdf(paged().replace(b"startxref\n", b"startxref\n9999"))
    assert not caplog.records
