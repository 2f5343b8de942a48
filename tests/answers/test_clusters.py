"""Clusters of a set's own sentences (spec rule 26, fault E5)."""

from __future__ import annotations

import numpy as np
import pytest

from evidencebench_core.answers import clusters as module
from evidencebench_core.answers.clusters import clusters_of
from evidencebench_core.answers.read import SAMPLE, answer_set, read_answers
from evidencebench_core.answers.systems import system_scores


def test_as_many_clusters_as_there_are_things_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def letters(_: str, texts: list[str]) -> tuple[np.ndarray, None]:
        return np.array(
            [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], float
        ), None

    monkeypatch.setattr("evidencebench_core.retrievers.encoding.embeddings", letters)
    lines = [("x", {"kind": "answer", "question_id": "q", "system": f"S{n}", "answer": "x", "sentences": [
        {"text": text, "relevance": relevance} for text, relevance in said
    ]}) for n, said in enumerate([
        [("Tea helps [1].", "required"), ("Tea is hot.", "borderline")],
        [("Tea helps [2].", "required"), ("Ask.", "unnecessary")],
        [(f"Fact {chr(97 + n) * n}.", "borderline") for n in range(1, 12)],
    ])]  # fmt: skip
    found = list(clusters_of(answer_set(lines)))
    assert [one["setting"] for one in found] == ["required", "required_and_borderline"]
    assert found[0]["clusters"] == {"0": ["S0-1", "S1-1"]}  # alike but for the citation
    assert len(found[1]["clusters"]) == module.MOST_CLUSTERS
    assert found == list(clusters_of(answer_set(lines)))  # seeded
    both = answer_set([*lines, *((f"c{n}", line) for n, line in enumerate(found))])
    assert system_scores(both).of("recall R (minilm)")[:, 0].tolist() == [1, 1, 0]


@pytest.mark.model
def test_the_sample_set_is_clustered_by_what_is_said() -> None:
    answers = answer_set(read_answers([SAMPLE]))
    found = {(one["question_id"], one["setting"]): one for one in clusters_of(answers)}
    assert len(found) == 18
    members = [one for ids in found["ankle", "required"]["clusters"].values() for one in ids]
    assert sorted(members) == ["Cuckoo-2", "Heron-1", "Heron-2", "Magpie-1"]
