"""MeSH of a dataset: a tree and headings of our own, by hand."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.mesh import mesh_report
from evidencebench_core.data import Store
from evidencebench_core.errors import DataError
from tests.factories import raw_instance

TREE = "Tea;D20.215\nTea;J02.200.700\nHypertension;C14.907.489\nHumans;B01.050.150\nOdd;Q01\n"
HEAD = "paper_id,descriptor\n"
DATASET = {f"i{n}": raw_instance(3, {"x": [1]}, paper_id=f"pmc_{n}") for n in range(3)}


def file(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_by_hand(store: Store, tmp_path: Path) -> None:
    # Paper 0: tea (D and J), hypertension (C), twice the same; paper 1: tea. Headings 3: C 1, D 1, J 1.
    rows = "pmc_0,Tea/therapeutic use\npmc_0,*Hypertension\npmc_0,Hypertension/drug therapy\npmc_1,tea\n"
    rows += "pmc_1,Milk\npmc_1,Odd\npmc_9,Humans"
    headings = file(tmp_path, "h.csv", f"{HEAD}{rows}")
    reference = file(tmp_path, "r.tsv", "paper_id\tdescriptor\nx\tHumans\ny\tHypertension\n")
    report = mesh_report(store, "tiny", headings, file(tmp_path, "t.bin", TREE), reference)
    branches = report.tables["branches"].set_index("branch")
    assert branches.loc[["C", "D", "J", "B"], "share"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert branches.loc[["B", "C"], "reference"].tolist() == [0.5, 0.5]
    own, other = report.tables["spread"].to_dict("records")
    assert (own["n_papers"], own["n_headings"], own["covered"]) == (2, 3, 3)
    assert own["gini_simpson"] == pytest.approx(2 / 3)
    assert own["low"] <= own["gini_simpson"]
    assert other["gini_simpson"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("headings", "tree", "reference", "place"),
    [
        (f"{HEAD}x,Tea\n", TREE, HEAD, "h.csv"),  # of other papers alone
        ("", TREE, HEAD, "h.csv"),
        (f"{HEAD}pmc_0,Tea\n", "nothing", HEAD, "t.bin"),
        (f"{HEAD}pmc_0,Tea\n", TREE, f"{HEAD}x,Milk\n", "r.csv"),  # unknown headings
    ],
)
def test_refusals(store: Store, tmp_path: Path, headings: str, tree: str, reference: str, place: str) -> None:
    texts = {"h.csv": headings, "t.bin": tree, "r.csv": reference}
    with pytest.raises(DataError) as caught:
        mesh_report(store, "tiny", *(file(tmp_path, name, text) for name, text in texts.items()))
    assert caught.value.place.endswith(place)
