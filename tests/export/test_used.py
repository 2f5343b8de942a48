"""BibTeX of what was used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evidencebench_core
from evidencebench_core.data import ingest, open_store
from evidencebench_core.export import bibtex, versions
from evidencebench_core.export.used import _REFERENCES, latex_text
from tests.factories import tiny_dataset, written

BM25 = ["robertson2009probabilistic", "brown2022rankbm25"]
DENSE = ["reimers2019sentence", "allminilm"]
FUSION = ["cormack2009reciprocal", *BM25, *DENSE]


def test_special_characters_by_hand() -> None:
    assert latex_text("50% of R&D_1 #2 {x} $3 ~ ^ \\a") == (
        r"50\% of R\&D\_1 \#2 \{x\} \$3 \textasciitilde{} \textasciicircum{} \textbackslash{}a"
    )
    assert latex_text("two\nlines\x1b\u202e") == "two lines"


@given(st.text())
def test_braces_always_balance(text: str) -> None:
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]|\\\\(?=[{}])", latex_text(text)):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize(
    ("retriever", "settings", "keys"),
    [
        ("bm25", {}, BM25),
        ("dense", {"model": "minilm"}, DENSE),
        ("dense", {"model": "some/other"}, DENSE[:1]),
        ("hybrid", {"of": ("bm25", "dense"), "dense.model": "minilm"}, FUSION),
        ("structure", {"encoder": "minilm"}, [*DENSE, "elarini2009turning"]),
        ("structure", {"encoder": "some/other"}, [*DENSE[:1], "elarini2009turning"]),
        ("evidence-ranker", {}, ["ke2017lightgbm", *DENSE[:1], "elarini2009turning"]),
        (
            "hybrid",
            {"of": ("bm25", "structure"), "structure.encoder": "minilm"},
            [*FUSION, "elarini2009turning"],
        ),
        ("lead", {}, []),
        ("of another package", {}, []),
    ],
)
def test_what_a_retriever_makes_use_of(retriever: str, settings: dict[str, object], keys: list[str]) -> None:
    text = bibtex([(retriever, settings), (retriever, settings)])  # type: ignore[list-item]
    assert re.findall(r"@\w+\{(.+),", text) == ["wang2025evidencebench", *keys, "evidencebench-explorer"]


def test_the_dataset_is_named_by_its_hash(tmp_path: Path) -> None:
    info = ingest(open_store(), written(tiny_dataset(), tmp_path / "a_b.json")).dataset
    text = bibtex([("lead", {})], info)
    assert r"title = {Dataset a\_b}," in text
    assert info.sha256 in text
    assert f"Version {evidencebench_core.__version__}" in text
    assert versions().keys() >= {"python", "numpy", "evidencebench-explorer"}


def test_records_are_well_formed() -> None:
    text = bibtex((name, {}) for name in _REFERENCES)
    assert text.count("@") == 9
    for record in text.strip().split("\n\n"):
        assert re.fullmatch(r"@[a-z]+\{[A-Za-z0-9-]+,\n(?:  [a-z]+ = \{.+\},\n)+\}", record)
        assert record.count("{") == record.count("}")
    assert "title = {The Probabilistic Relevance Framework: {BM25} and Beyond}," in text
