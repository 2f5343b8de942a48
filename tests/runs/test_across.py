"""One question over several papers: what they are compared by, and in which order they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Instance
from evidencebench_core.errors import PaperError
from evidencebench_core.papers import read_paper
from evidencebench_core.retrievers import make_retriever, query_of
from evidencebench_core.runs import (
    MOST_PAPERS,
    PaperPicks,
    drive,
    find_across,
    measure_of,
    measure_text,
    paper_files,
    picks_across,
)

TEA = "Green tea lowers blood pressure."
TEXTS = {
    "cats": "Cats sleep all day. Dogs bark at green doors.",
    "tea": "Tea was given twice. Green tea lowers blood pressure by five units. Nobody left.",
    "again": "Tea was given twice. Green tea lowers blood pressure by five units. Nobody left.",
    "pressure": "Blood pressure was measured. The room was warm.",
}


def papers(**texts: str) -> dict[str, Instance]:
    return {
        key: read_paper(text.encode(), f"{key}.txt").instance("Another one.") for key, text in texts.items()
    }


def found(retriever: str, budget: int = 2, **texts: str) -> tuple[PaperPicks, ...]:
    return drive(picks_across(papers(**texts), TEA, make_retriever(retriever), budget), lambda step: None)


def test_bm25_counts_words_over_all_papers() -> None:
    """The scores are those of one corpus of all sentences; the picks those of each paper on its own."""
    picked = found("bm25", **TEXTS)
    assert [one.key for one in picked] == ["tea", "again", "pressure", "cats"]  # equal ones as given
    every = papers(**TEXTS)
    sentences = tuple(text for one in every.values() for text in one.sentences)
    pool = read_paper(" ".join(sentences).encode()).instance(TEA)
    assert pool.sentences == sentences
    together = make_retriever("bm25").retrieve(query_of(pool, "all", 1))
    scores = dict(zip(together.ranking, together.scores, strict=True))
    start = 0
    for key, instance in every.items():
        (one,) = (one for one in picked if one.key == key)
        alone = make_retriever("bm25").retrieve(query_of(instance, "all", 2, TEA))
        assert one.retrieval.selection == alone.selection
        assert one.compared == tuple(scores[start + index] for index in alone.selection)
        start += len(instance.sentences)


@pytest.mark.parametrize("retriever", ["dense", "lead", "structure"])
def test_others_are_compared_by_cosine(retriever: str) -> None:
    for one in found(retriever, **TEXTS):
        dense = make_retriever("dense").retrieve(query_of(one.instance, "all", 2, TEA))
        cosines = dict(zip(dense.ranking, dense.scores, strict=True))
        assert one.compared == pytest.approx([cosines[index] for index in one.retrieval.selection], abs=1e-5)
    best = [one.best for one in found(retriever, **TEXTS)]
    assert best == sorted(best, reverse=True)  # type: ignore[type-var]


def test_what_papers_are_compared_by_is_said() -> None:
    assert (measure_of("bm25"), measure_of("dense"), measure_of("hybrid")) == ("bm25", "cosine", "cosine")
    assert "counted over the sentences of all these papers together" in measure_text("bm25")
    assert "(cosine of embeddings)" in measure_text("embeddings")
    assert "scores of hybrid from different papers cannot be compared" in measure_text("hybrid")


def test_papers_without_a_pick_come_last_and_no_paper_is_no_trouble() -> None:
    picked = found("bm25", 0, **TEXTS)
    assert [(one.key, one.best, one.compared) for one in picked] == [(key, None, ()) for key in TEXTS]
    assert found("bm25") == ()
    assert found("lead", 0, tea=TEXTS["tea"])[0].compared == ()


def test_files_that_cannot_be_read_are_named_and_the_others_searched(tmp_path: Path) -> None:
    names = ("b.txt", "a.MD", "broken.pdf", ".hidden.txt", "picture.png", "deep/c.txt")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"%PDF-1.4 nothing" if name.endswith("pdf") else TEXTS["tea"].encode())
    files = paper_files(tmp_path)
    assert [str(Path(file).relative_to(tmp_path)) for file in files] == [
        "a.MD",
        "b.txt",
        "broken.pdf",
        "deep/c.txt",
    ]
    bm25 = make_retriever("bm25")
    across = drive(find_across(files, TEA, bm25, 1), lambda step: None)
    assert [one.key for one in across.picks] == [files[0], files[1], files[3]]
    (problem,) = across.problems
    assert problem.startswith("'broken.pdf': cannot be read as PDF")
    with pytest.raises(PaperError, match=r"1 paper: could not be read. The first: 'broken\.pdf': cannot be"):
        drive(find_across(files[2:3], TEA, bm25), lambda step: None)


def test_a_folder_without_papers_and_one_with_too_many_say_so(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match="has 0 papers"):
        paper_files(tmp_path)
    for number in range(MOST_PAPERS + 1):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(PaperError, match="has more than 100 papers"):
        paper_files(tmp_path)
