"""Files that mean harm end in a paper or in one line, soon and in bounded memory: pdfium runs in the child."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import read_paper
from tests.papers.pdf.hostile import HOSTILE, SENTENCE

pytestmark = pytest.mark.slow

READABLE = {"scripts and launch actions"}


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - READABLE))
def test_hostile_files_end_soon_in_one_line(name: str) -> None:
    with pytest.raises(PaperError) as caught:
        read_paper(HOSTILE[name](), name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(READABLE))
def test_what_is_not_looked_at_does_no_harm(name: str) -> None:
    assert read_paper(HOSTILE[name](), name).sentences[:5] == (SENTENCE,) * 5
