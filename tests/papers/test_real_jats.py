"""Publishers' own JATS files, looked through by eye: what is read, and what is left out and counted."""

from typing import Any

import pytest
from lxml import etree

from evidencebench_core.data.quotes import letters
from evidencebench_core.papers.headings import CAPTION, part_of_heading
from evidencebench_core.papers.read import paper_of_file
from tests.conftest import DATA, real_file
from tests.papers.rendering import of_type

pytestmark = pytest.mark.realdata

# Paper id, sentences of the abstract with its labels, counts.
PAPERS = {
    "1471-2180-11-174.nxml": ("pmc_3166277", 13, {"figures": 4, "tables": 3, "references": 64}),
    "PMC5828200.nxml": ("pmc_5828200", 7, {"figures": 11, "tables": 1, "references": 52}),
    "PMC6398430.nxml": ("pmc_6398430", 10, {"figures": 4, "tables": 4, "other abstracts": 1}),
    "aas0055-0039.nxml": ("pmc_3015056", 13, {"figures": 2, "tables": 5, "references": 36}),
    "apa0100-0653.nxml": ("pmc_3107945", 12, {"figures": 1, "tables": 3, "references": 28}),
    "biorxiv-2022.03.15.484463.xml": ("10.1101/2022.03.15.484463", 5, {"figures": 4, "tables": 1}),
    "e-67-o1363.nxml": ("pmc_3120525", 7, {"figures": 2, "tables": 9, "references": 15}),
    "sonc50-621.nxml": ("pmc_3130997", 16, {"figures": 3, "tables": 3, "references": 25}),
}
LEFT_OUT = {"table-wrap", "fig", "fn", "ref-list", "tex-math", "annotation", "disp-formula"}
NOTES = {"fn", "table-fn", "aff", "corresp", "author-notes"}


@pytest.mark.parametrize("name", PAPERS)
def test_a_publishers_file(name: str) -> None:
    paper_id, n_abstract, counts = PAPERS[name]
    paper = paper_of_file(real_file(f"real_papers/{name}").read_bytes(), name)
    assert (paper.paper_id, paper.kind, paper.notes) == (paper_id, "jats", ())
    assert len(of_type(paper, "abstract")) == n_abstract
    assert {what: paper.left_out[what] for what in counts} == counts


def test_a_preprint_indented_to_be_looked_at_has_no_space_before_its_stops() -> None:
    paper = paper_of_file(real_file("real_papers/biorxiv-2022.03.15.484463.xml").read_bytes(), "")
    assert any(text.endswith("as early as the fifth decade of life 1.") for text in paper.sentences)
    assert not any(" ," in text or text.endswith(" .") for text in paper.sentences)


def letters_of(element: Any) -> str:
    """The letters of a body without what is left out and counted, by another way than the reader's."""
    tag = etree.QName(element).localname
    title = " ".join("".join(element.xpath("*[local-name() = 'title'][1]//text()")).split())
    is_back_matter = (
        part_of_heading(title) == "back matter" or "supplementary" in f"{tag} {element.get('sec-type')}"
    )
    is_mark = element.get("ref-type") in NOTES or (tag == "label" and element.getparent().tag == "list-item")
    if tag in LEFT_OUT or is_mark or is_back_matter:
        return ""
    inner = "".join(letters_of(child) + letters(child.tail or "") for child in element)
    return letters(element.text or "") + inner


@pytest.mark.parametrize(
    "folder", ["real_papers", pytest.param("evidence_inference/xml", marks=pytest.mark.slow)]
)
def test_every_word_of_the_body_is_in_a_sentence_or_counted(folder: str) -> None:
    real_file("evidence_inference/xml/PMC1079844.nxml")
    for path in sorted((DATA / folder).glob("*.nxml"))[:: 10 if "xml" in folder else 1]:
        paper = paper_of_file(path.read_bytes(), path.name)
        parser = etree.XMLParser(remove_comments=True, remove_pis=True)
        (body,) = etree.parse(path, parser).xpath("(//*[local-name() = 'body'])[1]")
        assert letters("".join(paper.sentences)).endswith(letters_of(body)), path.name
        assert 10 < len(paper.title) < 350
        assert {part_of_heading(text) for text in of_type(paper, "section_name")} == {"body"}
        assert all(CAPTION.match(each.label) for each in paper.floats)
