"""An annotated paper as an instance of the benchmark's format."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import KEYS, ingest, open_store, parse_instance
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import (
    Annotation,
    add_aspect,
    annotated_instance,
    mark,
    move,
    set_result,
)
from evidencebench_core.papers.blocks import Block, paper_of_blocks

PAPER = paper_of_blocks(
    [
        Block("abstract", "Tea is hot."),
        Block("heading", "Results"),
        Block("paragraph", "It cools. It was drunk. So be it."),
    ],
    title="Tea",
    left_out={},
    notes=[],
    kind="text",
    paper_id="pmc_1",
)
N = len(PAPER.sentences)  # 6: title, abstract, heading, three sentences


def annotation(covers: dict[str, list[int]], results: tuple[str, ...] = ()) -> Annotation:
    made = Annotation("Ada", "Tea helps.", N)
    for text, sentences in covers.items():
        made = add_aspect(made, text, text in results)
        made = mark(made, made.aspects[-1].id, sentences)
    return made


def test_every_key_by_hand() -> None:
    # Heat is covered by 1 and 3, use by 3 and 4, harm, the result, by 5: two sentences (3 and 5) cover all.
    raw = annotated_instance(
        PAPER, annotation({"heat": [3, 1], "use": [3, 4], "harm": [5]}, ("harm",)), "tea_1"
    )
    assert tuple(raw) == (*KEYS, "aspect_texts")
    ids = ["tea_1_aspect_0", "tea_1_aspect_1", "tea_1_aspect_2"]
    assert raw["hypothesis"] == "Tea helps."
    assert raw["paper_as_candidate_pool"] == list(PAPER.sentences)
    assert raw["sentence_types_in_candidate_pool"] == list(PAPER.sentence_types)
    assert raw["paper_id"] == "pmc_1"
    assert raw["aspect_list_ids"] == ids
    assert raw["results_aspect_list_ids"] == ids[2:]
    assert raw["aspect2sentence_indices"] == dict(zip(ids, [[1, 3], [3, 4], [5]], strict=True))
    assert raw["sentence_index2aspects"] == {
        "0": [], "1": ids[:1], "2": [], "3": ids[:2], "4": ids[1:2], "5": ids[2:],
    }  # fmt: skip
    assert raw["evidence_retrieval_at_optimal_evaluation"] == {
        "optimal": 2, "one_selection_of_sentences": [3, 5], "covered_aspects": ids,
    }  # fmt: skip
    assert set(raw["evidence_retrieval_at_10_evaluation"]["covered_aspects"]) == set(ids)
    assert raw["results_evidence_retrieval_at_optimal_evaluation"] == {
        "optimal": 1, "one_selection_of_sentences": [5], "covered_aspects": ids[2:],
    }  # fmt: skip
    assert raw["results_evidence_retrieval_at_5_evaluation"] == {
        "one_selection_of_sentences": [5], "covered_aspects": ids[2:],
    }  # fmt: skip
    assert raw["aspect_texts"] == dict(zip(ids, ["heat", "use", "harm"], strict=True))


def test_without_results_there_is_null() -> None:
    raw = annotated_instance(PAPER, annotation({"heat": [1]}), "tea_1")
    assert [key for key in KEYS if raw[key] is None] == [
        "results_aspect_list_ids",
        "results_evidence_retrieval_at_optimal_evaluation",
        "results_evidence_retrieval_at_5_evaluation",
    ]


def test_it_is_ingested_and_comes_back(tmp_path: Path) -> None:
    marked = annotation({"heat": [1, 3], "harm": [5]}, ("harm",))
    raw = annotated_instance(PAPER, marked, "tea_1")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"tea_1": raw}), encoding="utf-8")
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, path, "mine")
    assert store.raw("mine", "tea_1") == raw
    instance = store.get("mine", "tea_1")
    assert instance.sentences == PAPER.sentences
    assert [aspect.text for aspect in instance.evidence.aspects] == ["heat", "harm"]
    assert instance.evidence.optimal == marked.evidence().optimal == 2
    assert instance.evidence.results_optimal == marked.evidence().results_optimal == 1


def test_the_order_is_the_annotators() -> None:
    made = move(annotation({"heat": [1], "harm": [5]}), "aspect_1", 0)
    raw = annotated_instance(PAPER, made, "t")
    assert list(raw["aspect_texts"].values()) == ["harm", "heat"]
    assert raw["aspect2sentence_indices"]["t_aspect_0"] == [5]


def test_what_is_not_complete_is_named() -> None:
    with pytest.raises(
        PaperError, match="annotation of Ada: has aspects that no sentence covers: 'use', 'harm'"
    ):
        annotated_instance(PAPER, annotation({"heat": [1], "use": [], "harm": []}), "t")
    with pytest.raises(PaperError, match="has no aspects"):
        annotated_instance(PAPER, annotation({}), "t")
    with pytest.raises(PaperError, match="has no hypothesis"):
        annotated_instance(PAPER, Annotation("Ada", " ", N, annotation({"heat": [1]}).aspects, 1), "t")
    with pytest.raises(PaperError, match="was made on a paper of 7 sentences, and this one has 6"):
        annotated_instance(PAPER, Annotation("Ada", "Tea.", 7), "t")
    with pytest.raises(PaperError, match="instance id: is empty"):
        annotated_instance(PAPER, annotation({"heat": [1]}), " ")


@given(st.lists(st.tuples(st.sets(st.integers(0, N - 1), min_size=1), st.booleans()), min_size=1, max_size=7))
def test_any_complete_annotation_passes_every_check(marks: list[tuple[set[int], bool]]) -> None:
    made = annotation({f"aspect {number}": sorted(cover) for number, (cover, _) in enumerate(marks)})
    for number, (_, is_result) in enumerate(marks):
        made = set_result(made, f"aspect_{number}", is_result)
    raw = annotated_instance(PAPER, made, "t")
    instance = parse_instance("t", json.loads(json.dumps(raw)))
    assert instance.evidence.optimal == _smallest([cover for cover, _ in marks])


def _smallest(covers: list[set[int]]) -> int:
    """By trying all selections."""
    sizes = range(1, N + 1)
    return next(
        size
        for size in sizes
        for picks in combinations(range(N), size)
        if all(c & set(picks) for c in covers)
    )


@pytest.mark.realdata
def test_the_benchmarks_own_gold_gives_the_benchmarks_own_file(train_raw: dict[str, dict[str, Any]]) -> None:
    """Marked anew, an instance has the keys, the order and the optimal K of the released file."""
    for instance_id, raw in list(train_raw.items())[:20]:
        pool = len(raw["paper_as_candidate_pool"])
        made = Annotation("authors", raw["hypothesis"], pool)
        results = raw["results_aspect_list_ids"] or ()
        for aspect in raw["aspect_list_ids"]:
            made = add_aspect(made, aspect, aspect in results)
            made = mark(made, made.aspects[-1].id, raw["aspect2sentence_indices"][aspect])
        blank = paper_of_blocks([Block("paragraph", "x")], "", {}, [], "text", raw["paper_id"])
        paper = replace(
            blank,
            sentences=tuple(raw["paper_as_candidate_pool"]),
            sentence_types=tuple(raw["sentence_types_in_candidate_pool"]),
        )
        ours = annotated_instance(paper, made, instance_id)
        assert list(ours)[:12] == list(raw)[:12]
        assert ours["paper_as_candidate_pool"] == raw["paper_as_candidate_pool"]
        assert len(ours["results_aspect_list_ids"] or ()) == len(results)
        for key in (k for k in KEYS if k.endswith("evaluation") and raw[k]):
            assert list(ours[key]) == list(raw[key])
            assert ours[key].get("optimal") == raw[key].get("optimal")
            assert len(ours[key]["covered_aspects"]) == len(raw[key]["covered_aspects"])
