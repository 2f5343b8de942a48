"""Short answers that cite a paper, against gold and a judge."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers.cited import cited_figures, read_cited_answer
from evidencebench_core.metrics import aspect_recall

COVERS = tuple(map(frozenset, ({2, 5}, {5}, {7, 8}, {9})))
CITED = ((2, 5), (7, 3), (), (11,), (5,))
JUDGED: dict[tuple[int, int], Any] = {
    (0, 2): "supports", (0, 5): "neutral", (1, 7): "supports", (1, 3): "supports", (3, 11): "contradicts",
    (4, 5): "supports",
}  # fmt: skip


def test_the_figures_of_an_answer() -> None:
    score = cited_figures(CITED, COVERS, 12, JUDGED)
    wanted = {
        "cited_recall": 0.75, "grounded_recall": 0.75, "evidence_precision": 4 / 6, "chance": 5 / 12,
        "support_rate": 4 / 6, "contradict_rate": 1 / 6, "coverage": 0.8, "ceiling": 1.0,
        "random_expectation": 0.549242,
    }  # fmt: skip
    assert score == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("cited", "covers", "judged", "wanted"),
    [
        (CITED[:4], COVERS, JUDGED, {"grounded_recall": 0.5, "cited_recall": 0.75}),
        (CITED, COVERS, None, {"cited_recall": 0.75, "support_rate": None, "grounded_recall": None}),
        (CITED, COVERS, dict(list(JUDGED.items())[1:]), {"support_rate": None}),
        (CITED, COVERS, JUDGED | {(0, 2): None}, {"support_rate": 0.5}),
        ((), COVERS, {}, {"cited_recall": 0, "grounded_recall": 0, "evidence_precision": None, "chance": None}),
        (((1,),), (), {(0, 1): "supports"}, {"cited_recall": None, "evidence_precision": 0, "support_rate": 1}),
    ],
)  # fmt: skip
def test_what_is_undefined(cited: Any, covers: Any, judged: Any, wanted: dict[str, Any]) -> None:
    figures = cited_figures(cited, covers, 12, judged)
    assert {name: figures.get(name) for name in wanted} == wanted


INDICES = st.integers(0, 9)
CITATIONS = st.lists(st.lists(INDICES, max_size=3), max_size=4)
GOLD = st.lists(st.frozensets(INDICES, max_size=3), min_size=1, max_size=4)


@given(CITATIONS, GOLD, st.data())
def test_bounds_of_figures(cited: list[list[int]], covers: list[frozenset[int]], data: st.DataObject) -> None:
    labels = st.sampled_from(["supports", "contradicts", "neutral", None])
    judged = {(u, s): data.draw(labels) for u in range(len(cited)) for s in range(10)}
    score = cited_figures(cited, covers, 10, judged)
    assert all(value is None or 0 <= value <= 1 for value in score.values())
    recalls = [score[name] or 0 for name in ("grounded_recall", "cited_recall", "ceiling")]
    assert recalls == pytest.approx(sorted(recalls))
    assert score["cited_recall"] == aspect_recall({s for indices in cited for s in indices}, covers)


TEXT = """<think>ANSWER: no [1]</think>
**VERDICT:** Mixed
**ANSWER:** Drug A lowered pressure by 2.5 mmHg (95% CI [1.2, 3.4]) [2, 5-6]. [S7]
- It did nothing in women [sentence 3 and 99]
- Nobody asked why."""


def test_an_answer_is_read() -> None:
    read = read_cited_answer(TEXT, 12)
    assert (read.outcome, read.verdict, read.sentences[1].n_unknown) == ("answer", "mixed", 1)
    first, second, third = (sentence.text for sentence in read.sentences)
    assert first == "Drug A lowered pressure by 2.5 mmHg (95% CI [1.2, 3.4])."
    assert (second, third) == ("It did nothing in women", "Nobody asked why.")
    assert read.cited == ((2, 5, 6, 7), (3,), ())
    assert read.selection == (2, 5, 6, 7, 3)


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome"),
    [
        ("VERDICT: cannot tell\nANSWER: Nothing in the paper.", "stop", "empty"),
        ("VERDICT: cannot tell\nANSWER:", "stop", "empty"),
        ("It lowers it [3].", "stop", "no_list"),
        ('Sentence 4 says "ANSWER: it lowers it [3]".', "stop", "no_list"),
        ("I'm sorry, I cannot help with that.", "stop", "refusal"),
        ("", "content_filter", "refusal"),
        ("<think>Well", "length", "cut_off"),
        ("ANSWER: It lowers it [3]. And", "length", "cut_off"),
        ("ANSWER: None", "stop", "empty"),
        ("ANSWER: Nothing was lowered, as group A shows [3].", "stop", "answer"),
        ("ANSWER: None of the patients in the treatment group relapsed within two years.", "stop", "answer"),
        ("ANSWER: No evidence of benefit was found in 412 patients.", "stop", "answer"),
    ],
)
def test_outcomes(text: str, finish_reason: str, outcome: str) -> None:
    assert read_cited_answer(text, 12, finish_reason=finish_reason).outcome == outcome
