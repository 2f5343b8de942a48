"""Own papers in the store."""

from dataclasses import replace

import pytest

from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import PaperError, UnknownNameError
from evidencebench_core.papers.blocks import Block, RawPaper, paper_of_blocks
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Box, Doubt, Float, Paper


def paper(title: str = "Tea") -> Paper:
    text = Block("paragraph", "Tea is hot. Größe.")
    made = paper_of_blocks(RawPaper([text], title, {"tables": 1}, ["A note."]), "pdf")
    boxes = tuple((Box(1, 50.0, 60.5, 300.25, 70.0), Box(2, 50.0, 60.0, 90.0, 70.0)) for _ in made.sentences)
    floats = (Float("Table 1", "Cups."), Float("Figure 2", "A cup.", 2, boxes[0][1]))
    return replace(made, boxes=boxes, doubts=(Doubt("Results", 2, "Mixed."),), floats=floats)


def test_saved_and_read_again(store: Store) -> None:
    papers = OwnPapers(store)
    assert papers.all() == ()
    kept = papers.save(paper(), "My paper", " Tea helps. ")
    assert (kept.name, kept.hypothesis, kept.title, kept.n_sentences) == ("My paper", "Tea helps.", "Tea", 3)
    assert papers.get(kept.id) == kept
    assert papers.paper(kept.id) == paper()
    assert (kept.pdf_bytes, papers.pdf(kept.id)) == (0, b"")
    with_pdf = papers.save(paper(), pdf=b"%PDF-\0")
    assert (with_pdf.pdf_bytes, papers.pdf(with_pdf.id)) == (6, b"%PDF-\0")
    assert OwnPapers(open_store(store.path)).all() == (with_pdf, kept)


def test_names(store: Store) -> None:
    papers = OwnPapers(store)
    first, second = papers.save(paper()), papers.save(paper(""))
    assert first.name == "Tea"
    assert second.name == paper("").paper_id
    assert papers.all() == (second, first)
    assert papers.rename(first.id, " Other\u202e ").name == "Other"
    assert papers.set_hypothesis(first.id, " It helps. ").hypothesis == "It helps."
    with pytest.raises(PaperError, match="The name of the paper is empty"):
        papers.rename(first.id, " \n")


def test_removed_with_what_was_marked(store: Store) -> None:
    papers, annotations = OwnPapers(store), Annotations(store)
    gone, stays = papers.save(paper()), papers.save(paper())
    for kept in (gone, stays):
        annotations.save(kept.key, Annotation("Ada", "Tea helps.", 3).add_aspect("What was drunk"))
    papers.remove(gone.id)
    assert papers.all() == (stays,)
    assert annotations.papers() == (stays.key,)
    assert papers.save(paper()).id > stays.id  # so that nothing marked in one is ever found in another


@pytest.mark.parametrize("number", [1, -1, 10**18])
def test_papers_that_are_not_there(number: int, store: Store) -> None:
    papers = OwnPapers(store)
    for asked in (papers.get, papers.paper, papers.pdf, papers.remove, lambda n: papers.rename(n, "x")):
        with pytest.raises(UnknownNameError, match=f"Own paper {number} is not in the store"):
            asked(number)
