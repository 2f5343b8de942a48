"""Papers with all their hypotheses."""

from pathlib import Path

from evidencebench_core.data.texts import paper_texts
from tests.factories import raw_instance, store_with, tiny_dataset


def test_a_shared_paper_comes_once_with_both_hypotheses(tmp_path: Path) -> None:
    dataset = {
        "a": raw_instance(5, {"x": [4]}, hypothesis="One."),
        "b": raw_instance(5, {"y": [3]}, hypothesis="Two."),
        "c": raw_instance(6, {"y": [3]}, hypothesis="Three."),
    }
    store = store_with(dataset, tmp_path, "d")
    papers = {frozenset(paper.hypotheses): paper for paper in paper_texts(store, "d")}
    assert set(papers) == {frozenset("ab"), frozenset("c")}
    shared = papers[frozenset("ab")]
    assert shared.hypotheses == {"a": "One.", "b": "Two."}
    assert shared.sentences == list(store.get("d", "a").sentences)
    assert shared.types == list(store.get("d", "a").sentence_types)
    only = list(paper_texts(store, "d", {"b", "nobody"}))
    assert [paper.hypotheses for paper in only] == [{"b": "Two."}]


def test_more_papers_than_a_batch(tmp_path: Path) -> None:
    raw = tiny_dataset()["tiny_0"]
    dataset = {
        f"i{n}": {**raw, "paper_as_candidate_pool": [*raw["paper_as_candidate_pool"][:-1], f"End {n}."]}
        for n in range(130)
    }
    store = store_with(dataset, tmp_path, "d")
    ends = {next(iter(paper.hypotheses)): paper.sentences[-1] for paper in paper_texts(store, "d")}
    assert ends == {f"i{n}": f"End {n}." for n in range(130)}
