"""Picks in a reader's own paper: beyond the abstract, as passages, and nothing where nothing is close."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Float, find
from evidencebench_core.papers.blocks import Block, RawPaper, paper_of_blocks
from evidencebench_core.retrievers import Retrieval, make_retriever

N_ABSTRACT, N_BODY = 6, 12
BLOCKS = [
    Block("abstract", "This is a sentence. " * N_ABSTRACT),
    Block("heading", "Results"),
    Block("paragraph", "It is another. " * N_BODY),
]
PAPER = paper_of_blocks(RawPaper(BLOCKS, "Tea"), "text")
N = len(PAPER.sentences)


@given(st.permutations(range(N)), st.integers(1, 30))
def test_the_abstract_comes_first_is_not_all_and_has_no_heading(ranking: list[int], budget: int) -> None:
    picks = find.picks_in(PAPER, ranking, budget, "all")
    kinds = [PAPER.sentence_types[index] for index in picks]
    n_abstract = min(find.MAX_FROM_ABSTRACT, budget // 2)
    assert kinds[:n_abstract] == ["abstract"] * n_abstract
    assert "section_name" not in kinds
    assert len(picks) == min(budget, N_BODY + n_abstract)
    for group in (picks[:n_abstract], picks[n_abstract:]):
        assert list(group) == [index for index in ranking if index in group]


def test_the_conclusion_of_the_abstract_is_never_hidden() -> None:
    ranking = [index for index in range(N) if index != N_ABSTRACT] + [N_ABSTRACT]  # it is ranked last
    assert N_ABSTRACT in find.picks_in(PAPER, ranking, 10)[: find.MAX_FROM_ABSTRACT]
    texts = list(PAPER.sentences)
    texts[N_ABSTRACT] = "The trial was registered as NCT0001."
    assert N_ABSTRACT not in find.picks_in(replace(PAPER, sentences=tuple(texts)), ranking, 10)


def test_what_is_not_this_studys_finding_stands_behind() -> None:
    sentences = {
        "Introduction": ("Tea is drunk.",),
        "Methods": ("We gave them tea.",),
        "Results": ("Tea helped (12, 13).", "P < 0.05 was considered to be significant."),
        "Discussion": ("Tea helped in Oslo [3].", "As in Oslo [3], our tea helped.", "Tea is hot."),
    }
    texts = tuple(text for name, body in sentences.items() for text in (name, *body))
    kinds = tuple("section_name" if text in sentences else "normal_paragraph" for text in texts)
    paper = replace(PAPER, sentences=texts, sentence_types=kinds)  # type: ignore[arg-type]
    order = [texts[index] for index in find.picks_in(paper, range(len(texts)), 9)]
    assert order[:3] == ["Tea helped (12, 13).", "As in Oslo [3], our tea helped.", "Tea is hot."]
    others = [sentences["Results"][1], sentences["Discussion"][0]]
    assert order[3:] == ["Tea is drunk.", "We gave them tea.", *others]
    assert texts[find.picks_in(paper, range(len(texts)), 1, "all")[0]] == "We gave them tea."


def passages_of(*picks: int) -> tuple[find.Passage, ...]:
    retriever = make_retriever("lead")
    read = find.ReadPaper(PAPER, "", "")
    return find.Findings(read, "Tea.", retriever, Retrieval((), ()), picks, None).passages


def test_neighbours_are_one_passage_by_hand() -> None:
    passages = passages_of(18, 12, 10, 8, 3)
    assert [(passage.number, passage.sentences, passage.picks) for passage in passages] == [
        (1, (3,), (3,)), (2, (18,), (18,)), (3, (8, 9, 10, 11, 12), (8, 10, 12)),
    ]  # fmt: skip
    assert [passage.is_abstract for passage in passages] == [True, False, False]
    assert len(passages_of(6, 8)) == 2  # another section begins between them


def test_a_sentence_brings_the_tables_and_figures_that_it_points_at() -> None:
    labels = ("Table 1", "Table 2", "Fig. 2", "Figure 12", "Table S1", "Box")
    sentences = ("Tables 1 and 3 say so (figure 12A, tab. s1).", "Nothing here (1).", "See Fig 2.")
    paper = replace(PAPER, sentences=sentences, floats=tuple(Float(label, "") for label in labels))
    cited = [[item.label for item in find.floats_cited(paper, [index])] for index in range(3)]
    assert cited == [["Table 1", "Figure 12", "Table S1"], [], ["Fig. 2"]]


TEXT = b"Night work\n\nAbstract\nNurses were followed.\n\nResults\nNight work raised the risk of diabetes. Tea is hot."


@pytest.mark.slow
def test_a_file_is_read_and_searched(tmp_path: Path) -> None:
    file = tmp_path / "night.txt"
    file.write_bytes(TEXT)
    hypothesis = "Night work increases the risk of diabetes."
    found = find.findings_in(find.paper_at(str(file)), hypothesis, make_retriever("bm25"), 2)
    assert found.read.paper.sentences[found.picks[0]] == "Night work raised the risk of diabetes."
    assert found.is_close
    far = find.findings_in(found.read, "Quantum computers factor integers.", make_retriever("dense"), 2)
    assert not far.is_close
    assert far.picks


def test_a_folder_stands_for_its_papers_and_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    (tmp_path / "b.pdf").write_bytes(b"no PDF at all \x00\x01\x02\x03\x04\x05")
    (tmp_path / ".hidden.txt").write_bytes(TEXT)
    (tmp_path / "page_files").mkdir()
    (tmp_path / "page_files" / "frame.txt").write_bytes(TEXT)
    read, problems = find.papers_at([str(tmp_path)])
    assert [Path(where).name for where in read] == ["a.txt"]
    assert len(problems) == 1
    with pytest.raises(PaperError):
        find.papers_at([str(tmp_path / "b.pdf")])
    with pytest.raises(PaperError):
        find.papers_at([str(tmp_path / "nothing")])
