"""Files that mean harm end in a paper or in one line, soon and in bounded memory: pdfium runs in the child."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import read_paper_apart
from tests.papers.pdf.hostile import HOSTILE, SENTENCE

pytestmark = pytest.mark.slow

_SAID = {
    "five thousand pages": "has 5,000 pages, and at most 200 are read",
    "inflates to a gigabyte": "needs more than 1,024 MiB of memory",
    "inflates twice": "has no text",
    "inflates in many streams": "needs more than 1,024 MiB of memory",
    "character map inflates": "needs more than 1,024 MiB of memory",
    "character map without end": "has no text",
    "font counts widths without end": "fonts that do not say which letters they show",
    "form draws itself": "",  # pdfium draws it until memory or time is out
    "forms without number": "",
    "object refers to itself": "has no text",
    "objects refer to each other": "has no text",
    "page of ten million operators": "has no text",
    "page tree a thousand deep": "has no text",
    "cut in half": "cannot be read as PDF",
    "only a head": "cannot be read as PDF",
    "head and noise": "cannot be read as PDF",
    "no PDF": "cannot be read as PDF",
    "nothing": "is empty",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_soon(name: str) -> None:
    content = HOSTILE[name]()
    if name in _SAID:
        with pytest.raises(PaperError) as caught:
            read_paper_apart(content, name, "pdf")
        assert _SAID[name] in str(caught.value)
        assert "\n" not in str(caught.value)
    elif "strewn" in name:
        notes = read_paper_apart(content, name, "pdf").notes
        assert "Pages with too many drawings were read in part only: 1." in notes
    else:
        assert read_paper_apart(content, name, "pdf").sentences[:5] == (SENTENCE,) * 5
