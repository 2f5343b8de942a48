"""Text as people have it: wrapped or not, with headings that only their look tells."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import outline

LONG = "Tea was drunk by many people who could not sleep afterwards."
LINES = f"Tea and sleep\nAbstract\n{LONG}\nIntroduction\n{LONG}\n2. Methods\n{LONG}\nReferences\n1. A. B.\n2. C. D."
SHORT = ["# Tea", "> Tea is hot.", "> It cools.", "# Methods", "We drank."]


def read(text: str, encoding: str = "utf-8") -> Paper:
    return paper_of_file(text.encode(encoding))


def test_one_pasted_paragraph() -> None:
    paper = read("Tea is hot. It cools in Fig. 2.")
    assert (outline(paper), paper.title) == (["Tea is hot.", "It cools in Fig. 2."], "")
    assert len(paper.notes) == 2  # no title, no abstract


@pytest.mark.parametrize(
    ("text", "expected", "left_out"),
    [
        # Lines without blank ones between.
        (LINES, ["# Tea and sleep", f"> {LONG}", "# Introduction", LONG, "# 2. Methods", LONG], {"references": 2}),
        *(("Tea\n\nAbstract\n\nTea is hot.\nIt cools.\n\nMethods\n\nWe drank.".replace("\n", newline), SHORT, {})
          for newline in ("\n", "\r\n", "\r")),
        *((f"Tea\n\n{begin}Tea is hot. It cools.\n\nMethods\n\nWe drank.", SHORT, {})
          for begin in ("Abstract: ", "ABSTRACT ", "Summary. ", "Abstract—")),
        # A structured abstract ends where the body begins.
        ("Tea\n\nAbstract\n\nAims\n\nTea is hot.\n\nMethods\n\nWe drank.\n\nConclusions:\n\nIt is good.\n\n"
         "Introduction\n\nTea is old.\n\nMethods\n\nWe drank more.",
         ["# Tea", "> Aims", "> Tea is hot.", "> Methods", "> We drank.", "> Conclusions:", "> It is good.",
          "# Introduction", "Tea is old.", "# Methods", "We drank more."], {}),
        ("Tea\n\nMethods\n\nFigures 1–3 show it.\n\nFigure 1. A cup.\n\nTable 2: Cups.\nn\tage\tsex\n1\t2\t3\n\n"
         "a  | b | c\n1 | 2 | 3\n\nFunding\n\nNobody.\n\nDiscussion\n\nTea is good.\n\nBibliography\n\n[1] A.\n[2] B.",
         ["# Tea", "# Methods", "Figures 1–3 show it.", "# Discussion", "Tea is good."],
         {"figures": 1, "tables": 2, "back matter": 1, "references": 2}),
        # "randomised" stands whole elsewhere, "beta-blockers" with its hyphen.
        ("Many were well and randomi-\nsed. They were randomised to beta-\nblockers or beta-blockers.",
         ["Many were well and randomised.", "They were randomised to beta-blockers or beta-blockers."], {}),
        ("We saw:\n- one cup of tea\n- two cups of tea\n\nMethods\n\n1. Boil it.\n2. Drink it.",
         ["We saw:", "one cup of tea", "two cups of tea", "# Methods", "1. Boil it.", "2. Drink it."], {}),
    ],
)  # fmt: skip
def test_what_stands_in_a_text(text: str, expected: list[str], left_out: dict[str, int]) -> None:
    paper = read(text)
    assert outline(paper) == expected
    assert dict(paper.left_out) == left_out


def test_encodings() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read("Größe, a heading\n\nThe size was 5 µm.", encoding).sentences[1] == "The size was 5 µm."
    windows = read("The size was 5 µm – or 6. It “grew”.", "cp1252")
    assert windows.sentences == ("The size was 5 µm – or 6.", "It “grew”.")
    assert "Windows-1252" in windows.notes[0]
    with pytest.raises(PaperError, match="is no text"):
        paper_of_file(b"\x01\x02\x03\x04" * 50)
