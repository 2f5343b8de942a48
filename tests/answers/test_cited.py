"""Short answers that cite a paper, against gold and a judge."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers.cited import CitedScore, cited_score, read_cited_answer
from evidencebench_core.metrics import aspect_recall

COVERS = tuple(map(frozenset, ({2, 5}, {5}, {7, 8}, {9})))
CITED = ((2, 5), (7, 3), (), (11,), (5,))
JUDGED: dict[tuple[int, int], Any] = {
    (0, 2): "supports", (0, 5): "neutral", (1, 7): "supports", (1, 3): "supports", (3, 11): "contradicts",
    (4, 5): "supports",
}  # fmt: skip


def test_the_figures_of_an_answer() -> None:
    score = cited_score(CITED, COVERS, 12, JUDGED)
    wanted = {
        "n_cited": 5, "n_pairs": 6, "n_answer": 5, "n_unjudged": 0, "cited_recall": 0.75, "grounded_recall": 0.75,
        "evidence_precision": 4 / 6, "chance": 5 / 12, "support_rate": 4 / 6, "contradict_rate": 1 / 6,
        "sound_precision": 0.5, "coverage": 0.8, "coverage_sound": 0.6, "ceiling": 1.0,
        "random_expectation": 0.549242,
    }  # fmt: skip
    assert {name: getattr(score, name) for name in wanted} == pytest.approx(wanted, abs=1e-6)
    without = cited_score(CITED[:4], COVERS, 12, JUDGED)
    assert (without.grounded_recall, without.cited_recall) == (0.5, 0.75)


def test_without_labels() -> None:
    none = cited_score(CITED, COVERS, 12)
    assert (none.cited_recall, none.support_rate, none.grounded_recall) == (0.75, None, None)
    failed = cited_score(CITED, COVERS, 12, {pair: one for pair, one in JUDGED.items() if pair != (0, 2)})
    assert (failed.support_rate, failed.n_unjudged) == (None, 1)
    unread = cited_score(CITED, COVERS, 12, JUDGED | {(0, 2): None})
    assert (unread.support_rate, unread.n_unjudged) == (0.5, 1)


def test_empty_answers_and_papers() -> None:
    empty = cited_score((), COVERS, 12, {})
    assert (empty.cited_recall, empty.grounded_recall, empty.evidence_precision) == (0, 0, None)
    nothing = cited_score(((1,),), (), 12, {(0, 1): "supports"})
    assert (nothing.cited_recall, nothing.evidence_precision, nothing.support_rate) == (None, 0.0, 1.0)


SENTENCES = st.integers(0, 9)
LABELS = st.sampled_from(["supports", "contradicts", "neutral", None])


@given(
    st.lists(st.lists(SENTENCES, max_size=3), max_size=4),
    st.lists(st.frozensets(SENTENCES, max_size=3), max_size=4),
    st.data(),
)
def test_what_is_a_part_of_what(
    cited: list[list[int]], covers: list[frozenset[int]], data: st.DataObject
) -> None:
    every = {(u, s): data.draw(LABELS) for u in range(len(cited)) for s in range(10)}
    score = cited_score(cited, covers, 10, every)  # type: ignore[arg-type]
    if covers:
        assert (score.grounded_recall or 0) <= (score.cited_recall or 0) <= (score.ceiling or 0) + 1e-12
        assert score.cited_recall == aspect_recall({s for one in cited for s in one}, covers)
    if score.evidence_precision is not None and score.support_rate is not None:
        assert (score.sound_precision or 0) <= min(score.evidence_precision, score.support_rate)
    for field in fields(CitedScore):
        value = getattr(score, field.name)
        assert value is None or field.name.startswith("n_") or 0 <= value <= 1


TEXT = """<think>ANSWER: no [1]</think>
**VERDICT:** Mixed
**ANSWER:** Drug A lowered pressure by 2.5 mmHg (95% CI [1.2, 3.4]) [2, 5-6]. [S7]
- It did nothing in women [sentence 3 and 99]
- Nobody asked why."""


def test_an_answer_is_read() -> None:
    read = read_cited_answer(TEXT, 12)
    assert (read.outcome, read.verdict, read.n_unknown) == ("answer", "mixed", 1)
    assert [one.text for one in read.sentences] == [
        "Drug A lowered pressure by 2.5 mmHg (95% CI [1.2, 3.4]).",
        "It did nothing in women",
        "Nobody asked why.",
    ]
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
