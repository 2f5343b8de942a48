"""Publishers' own PDFs: what must be in their text, and what must not."""

from collections import Counter

import pytest

from evidencebench_core.papers import Paper, read_paper
from tests.conftest import real_file

pytestmark = pytest.mark.slow
NAMES = ("acl_N18-3011", "bmc_health_services_2014_14_1", "clinical_science_2014_126_305", "peerj_cs_vespa")


@pytest.fixture(scope="module")
def papers() -> dict[str, Paper]:
    return {name: read_paper(real_file(f"real_papers/{name}.pdf").read_bytes(), name) for name in NAMES}


@pytest.mark.parametrize(
    ("name", "title", "n_abstract", "n_text"),
    [
        (NAMES[0], "Construction of the Literature Graph in Semantic Scholar", 4, 165),
        (NAMES[1], "Understanding the barriers to setting up", 11, 155),
        (NAMES[2], "Fragment-based design for the development of N-domain", 9, 170),
        (NAMES[3], "VESPA: Very large-scale Evolutionary and Selective Pressure Analyses", 13, 110),
    ],
)
def test_whole_papers(papers: dict[str, Paper], name: str, title: str, n_abstract: int, n_text: int) -> None:
    paper, kinds = papers[name], Counter(papers[name].sentence_types)
    assert paper.title.startswith(title)
    assert kinds["abstract"] == n_abstract
    assert n_text <= kinds["normal_paragraph"] <= 1.1 * n_text
    assert all(paper.boxes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (NAMES[0], "What is the percentage of female subjects in depression clinical trials?"),
        (NAMES[0], "in order to compute the Erdős number of an author X"),
        # Over a column goes a table, and a figure's rule stands beside this text.
        (NAMES[2], "While this allows for effective reduction in blood pressure, adverse drug"),
        # Set as "+" over a line.
        (NAMES[2], "(Ki = 11.21 ± 0.74 nM) in a similar range to parent molecule RXP407"),
        (NAMES[2], "was solved at 2.2 Å in complex with compound 33RE"),
        # Beside it in the margin: "Distributed under Creative Commons", dates, the editor.
        (NAMES[3], "variation or constraints across protein families or protein-interaction networks (Kim"),
    ],
)
def test_sentences_are_as_printed(papers: dict[str, Paper], name: str, words: str) -> None:
    assert any(words in text for text in papers[name].sentences)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_page_itself_is_in_the_text(papers: dict[str, Paper], name: str) -> None:
    """Footers, licences, addresses, dates of submission, rows of tables."""
    text = "\n".join(papers[name].sentences)
    for stray in (
        "Creative Commons", "Submitted 25 March", "James Procter", "How to cite", "Proceedings of NAACL",
        "The Authors Journal compilation", "Correspondence:", "RXP407 1\n", "ScienceParse 67", "Full list of author",
        "p2 = 0.0", "Without LM", "described CS", "LIGPLOT", "ethyl methacrylate, HMDS",
    ):  # fmt: skip
        assert stray not in text


def test_captions_are_kept_with_their_places(papers: dict[str, Paper]) -> None:
    floats = {item.label: item for item in papers[NAMES[2]].floats}
    labels = [f"Table {n}" for n in range(1, 6)] + [f"Figure {n}" for n in range(1, 8)]
    assert set(floats) >= {*labels, "Figure S1"}
    figure = floats["Figure 6"]
    assert (figure.page, figure.caption[:45]) == (6, "Binding of compound 33RE to N-domain ACE (A) ")
    assert figure.box is not None
    assert figure.box.y1 - figure.box.y0 > 200  # with the picture


def test_what_is_doubtful_is_said(papers: dict[str, Paper]) -> None:
    """The primes of S2' have no name in the file; by section."""
    doubts = papers["clinical_science_2014_126_305"].doubts
    assert "Modelling methodology and synthesis" in {doubt.section for doubt in doubts}
    assert papers["bmc_health_services_2014_14_1"].doubts == ()
    # A mathematical font whose codes for "=" and "−" are those of letters.
    assert "Authorship" in {doubt.section for doubt in papers["acl_N18-3011"].doubts}
