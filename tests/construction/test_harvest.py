"""Harvest of a review's citations: example 104, edge cases of rule 92, and publishers' own files."""

import re

import pytest

from evidencebench_core.construction import Harvest, harvest
from evidencebench_core.papers.citations import citing_article
from tests.conftest import DATA, real_file

REFS = "".join(
    f'<ref id="b{n}"><element-citation><article-title>Trial {n}</article-title>'
    f'<pub-id pub-id-type="pmid">{n}00</pub-id></element-citation></ref>'
    for n in range(1, 20)
)


def review(body: str, refs: str = REFS) -> bytes:
    """Numbers in brackets become citations."""
    body = re.sub(r"(?<=[\[ ,-])(\d+)(?=[\],])", r'<xref ref-type="bibr" rid="b\1">\1</xref>', body)
    return f"""<article><front><article-meta><article-id pub-id-type="pmc">7</article-id>
    <article-id pub-id-type="doi">10.1/Review</article-id><title-group>
    <article-title>A review</article-title></title-group></article-meta></front><body>{body}</body>
    <back><ref-list>{refs}</ref-list></back></article>""".encode()


def harvested(body: str, refs: str = REFS) -> Harvest:
    return harvest(citing_article(review(body, refs), "review.xml"))


def section(text: str, title: str = "Results") -> str:
    return f"<sec><title>{title}</title><p>{text}</p></sec>"


def test_by_hand() -> None:
    text = "X rose [12]. Jones found Y [13, 14]. In [12] Z fell. W fell [15]. Q [3]-[5]."
    found = harvested(section("Before.") + section(text))
    assert found.dropped == {"cited_twice": 2, "multi_citation": 5}
    (one,) = found.citations
    assert (one.reference.paper, one.reference.title, one.section) == ("1500", "Trial 15", ("Results",))
    assert one.paragraph[one.citing] == "W fell [15]."
    assert (one.review_id, one.review_title, one.context_before) == ("pmc_7", "A review", "")
    assert one.as_dict()["review"]["doi"] == "10.1/Review"
    assert found.n_in == 8
    assert one.as_dict()["paper"] == "1500"


def test_a_section_is_the_innermost_one_with_a_title() -> None:
    inner = f"<sec>{section('A rose [1].', 'Inner')}<p>In none: B rose [1].</p></sec>"
    body = f"<sec><title>Outer</title><p>C rose [1].</p>{inner}</sec>"
    found = harvested(body)
    assert [one.section for one in found.citations] == [("Outer", "Inner")]
    assert found.dropped == {"cited_twice": 2}  # both stand in Outer


@pytest.mark.parametrize(
    ("text", "citing"),
    [
        ("Doses (e.g. 5 mg vs. 10 mg) fell by 5.2%<sup>1</sup>. So.", 0),
        ("One. It was <italic>raised <bold>[1]</bold></italic> then. Two.", 1),
        ("One. Smith et al. [1] saw this. Two.", 1),
    ],
)
def test_the_citing_sentence(text: str, citing: int) -> None:
    text = re.sub(r"<sup>(\d)</sup>", r'<sup><xref ref-type="bibr" rid="b\1">\1</xref></sup>', text)
    (one,) = harvested(section(text)).citations
    assert one.citing == citing


def test_what_is_skipped_is_counted() -> None:
    named = '<xref ref-type="bibr" rid="b1">1</xref>'
    body = (
        f"<sec><title>Title {named}</title><p>Nothing <xref ref-type='bibr' rid='zz'>9</xref>."
        f"<fn><p>Foot {named}</p></fn></p><fig><caption><p>Figure {named}</p></caption></fig></sec>"
    )
    found = harvested(body)
    assert found.n_in == 0
    assert found.skipped == {"headings, captions and footnotes": 3, "references that are not in the list": 1}


def test_several_of_one_citation_and_what_cannot_be_fetched() -> None:
    refs = '<ref id="b1"><mixed-citation>A book</mixed-citation></ref>' + (
        '<ref id="b2"><mixed-citation><pub-id pub-id-type="pmcid">PMC7</pub-id></mixed-citation></ref>'
    )
    refs += '<ref id="b3"><mixed-citation><pub-id pub-id-type="doi">https://doi.org/10.1/review</pub-id></mixed-citation></ref>'
    body = section('Two <xref ref-type="bibr" rid="b1 b2">1, 2</xref>. A book [1].', "A") + section(
        "Itself [2]. Again [3].", "B"
    )
    found = harvested(body, refs)
    assert found.dropped == {"cited_twice": 1, "multi_citation": 2, "unresolvable": 2}


def test_a_row_of_a_table_with_one_citation_is_a_paragraph() -> None:
    table = (
        "<table-wrap><caption><p>Trials [1]</p></caption><table><thead><tr><th>Trial</th><th>Effect</th></tr>"
        "</thead><tbody><tr><td>Ada [2]</td><td>BP fell by 5</td></tr><tr><td>Both [3]</td><td>None [4]</td></tr>"
        "</tbody></table></table-wrap>"
    )
    found = harvested(f"<sec><title>Results</title>{table}</sec>")
    (one,) = found.citations
    assert one.paragraph == ("Trial: Ada [2]", "Effect: BP fell by 5")
    assert found.skipped == {
        "headings, captions and footnotes": 1,
        "rows of tables with several citations": 1,
    }


TWO_HEADS = (
    '<tr><td rowspan="2">Trial</td><td colspan="2">BP</td><td rowspan="2">Weight</td></tr>'
    "<tr><td>before</td><td>after</td></tr>"
)
DRUGS = "<tr><th>Drug</th><th>Trial</th><th>Effect</th></tr>"


@pytest.mark.parametrize(
    ("head", "body", "paragraphs"),
    [
        (
            TWO_HEADS,
            '<tr><td>Ada [2]</td><td>140</td><td>120</td><td>70</td></tr><tr><td colspan="4">Cities [3]</td></tr>',
            [("Trial: Ada [2]", "BP, before: 140", "BP, after: 120", "Weight: 70"), ("Cities [3]",)],
        ),
        (
            DRUGS,
            '<tr><td rowspan="2">Tea</td><td>Ada [2]</td><td>BP fell</td></tr>'
            "<tr><td>Bob [3]</td><td>BP rose</td></tr>",
            [("Drug: Tea", "Trial: Ada [2]", "Effect: BP fell"), ("Drug: Tea", "Trial: Bob [3]", "Effect: BP rose")],
        ),
        (
            DRUGS,  # one cell with the citation for two rows: what it reports is all there
            '<tr><td>Tea</td><td rowspan="2">Ada [2]</td><td>BP fell</td></tr><tr><td>Gin</td><td>BP rose</td></tr>'
            "<tr><td>None</td><td>-</td><td>-</td></tr>",
            [("Drug: Tea", "Trial: Ada [2]", "Effect: BP fell", "Drug: Gin", "Effect: BP rose")],
        ),
        (DRUGS, '<tr><td rowspan="x">Tea</td><td colspan="-1">Ada [2]</td></tr>', [("Drug: Tea", "Trial: Ada [2]")]),
    ],
)  # fmt: skip
def test_cells_stand_behind_the_headings_of_their_columns(
    head: str, body: str, paragraphs: list[tuple[str, ...]]
) -> None:
    table = f"<table-wrap><table><thead>{head}</thead><tbody>{body}</tbody></table></table-wrap>"
    found = harvested(f"<sec><title>Results</title>{table}</sec>")
    assert [one.paragraph for one in found.citations] == paragraphs


def test_a_table_of_hostile_spans_is_read() -> None:
    cell = '<td colspan="999999999" rowspan="99999999">x</td><td rowspan="9999">Ada [2]</td>'
    table = f"<table-wrap><table>{f'<tr>{cell * 50}</tr>' * 100}</table></table-wrap>"
    assert harvested(f"<sec><title>Results</title>{table}</sec>").n_in <= 20_000


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("BP fell by 45<sup>{1}</sup> mm.<sup>{2},{3}</sup> So.", ["BP fell by 45 [1] mm. [2,3]", "So."]),
        ("BP fell by 45{<sup>1</sup>}.", ["BP fell by 45 [1]."]),
        ("BP fell by 45<sup>({1})</sup>.", ["BP fell by 45 (1)."]),
        ("It rose. [{1}] It fell. [{2}]", ["It rose. [1]", "It fell. [2]"]),
    ],
)
def test_citations_stand_apart_in_the_sentence_they_are_of(text: str, sentences: list[str]) -> None:
    body = re.sub(r"\{(.*?(\d).*?)\}", r'<xref ref-type="bibr" rid="b\2">\1</xref>', text)
    paragraph = citing_article(review(section(body)), "review.xml").paragraphs[0]
    assert list(paragraph.sentences) == sentences
    assert [bool(one) for one in paragraph.cited] == [one != "So." for one in sentences]


def test_two_references_to_one_paper_are_one_paper() -> None:
    again = '<ref id="b20"><mixed-citation><pub-id pub-id-type="pmid">100</pub-id></mixed-citation></ref>'
    assert harvested(section("A rose [1]. B fell [20]. C [2]."), REFS + again).dropped == {"cited_twice": 2}


@pytest.mark.realdata
def test_citations_of_publishers_files_stand_apart() -> None:
    real_file("real_papers/sonc50-621.nxml")
    folder = DATA / "real_papers"
    tables = citing_article((folder / "1471-2180-11-174.nxml").read_bytes())
    rows = [one for one in tables.paragraphs if one.sentences[0].startswith("Strain: ")]
    assert len(rows) == 13
    assert {sentence.split(":")[0] for one in rows for sentence in one.sentences} >= {"Strain", "Source"}
    raised = citing_article((folder / "biorxiv-2022.03.15.484463.xml").read_bytes())
    citing = [s for one in raised.paragraphs for s, of in zip(one.sentences, one.cited, strict=True) if of]
    assert sum("[" in one for one in citing) == len(citing)


@pytest.mark.realdata
def test_publishers_files() -> None:
    real_file("real_papers/sonc50-621.nxml")
    totals = {}
    for path in sorted((DATA / "real_papers").glob("*.*ml")):
        article = citing_article(path.read_bytes(), path.name)
        found = harvest(article)
        totals[path.name] = (len(article.references), found.n_in, len(found.citations))
        for one in found.citations:
            assert one.paragraph[one.citing]
            assert one.reference.paper
    assert all(n_references and n_in for n_references, n_in, _ in totals.values()), totals
    assert sum(kept for *_, kept in totals.values()) > 20, totals
