"""Gold marked by hand: each edit gives a new annotation, none leaves it broken, a complete one is an instance."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from evidencebench_core.annotation.model import Annotation, MarkedAspect, annotated_instance
from evidencebench_core.data import KEYS, released_record
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, RawPaper, paper_of_blocks
from tests.annotation.test_differences import annotation

EMPTY = Annotation("Ada", "Tea helps.", 10)


def two() -> Annotation:
    """Two aspects: the first covered by 3 and 5, the second, a result, by nothing."""
    annotation = EMPTY.add_aspect(" What was\n drunk ").add_aspect("What came of it", is_result=True)
    return annotation.mark("aspect_0", [5, 3])


def test_each_edit() -> None:
    first, second = two().aspects
    assert first == MarkedAspect("aspect_0", "What was drunk", False, (3, 5))
    assert second == MarkedAspect("aspect_1", "What came of it", True)
    assert two().uncovered == (second,)
    assert two().mark("aspect_0", [0, 5]).aspect("aspect_0").sentences == (0, 3, 5)
    assert two().unmark("aspect_0", [3, 9]).aspect("aspect_0").sentences == (5,)
    assert two().rename_aspect("aspect_1", "Harm").aspect("aspect_1").text == "Harm"
    assert two().set_result("aspect_1", False).aspect("aspect_1").is_result is False
    assert two().set_hypothesis(" It harms. ").hypothesis == "It harms."
    again = two().remove_aspect("aspect_1").add_aspect("New")
    assert [a.id for a in again.aspects] == ["aspect_0", "aspect_2"]  # an id is never used again


@pytest.mark.parametrize(
    "edit",
    [
        *(lambda i=i: two().mark("aspect_0", [i]) for i in (-1, 10, True, "3", 2.0)),
        lambda: two().mark("x", [1]),
        lambda: EMPTY.remove_aspect("aspect_0"),
        lambda: EMPTY.add_aspect(" \u200b"),
        lambda: two().rename_aspect("aspect_1", "x" * 2001),
    ],
)
def test_edits_that_cannot_be(edit: Callable[[], Annotation]) -> None:
    with pytest.raises(PaperError):
        edit()


def test_the_gold_so_far_and_its_json() -> None:
    evidence = two().evidence()
    assert [(a.id, a.sentence_indices, a.is_result, a.label, a.text) for a in evidence.aspects] == [
        ("aspect_0", (3, 5), False, "A1", "What was drunk"),
        ("aspect_1", (), True, "A2", "What came of it"),
    ]
    assert (evidence.n_sentences, evidence.optimal, evidence.results_optimal) == (10, 1, 0)
    raw = json.loads(json.dumps(two().as_dict()))
    assert Annotation.from_dict(raw) == two()


TEXT = Block("paragraph", "It cools. It was drunk. So be it.")
BLOCKS = [Block("abstract", "Tea is hot."), Block("heading", "Results"), TEXT]
PAPER = paper_of_blocks(RawPaper(BLOCKS, "Tea", paper_id="pmc_1"), "text")
N = len(PAPER.sentences)  # 6: title, abstract, heading, three sentences
HEAT = annotation("Ada", {"heat": (1,)}, n_sentences=N)


def test_the_instance_by_hand() -> None:
    # Heat is covered by 1 and 3, use by 3 and 4, harm, the result, by 5: two sentences (3 and 5) cover all.
    marked = annotation("Ada", {"heat": (3, 1), "use": (3, 4), "harm": (5,)}, ("harm",), N)
    raw = released_record(annotated_instance(PAPER, marked, "tea_1"))
    assert tuple(raw) == (*KEYS, "aspect_texts")
    ids = ["tea_1_aspect_0", "tea_1_aspect_1", "tea_1_aspect_2"]
    assert (raw["hypothesis"], raw["paper_id"]) == ("Tea helps.", "pmc_1")
    assert raw["paper_as_candidate_pool"] == list(PAPER.sentences)
    assert (raw["aspect_list_ids"], raw["results_aspect_list_ids"]) == (ids, ids[2:])
    assert raw["aspect2sentence_indices"] == dict(zip(ids, [[1, 3], [3, 4], [5]], strict=True))
    best = {"optimal": 2, "one_selection_of_sentences": [3, 5], "covered_aspects": ids}
    assert raw["evidence_retrieval_at_optimal_evaluation"] == best
    assert raw["aspect_texts"] == dict(zip(ids, ["heat", "use", "harm"], strict=True))


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (annotation("Ada", {"heat": (1,), "use": (), "harm": ()}, n_sentences=N), "'use', 'harm'"),
        (annotation("Ada", {}, n_sentences=N), "no aspects"),
        (replace(HEAT, hypothesis=" "), "no hypothesis"),
        (Annotation("Ada", "Tea.", 7), "7 sentences"),
    ],
)
def test_what_is_not_complete_is_named(made: Annotation, problem: str) -> None:
    with pytest.raises(PaperError, match=problem):
        annotated_instance(PAPER, made, "t")
