"""Why a sentence was picked, in words."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from components.paper.reasons import explanations
from evidencebench_core.retrievers import Retrieval


def retrieval(*selection: int, **details: str) -> Retrieval:
    return Retrieval(selection, tuple(1.0 for _ in selection), selection, details=MappingProxyType(details))


def test_reasons_come_from_a_ranker_from_a_model_or_under_why() -> None:
    numbers = {"score": 1.0, "place": 1, "gain": 0.1, "repeated": 0.0, "features": []}
    said, silent = {"groups": {"place": 1.0}}, {"groups": {}}
    ranker = json.dumps({"2": {**numbers, **said}, "3": {**numbers, **silent}})
    assert explanations(retrieval(2, 3, explanation=ranker)) == {2: "Stands where evidence often stands."}
    # a model's reasons stand in the order of its picks
    assert explanations(retrieval(5, 2, reasoning=json.dumps(["because", ""]))) == {5: "because"}
    assert explanations(retrieval(1, 2, why=json.dumps({"2": "a result", "x": "no index"}))) == {
        2: "a result"
    }


@pytest.mark.parametrize("text", ["", "no JSON", "[3]", "null"])
def test_other_details_are_none(text: str) -> None:
    assert explanations(retrieval(1, 2, why=text, explanation=text)) == {}
