"""JATS of several shapes, beside those of cases.toml."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import JATS_DOCTYPE, outline

META = "<front><article-meta><title-group><article-title>Tea</article-title></title-group>{}</article-meta></front>"


def article(body: str, meta: str = "", rest: str = "") -> Paper:
    text = f"{JATS_DOCTYPE}<article>{META.format(meta)}<body>{body}</body>{rest}</article>"
    return paper_of_file(text.encode())


def texts(paper: Paper) -> list[str]:
    """What stands below the title."""
    return outline(paper)[1:]


def test_floats_have_label_and_caption() -> None:
    caption = "<caption><title>Cups of <italic>tea</italic>.</title><p>In m<sup>2</sup>.</p></caption>"
    read = article(
        f"<fig><label>Fig. 1</label>{caption}<graphic/></fig><fig><graphic/></fig>"
        f"<p>A.<table-wrap><caption><p>TABLE S2. {'n ' * 3000}</p></caption><table/></table-wrap></p>",
        rest=f"<floats-group><table-wrap><label>Table III:</label>{caption}</table-wrap></floats-group>",
    )
    floats = [(each.label, each.caption) for each in read.floats]
    text = "Cups of tea. In m2."
    assert floats == [("Figure 1", text), ("Table S2", "n " * 1000), ("Table III", text)]


def test_the_abstract_has_labels_and_no_heading() -> None:
    short = "<abstract abstract-type='short'><p>Wow!</p></abstract>"
    other = f"{short}<trans-abstract><p>Tee.</p></trans-abstract>"
    for title in ("Abstract", "ABSTRACT", "Summary"):
        abstract = f"<abstract><title>{title}</title><sec><title>Aim</title><p>To see.</p></sec></abstract>"
        read = article("<p>Text.</p>", other + abstract)
        assert texts(read) == ["> Aim", "> To see.", "Text."]
        assert dict(read.left_out) == {"other abstracts": 2}
    assert texts(article("<p>Text.</p>", short))[0] == "> Wow!"  # better than none


def test_what_is_left_out_is_counted() -> None:
    read = article(
        "<p>A <disp-formula>x</disp-formula> b.</p><fig><caption><p>No.</p></caption></fig>"
        "<fig-group><fig/><fig/></fig-group><table-wrap><table><tr><td>1</td></tr></table></table-wrap>"
        "<sec sec-type='supplementary-material'><title>S</title><supplementary-material/></sec>"
        "<sec sec-type='supplementary'><p>S1.</p></sec><code>x</code><array/><media><p>No.</p></media>",
        rest="<back><ack><p>Thanks</p></ack><app-group><app><p>No.</p></app></app-group><fn-group><fn/></fn-group>"
        "<ref-list><ref/><ref/></ref-list></back><floats-group><table-wrap/></floats-group>"
        "<response><body><p>No.</p></body></response>",
    )
    assert texts(read) == ["A b."]
    assert dict(read.left_out) == {
        "formulas": 1, "figures": 3, "tables": 3, "supplements": 3, "code": 1, "references": 2,
        "footnotes": 1, "back matter": 2, "other articles": 1,
    }  # fmt: skip


def test_wrapped_articles() -> None:
    wrapped = "<OAI-PMH><GetRecord><record><metadata>{}</metadata></record></GetRecord></OAI-PMH>"
    inner = f"<article>{META.format('')}<body><p>Text.</p></body></article>"
    two = paper_of_file(wrapped.format(inner + inner.replace("Text", "Other")).encode())
    assert texts(two) == ["Text."]
    assert two.notes[0] == "The file has 2 articles; the first was read."


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"pmid": "12", "pmc": "PMC34"}, "pmc_34"),
        ({"pmcid": "PMC34.2"}, "pmc_34"),
        ({"pmid": "12"}, "pubmed_12"),
        ({"doi": "10.1/x"}, "10.1/x"),
        ({"publisher-id": "7"}, "paper_"),
    ],
)
def test_ids_are_written_as_in_the_benchmark(ids: dict[str, str], expected: str) -> None:
    meta = "".join(f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in ids.items())
    assert article("<p>Text.</p>", meta).paper_id.startswith(expected)


def test_files_without_full_text_or_any() -> None:
    abstract = META.format("<abstract><p>Tea is hot.</p></abstract>")
    read = paper_of_file(f"<article>{abstract}</article>".encode())
    assert texts(read) == ["> Tea is hot."]
    assert read.notes == ("The file has the abstract only, not the full text.",)
    with pytest.raises(PaperError, match="<record>"):
        paper_of_file(b"<record/>")
    with pytest.raises(PaperError, match="no text to look for evidence in"):
        paper_of_file(b"<article><body><sec><title>A</title></sec></body></article>")
