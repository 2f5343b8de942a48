"""Publishers' own JATS files, looked through by eye: what is read, and what is left out and counted."""

import re
from collections import Counter

import pytest

from evidencebench_core.data.sections import part_of_heading
from evidencebench_core.papers.read import paper_of_file
from tests.conftest import DATA, real_file
from tests.papers.rendering import of_type

pytestmark = pytest.mark.realdata

# Paper id, sentences of the abstract with its labels, headings with the title, the last heading, counts.
PAPERS = {
    "1471-2180-11-174.nxml": (
        "pmc_3166277", 13, 21, "Statistical analysis", {"figures": 4, "tables": 3, "references": 64}
    ),
    "PMC5828200.nxml": (
        "pmc_5828200", 7, 29, "Statistical analysis", {"figures": 11, "tables": 1, "references": 52}
    ),
    "PMC6398430.nxml": (
        "pmc_6398430", 10, 14, "Environmental effects", {"figures": 4, "tables": 4, "other abstracts": 1}
    ),
    "aas0055-0039.nxml": ("pmc_3015056", 13, 8, "Discussion", {"figures": 2, "tables": 5, "references": 36}),
    "apa0100-0653.nxml": ("pmc_3107945", 12, 13, "Conclusion", {"figures": 1, "tables": 3, "references": 28}),
    "biorxiv-2022.03.15.484463.xml": (
        "10.1101/2022.03.15.484463", 5, 15, "Statistics", {"figures": 4, "tables": 1, "references": 62}
    ),
    "e-67-o1363.nxml": ("pmc_3120525", 7, 6, "Refinement", {"figures": 2, "tables": 9, "references": 15}),
    "sonc50-621.nxml": ("pmc_3130997", 16, 22, "Conclusion", {"figures": 3, "tables": 3, "references": 25}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAPERS)
def test_a_publishers_file(name: str) -> None:
    paper_id, n_abstract, n_headings, last, counts = PAPERS[name]
    paper = paper_of_file(real_file(f"real_papers/{name}").read_bytes(), name)
    headings = of_type(paper, "section_name")
    assert (paper.paper_id, paper.kind, paper.notes) == (paper_id, "jats", ())
    assert paper.sentences[0] == paper.title == headings[0]
    assert len(of_type(paper, "abstract")) == n_abstract
    assert (len(headings), headings[-1]) == (n_headings, last)
    assert {what: paper.left_out[what] for what in counts} == counts
    assert {part_of_heading(heading) for heading in headings} == {"body"}


def test_a_preprint_indented_to_be_looked_at_has_no_space_before_its_stops() -> None:
    paper = paper_of_file(real_file("real_papers/biorxiv-2022.03.15.484463.xml").read_bytes(), "")
    assert any(text.endswith("as early as the fifth decade of life 1.") for text in paper.sentences)
    assert not any(" ," in text or text.endswith(" .") for text in paper.sentences)


def test_twenty_trials_of_pubmed_central() -> None:
    """Every one is read, with title, text and (but for corrections and meeting abstracts) an abstract."""
    real_file("evidence_inference/xml/PMC1079844.nxml")
    kinds: Counter[str] = Counter()
    for path in sorted((DATA / "evidence_inference" / "xml").glob("*.nxml"))[::10]:
        paper = paper_of_file(path.read_bytes(), path.name)
        assert paper.paper_id == f"pmc_{path.stem.removeprefix('PMC')}"
        assert 10 < len(paper.title) < 350
        assert not re.search(r"<xref|</|&amp;|\\usepackage", "\n".join(paper.sentences))
        assert {part_of_heading(text) for text in of_type(paper, "section_name")} == {"body"}
        kinds.update(paper.sentence_types)
        kinds["papers with an abstract"] += "abstract" in paper.sentence_types
        kinds["references"] += paper.left_out.get("references", 0)
    assert kinds["papers with an abstract"] >= 19
    assert kinds["normal_paragraph"] > 2000
    assert kinds["references"] > 500
