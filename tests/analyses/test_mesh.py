"""MeSH of a dataset: a tree and headings of our own, by hand (rules 60 to 63)."""

import json
from pathlib import Path

import pytest

from evidencebench_core.analyses.mesh import mesh_report
from evidencebench_core.analyses.mesh_files import read_headings, read_tree
from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.errors import DataError
from tests.factories import raw_dataset, written

TREE = "Tea;D20.215\nTea;J02.200.700\nHypertension;C14.907.489\nHumans;B01.050.150\nLondon;Z01.542\nOdd;Q01\n"
XML = """<?xml version="1.0"?><!DOCTYPE DescriptorRecordSet SYSTEM "nowhere.dtd"><DescriptorRecordSet>
<DescriptorRecord><DescriptorUI>D1</DescriptorUI><DescriptorName><String>Tea</String></DescriptorName>
<SeeRelatedList><DescriptorReferredTo><DescriptorUI>D9</DescriptorUI><DescriptorName><String>Milk</String></DescriptorName>
</DescriptorReferredTo></SeeRelatedList>
<TreeNumberList><TreeNumber>D20.215</TreeNumber><TreeNumber>J02.200.700</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord><DescriptorUI>D2</DescriptorUI><DescriptorName><String>Female</String></DescriptorName></DescriptorRecord>
</DescriptorRecordSet>"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    raws = raw_dataset(3)
    for number, raw in enumerate(raws.values()):
        raw["paper_id"] = f"pmc_{number}"
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, written(raws, tmp_path / "tiny.json"))
    return store


def file(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_by_hand(store: Store, tmp_path: Path) -> None:
    rows = [
        "pmc_0,Tea/therapeutic use",
        "pmc_0,*Hypertension",
        "pmc_0,Hypertension/drug therapy",
        "pmc_1,tea",
    ]
    rows += ["pmc_1,Milk", "pmc_1,Odd", "pmc_9,Humans"]
    headings = file(tmp_path, "h.csv", "\n".join(["paper_id,descriptor", *rows]))
    reference = file(tmp_path, "r.tsv", "paper_id\tdescriptor\nx\tHumans\ny\tHypertension\n")
    report = mesh_report(store, "tiny", headings, file(tmp_path, "t.bin", TREE), reference)
    branches = report.tables["branches"].set_index("branch")
    # Paper 0: tea (D and J), hypertension (C); paper 1: tea. Assignments 3: C 1, D 1, J 1.
    assert branches.loc[["C", "D", "J", "B"], "assignment"].tolist() == pytest.approx(
        [1 / 3, 1 / 3, 1 / 3, 0]
    )
    assert branches.loc[["C", "D", "J"], "tree"].tolist() == pytest.approx([1 / 5, 2 / 5, 2 / 5])
    assert branches.loc[["C", "D", "J"], "paper"].tolist() == pytest.approx([1 / 4, 3 / 8, 3 / 8])
    assert branches.loc[["B", "C"], "reference"].tolist() == [0.5, 0.5]
    spread = report.tables["spread"].set_index("unit")
    assert spread.loc["assignment", "gini_simpson"] == pytest.approx(2 / 3)
    assert spread.loc["assignment", "total_variation"] == pytest.approx(2 / 3)
    assert spread.loc["tree", "unbiased"] == pytest.approx(1 - (0 + 2 + 2) / 20)
    assert spread["covered"].tolist() == [3, 3, 3]
    assert (spread["low"] <= spread["gini_simpson"]).all()
    own, other = report.tables["vocabulary"].to_dict("records")
    assert (own["n_papers"], own["n_headings"], own["n_descriptors"], own["share"]) == (2, 3, 2, 2 / 5)
    # Depths: tea 2 and 3 twice, hypertension 3.
    assert (own["depth_median"], own["rarefied"], other["rarefied"]) == (3.0, 2.0, 2.0)
    notes = " ".join(report.notes)
    for said in (
        "2 of 3 papers have headings",
        "1 (pmc_2)",
        "1 (Milk)",
        "1 (odd)",
        "headings of 1 paper",
        "0.9375",
    ):
        assert said in notes


def test_the_files_that_are_read(tmp_path: Path) -> None:
    tree = read_tree(file(tmp_path, "desc.xml", XML))
    assert dict(tree.numbers) == {"tea": ("D20.215", "J02.200.700"), "female": ()}
    assert (tree.key("D1"), tree.key("TEA/x"), tree.key("D9"), tree.key("Milk")) == ("tea", "tea", None, None)
    medline = "PMID- 5\nPMC - PMC7\nMH  - *Tea/adverse\n      effects\nMH  - Humans\n\nPMID- 6\nTI  - None\n"
    assert read_headings(file(tmp_path, "m.txt", medline)) == (
        (("pubmed_5", "pmc_7"), "*Tea/adverse effects"),
        (("pubmed_5", "pmc_7"), "Humans"),
    )
    lines = "\n".join([json.dumps({"paper_id": 3, "descriptor": ["Tea", "Milk"]}), ""])
    assert read_headings(file(tmp_path, "l.jsonl", lines)) == ((("3",), "Tea"), (("3",), "Milk"))
    pubmed = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID><MeshHeadingList><MeshHeading>"
        '<DescriptorName UI="D1">Tea</DescriptorName><QualifierName>use</QualifierName></MeshHeading></MeshHeadingList>'
        '</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pmc">PMC7</ArticleId></ArticleIdList>'
        '<ReferenceList><Reference><ArticleIdList><ArticleId IdType="pmc">PMC999</ArticleId></ArticleIdList>'  # cited
        "</Reference></ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    assert read_headings(file(tmp_path, "p.xml", pubmed)) == ((("pubmed_5", "pmc_7"), "Tea"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no heading"),
        ("a,b\n1,2\n", "no paper_id and descriptor in line 2"),
        ('{"paper_id": 1}\n', "line 1"),
        ("<a><b></a>", "well-formed"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "entity"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_headings(file(tmp_path, "h.txt", text))


def test_headings_of_other_papers_alone(store: Store, tmp_path: Path) -> None:
    headings = file(tmp_path, "h.csv", "paper_id,descriptor\nx,Tea\n")
    with pytest.raises(DataError, match="none of the 3 papers"):
        mesh_report(store, "tiny", headings, file(tmp_path, "t.bin", TREE))
    with pytest.raises(DataError, match="has no descriptor"):
        mesh_report(store, "tiny", headings, headings)
