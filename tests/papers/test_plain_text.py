"""Text as people have it: wrapped or not, with headings that only their look tells."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import of_type, outline


def read(text: str, encoding: str = "utf-8") -> Paper:
    return paper_of_file(text.encode(encoding))


def test_one_pasted_paragraph() -> None:
    paper = read("Tea is hot. It cools in Fig. 2.")
    assert (outline(paper), paper.title) == (["Tea is hot.", "It cools in Fig. 2."], "")
    assert paper.notes == ("No title was recognised.", "No abstract was recognised.")


def test_lines_without_blank_ones_between() -> None:
    lines = "Tea and sleep\nAbstract\n{0}\nIntroduction\n{0}\n2. Methods\n{0}\nReferences\n1. A. B.\n2. C. D."
    paper = read(lines.format("Tea was drunk by many people who could not sleep afterwards. " * 3))
    assert of_type(paper, "section_name") == ["Tea and sleep", "Introduction", "2. Methods"]
    assert paper.sentence_types.count("abstract") == 3
    assert dict(paper.left_out) == {"references": 2}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_of_all_systems_and_an_abstract_that_ends_at_the_first_heading(newline: str) -> None:
    text = "Tea\n\nAbstract\n\nTea is hot.\nIt cools.\n\nMethods\n\nWe drank."
    expected = ["# Tea", "> Tea is hot.", "> It cools.", "# Methods", "We drank."]
    assert outline(read(text.replace("\n", newline))) == expected


@pytest.mark.parametrize("begin", ["Abstract: ", "ABSTRACT ", "Summary. ", "Abstract—"])
def test_an_abstract_that_runs_in(begin: str) -> None:
    text = f"Tea\n\n{begin}Tea is hot. It cools.\n\nIntroduction\n\nWe drank."
    assert outline(read(text))[1] == "> Tea is hot."


def test_a_structured_abstract_ends_where_the_body_begins() -> None:
    labels = "Background\n\nTea is hot.\n\nMethods\n\nWe drank.\n\nConclusions:\n\nIt is good."
    body = "Introduction\n\nTea is old.\n\nMethods\n\nWe drank more."
    assert outline(read(f"Tea\n\nAbstract\n\n{labels}\n\n{body}")) == [
        "# Tea", "> Background", "> Tea is hot.", "> Methods", "> We drank.", "> Conclusions:", "> It is good.",
        "# Introduction", "Tea is old.", "# Methods", "We drank more.",
    ]  # fmt: skip


def test_captions_tables_and_back_matter_are_left_out() -> None:
    paper = read(
        "Tea\n\nMethods\n\nFigures 1–3 show it.\n\nFigure 1. A cup.\n\nTable 2: Cups.\nn\tage\tsex\n1\t2\t3\n\n"
        "a  | b | c\n1 | 2 | 3\n\nFunding\n\nNobody.\n\nDiscussion\n\nTea is good."
        "\n\nBibliography\n\n[1] A.\n[2] B.\n[3] C."
    )
    assert outline(paper) == ["# Tea", "# Methods", "Figures 1–3 show it.", "# Discussion", "Tea is good."]
    assert dict(paper.left_out) == {"figures": 1, "tables": 2, "back matter": 1, "references": 3}


def test_hyphens_at_the_ends_of_lines() -> None:
    # "randomised" stands whole elsewhere, "beta-blockers" with its hyphen.
    text = (
        "Our patients were well and randomi-\nsed. They were randomised to beta-\nblockers or beta-blockers."
    )
    assert read(text).sentences == (
        "Our patients were well and randomised.", "They were randomised to beta-blockers or beta-blockers.",
    )  # fmt: skip


def test_lists_are_paragraphs() -> None:
    text = "We saw:\n- one cup of tea\n- two cups of tea\n\nMethods\n\n1. Boil it.\n2. Drink it."
    assert outline(read(text)) == [
        "We saw:", "one cup of tea", "two cups of tea", "# Methods", "1. Boil it.", "2. Drink it.",
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    assert read("Größe, a heading\n\nThe size was 5 µm.", encoding).sentences[1] == "The size was 5 µm."


def test_windows_text_is_said() -> None:
    paper = read("The size was 5 µm – or 6. It “grew”.", "cp1252")
    assert paper.sentences == ("The size was 5 µm – or 6.", "It “grew”.")
    assert paper.notes[0].startswith("The file is not in UTF-8; it was read as Windows-1252")


def test_what_is_no_text() -> None:
    with pytest.raises(PaperError, match="is no text"):
        paper_of_file(b"\x01\x02\x03\x04" * 50)
