"""Papers of several formats and shapes, read, against candidate pools that were written or looked through by hand.

Their text is ours. A line of a gold file is a sentence (H heading, A abstract, P paragraph) or a float (F).
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import outline

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))["paper"]
GOLD = Path(__file__).parent / "gold"
PAGES = ("pmc.htm", "old_pmc.htm", "springer.htm", "wiley.htm", "bmj.htm", "plos.htm", "elsevier.htm")
FILES = ("nested.xml", "structured.xml", "markdown.md", "plain.txt", "grobid.xml", *PAGES)
LETTERS = {"section_name": "H", "abstract": "A", "normal_paragraph": "P"}


def gold_of(name: str) -> tuple[list[str], dict[str, int], str]:
    """Sentences, counts of what is left out, and the paper id (or "")."""
    lines = (GOLD / name).with_suffix(".gold").read_text(encoding="utf-8").splitlines()
    sentences = [line for line in lines if line[:2] in {"H ", "A ", "P ", "F "}]
    (counted,) = [line.removeprefix("left_out ") for line in lines if line.startswith("left_out ")]
    counts = {what: int(number) for what, number in re.findall(r"\s*(\D+)=(\d+)", counted)}
    return sentences, counts, next((line[3:] for line in lines if line.startswith("id ")), "")


@pytest.mark.parametrize("name", FILES)
def test_sentences_types_and_counts(name: str) -> None:
    sentences, counts, paper_id = gold_of(name)
    paper = paper_of_file((GOLD / name).read_bytes(), name)
    pool = zip(paper.sentences, paper.sentence_types, strict=True)
    read = [f"{LETTERS[kind]} {text}" for text, kind in pool]
    read += [f"F {each.label}: {each.caption}" for each in paper.floats]
    assert read == sentences
    assert dict(paper.left_out) == counts
    assert not paper_id or paper.paper_id == paper_id
    assert paper.title == paper.sentences[0]
    assert paper.notes == ()
    assert paper_of_file((GOLD / name).read_bytes(), "").sentences == paper.sentences  # without its name


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_what_becomes_of_a_text(case: dict[str, Any]) -> None:
    paper = paper_of_file(case["text"].encode(), case["file"])
    assert outline(paper) == case["outline"]
    assert dict(paper.left_out) == case.get("left_out", {})
